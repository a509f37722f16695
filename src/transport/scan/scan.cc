// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/scan.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "transport/quality.h"
#include "transport/scan/lanes.h"
#include "transport/scan/scan_journal.h"

namespace assay::transport {
namespace {

// The cases that must be solved, and which of them each given case is.
struct Unique {
  std::vector<Case> cases;
  std::vector<std::size_t> of_given;
};

Unique unique_cases(const Prepared& prepared, std::span<const Case> given) {
  Unique u;
  std::map<std::pair<double, double>, std::size_t> seen;
  for (const auto& c : given) {
    const double field = prepared.geometry().cosine_only ? std::abs(c.epsi_hat) : c.epsi_hat;
    const auto [it, fresh] = seen.emplace(std::pair(c.nu_hat, field), u.cases.size());
    if (fresh) u.cases.push_back({c.nu_hat, field});
    u.of_given.push_back(it->second);
  }
  return u;
}

}  // namespace

std::vector<Case> case_grid(std::span<const double> nu_hat, std::span<const double> epsi_hat) {
  std::vector<Case> cases;
  for (const double nu : nu_hat) {
    for (const double field : epsi_hat) cases.push_back({nu, field});
  }
  return cases;
}

void solve_on_threads(const Prepared& prepared, std::span<const Case> cases,
                      const ScanOptions& options, const OnSolved& on_solved) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr error;
  std::mutex results, error_mutex;
  const auto lane = [&] {
    try {
      Workspace workspace;
      for (std::size_t i; (i = next++) < cases.size();) {
        if (options.interrupt != nullptr && options.interrupt->load()) break;
        auto solution =
            solve(prepared, cases[i],
                  {.method = options.method, .whole_system = options.whole_system}, workspace);
        const std::scoped_lock lock(results);
        on_solved(i, std::move(solution));
      }
    } catch (...) {
      next = cases.size();  // the other lanes stop after the case they are at
      const std::scoped_lock lock(error_mutex);
      if (!error) error = std::current_exception();
    }
  };
  run_lanes(std::min(static_cast<std::size_t>(options.threads), cases.size()), lane);
  if (error) std::rethrow_exception(error);
}

ScanResult keep_cases(const Prepared& prepared, std::span<const Case> cases,
                      const ScanOptions& options,
                      const std::function<Json(std::span<const Case>)>& settings,
                      const OpenSolver& solver) {
  if (options.threads < 1) fail("threads must be at least 1, got {}", options.threads);
  if (options.batch < 1) fail("batch must be at least 1, got {}", options.batch);
  for (const auto& c : cases) check_case(prepared, c, options.method);

  const Unique unique = unique_cases(prepared, cases);
  Solved solved(unique.cases.size());
  std::optional<ScanJournal> journal;
  ScanResult result;
  if (!options.journal.empty()) {
    journal.emplace(options.journal, settings(unique.cases));
    for (auto& [index, solution] : journal->take_finished()) {
      if (index < solved.size()) solved[index] = std::move(solution);
    }
  }
  result.resumed = static_cast<std::size_t>(
      std::ranges::count_if(solved, [](const auto& s) { return s.has_value(); }));
  if (result.resumed < solved.size()) {
    solver(unique.cases, solved, [&](std::size_t i, Solution solution) {
      if (journal) journal->append(i, solution);
      solved[i] = std::move(solution);
      ++result.solved;
      if (options.on_progress) options.on_progress(result.resumed + result.solved, solved.size());
    });
  }
  if (journal) journal->sync();
  result.complete = result.resumed + result.solved == solved.size();

  result.mirrored = cases.size() - unique.cases.size();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& solution = solved[unique.of_given[i]];
    result.solutions.push_back(solution.value_or(Solution{}));
    result.solutions.back().at = cases[i];
  }
  return result;
}

ScanResult solve_scan(const Prepared& prepared, std::span<const Case> cases,
                      const ScanOptions& options, const CaseSolver& solver) {
  const auto settings = [&](std::span<const Case> unique) {
    auto json = scan_settings(prepared, unique, options.method);
    if (!options.device.empty()) json["device"] = options.device;
    return json;
  };
  const auto open_solver = [&](std::span<const Case> unique, const Solved& solved,
                               const OnSolved& on_solved) {
    std::vector<std::size_t> open;
    std::vector<Case> open_cases;
    for (std::size_t i = 0; i < unique.size(); ++i) {
      if (solved[i]) continue;
      open.push_back(i);
      open_cases.push_back(unique[i]);
    }
    solver(open_cases,
           [&](std::size_t i, Solution solution) { on_solved(open[i], std::move(solution)); });
  };
  return keep_cases(prepared, cases, options, settings, open_solver);
}

ScanResult solve_scan(const Prepared& prepared, std::span<const Case> cases,
                      const ScanOptions& options) {
  return solve_scan(prepared, cases, options,
                    [&](std::span<const Case> open, const OnSolved& on_solved) {
                      solve_on_threads(prepared, open, options, on_solved);
                    });
}

namespace {

Json quality_to_json(const Solution& s) {
  const auto& q = s.quality;
  if (!q.whole) return {{"whole_system", false}};
  const auto digits = correct_digits(s);
  return {
      {"whole_system", true},
      {"residual", number_to_json(q.residual)},
      {"digits", {{"D11", digits[0]}, {"D31", digits[1]}, {"D13", digits[2]}, {"D33", digits[3]}}},
      {"errors",
       {{"D11", number_to_json(q.error.d11)},
        {"D31", number_to_json(q.error.d31)},
        {"D13", number_to_json(q.error.d13)},
        {"D33", number_to_json(q.error.d33)}}},
      {"legendre_share", number_to_json(q.legendre_share)},
      {"theta_share", number_to_json(q.theta_share)},
      {"zeta_share", number_to_json(q.zeta_share)},
      {"corrections", q.corrections}};
}

Quality quality_from_json(const Json& json, std::string_view what) {
  Quality q;
  q.whole = json_field<bool>(json, "whole_system", what);
  if (!q.whole) return q;
  const auto number = [&](const Json& object, std::string_view key) {
    return number_from_json(json_field<Json>(object, key, what), what);
  };
  const auto errors = json_field<Json>(json, "errors", what);
  q.error = {number(errors, "D11"), number(errors, "D31"), number(errors, "D13"),
             number(errors, "D33")};
  q.residual = number(json, "residual");
  q.legendre_share = number(json, "legendre_share");
  q.theta_share = number(json, "theta_share");
  q.zeta_share = number(json, "zeta_share");
  q.corrections = static_cast<int>(json_field<std::int64_t>(json, "corrections", what));
  return q;
}

Json resolution_to_json(const Resolution& r) {
  return {{"n_theta", r.grid.n_theta},
          {"n_zeta", r.grid.n_zeta},
          {"n_xi", r.grid.n_xi},
          {"relative_errors",
           {{"D11", number_to_json(r.error.d11)},
            {"D31", number_to_json(r.error.d31)},
            {"D13", number_to_json(r.error.d13)},
            {"D33", number_to_json(r.error.d33)}}},
          {"reached", r.reached},
          {"solves", r.solves},
          {"flops", r.flops}};
}

Resolution resolution_from_json(const Json& json, std::string_view what) {
  const auto whole = [&](std::string_view key) {
    return static_cast<int>(json_field<std::int64_t>(json, key, what));
  };
  const auto errors = json_field<Json>(json, "relative_errors", what);
  const auto error = [&](std::string_view key) {
    return number_from_json(json_field<Json>(errors, key, what), what);
  };
  return {{whole("n_theta"), whole("n_zeta"), whole("n_xi")},
          {error("D11"), error("D31"), error("D13"), error("D33")},
          json_field<bool>(json, "reached", what),
          whole("solves"),
          json_field<double>(json, "flops", what)};
}

}  // namespace

Json solution_to_json(const Solution& s) {
  Json json = {{"nu_hat", s.at.nu_hat},
               {"epsi_hat", s.at.epsi_hat},
               {"coefficients",
                {{"D11", s.d.d11},
                 {"D31", s.d.d31},
                 {"D13", s.d.d13},
                 {"D33", s.d.d33},
                 {"D33_spitzer", s.d.d33_spitzer}}},
               {"residual", s.residual},
               {"quality", quality_to_json(s)},
               {"onsager", s.onsager},
               {"method", name_of(s.method)},
               {"sweeps", s.sweeps},
               {"warnings", s.warnings},
               {"notes", s.notes}};
  if (s.resolution) json["resolution"] = resolution_to_json(*s.resolution);
  return json;
}

Solution solution_from_json(const Json& json, std::string_view what) {
  const auto number = [&](const Json& object, std::string_view key) {
    return json_field<double>(object, key, what);
  };
  Solution s;
  s.at = {number(json, "nu_hat"), number(json, "epsi_hat")};
  const auto d = json_field<Json>(json, "coefficients", what);
  s.d = {number(d, "D11"), number(d, "D31"), number(d, "D13"), number(d, "D33"),
         number(d, "D33_spitzer")};
  s.residual = number(json, "residual");
  s.onsager = number(json, "onsager");
  s.method = method_from_name(json_field<std::string>(json, "method", what));
  s.sweeps = static_cast<int>(json_field<std::int64_t>(json, "sweeps", what));
  s.quality = quality_from_json(json_field<Json>(json, "quality", what), what);
  const auto texts = [&](std::string_view key) {
    const auto list = json_field<Json>(json, key, what);
    if (!list.is_array()) fail("{}: {} must be a list", what, key);
    std::vector<std::string> found;
    for (const auto& w : list) {
      if (!w.is_string()) fail("{}: {} must be texts", what, key);
      found.push_back(w.get<std::string>());
    }
    return found;
  };
  s.warnings = texts("warnings");
  s.notes = texts("notes");
  if (json.contains("resolution")) {
    s.resolution = resolution_from_json(json_field<Json>(json, "resolution", what), what);
  }
  return s;
}

}  // namespace assay::transport
