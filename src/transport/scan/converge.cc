// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/converge.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "base/names.h"
#include "base/resident_memory.h"
#include "transport/memory.h"
#include "transport/scan/rungs.h"

namespace assay::transport {
namespace {

constexpr int kMaxRounds = 12;

// The largest of D11, D31 and D33; D13 follows D31.
double change(const Coefficients& a, const Coefficients& b) {
  const auto changes = relative_changes(a, b);
  return std::max({changes[0], changes[1], changes[3]});
}

class Ladder {
 public:
  Ladder(const Surface& surface, const Case& at, const ConvergeOptions& options)
      : surface_(surface), at_(at), options_(options) {}

  // Solves on a grid. Nothing: a limit or a rational surface is in the way, and `obstacle` says so.
  std::optional<Solution> solve_on(const Grid& grid, std::string raised, const Solution* from) {
    if (!within_limits(grid)) return std::nullopt;
    const auto begin = monotonic_ns();
    const auto prepared =
        prepare(surface_, grid, {.adjoint_consistent = options_.adjoint_consistent});
    auto solution =
        solve(prepared, at_, {.method = options_.method, .whole_system = whole_fits(grid)});
    const double difference = from == nullptr ? 0 : change(from->d, solution.d);
    result.ladder.push_back({grid, std::move(raised), solution.d, difference,
                             1e-9 * static_cast<double>(monotonic_ns() - begin)});
    if (options_.on_step) options_.on_step(result.ladder.back());
    if (prepared.is_zero_field(at_.epsi_hat) && !prepared.rational_warning().empty()) {
      outcome = Convergence::kOutOfScope;
      obstacle = prepared.rational_warning();
      accept(grid, solution);
      return std::nullopt;
    }
    return solution;
  }

  void accept(const Grid& grid, Solution solution) {
    result.grid = grid;
    result.solution = std::move(solution);
  }
  double last_change() const { return result.ladder.back().change; }

  ConvergeResult result;
  Convergence outcome = Convergence::kUnresolved;
  std::string obstacle;

 private:
  double bytes(const Grid& grid, bool whole) const {
    const bool parity = at_.epsi_hat == 0 && surface_.cosine_only();
    return prepare_bytes(grid) + lane_bytes(grid, options_.method, parity, whole);
  }
  bool whole_fits(const Grid& grid) const { return bytes(grid, true) <= available_bytes(); }
  bool within_limits(const Grid& g) {
    obstacle =
        obstacle_of(g, {options_.max_points, options_.max_xi}, bytes(g, false), available_bytes());
    return obstacle.empty();
  }

  const Surface& surface_;
  const Case& at_;
  const ConvergeOptions& options_;
};

}  // namespace

constexpr auto kConvergenceNames =
    make_names<Convergence>({{Convergence::kConverged, "converged"},
                             {Convergence::kUnresolved, "unresolved"},
                             {Convergence::kOutOfScope, "out of scope"}});

std::string_view name_of(Convergence convergence) { return kConvergenceNames[convergence]; }

ConvergeResult converge(const Surface& surface, const Case& at, const ConvergeOptions& options) {
  if (!(options.tolerance > 0)) fail("tolerance must be positive, got {}", options.tolerance);
  Ladder ladder(surface, at, options);
  auto& result = ladder.result;
  const auto ended = [&](Convergence outcome, std::string reason) {
    result.outcome = outcome;
    result.reason = std::move(reason);
    return result;
  };
  const auto stopped = [&] { return ended(ladder.outcome, ladder.obstacle); };
  auto first = ladder.solve_on(options.start, "start", nullptr);
  if (!first) return stopped();
  ladder.accept(options.start, std::move(*first));

  // All that the spectrum shows to be too small, at once: most of the way for the price of a few
  // coarse grids, and no number takes the points that another needs.
  while (true) {
    const auto excess = excess_shares(result.solution.quality, options.tolerance);
    Grid grid = result.grid;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < kGridNumbers.size(); ++i) {
      if (!(excess[i] > 1)) continue;
      grid = raised(grid, kGridNumbers[i]);
      names.emplace_back(kGridNumbers[i].name);
    }
    if (names.empty()) break;
    const auto name =
        names.size() == kGridNumbers.size() ? "all" : fmt::format("{}", fmt::join(names, "+"));
    auto solution = ladder.solve_on(grid, name, &result.solution);
    if (!solution && ladder.outcome == Convergence::kOutOfScope) return stopped();
    if (!solution) break;  // perhaps it is good enough all the same
    ladder.accept(grid, std::move(*solution));
  }

  // Each number alone, from where we are: what changes little is taken back, what does not is kept.
  std::array<Grid, 3> settled_at = {};
  for (int round = 0; round < kMaxRounds; ++round) {
    for (std::size_t i = 0; i < kGridNumbers.size(); ++i) {
      const auto& number = kGridNumbers[i];
      if (settled_at[i] == result.grid) continue;
      const Grid grid = raised(result.grid, number);
      auto solution = ladder.solve_on(grid, number.name, &result.solution);
      if (!solution) return stopped();
      if (ladder.last_change() <= options.tolerance) {
        settled_at[i] = result.grid;
      } else {
        ladder.accept(grid, std::move(*solution));
      }
    }
    const auto settled = [&](const Grid& grid) { return grid == result.grid; };
    if (!std::ranges::all_of(settled_at, settled)) continue;
    Grid all = result.grid;
    for (const auto& number : kGridNumbers) all = raised(all, number);
    auto solution = ladder.solve_on(all, "all", &result.solution);
    if (!solution) return stopped();
    ladder.accept(all, std::move(*solution));
    if (ladder.last_change() <= options.tolerance) {
      return ended(Convergence::kConverged,
                   fmt::format("all three raised together change the coefficients by {:.1e}",
                               ladder.last_change()));
    }
  }
  return ended(
      Convergence::kUnresolved,
      fmt::format("raising all three still changes the coefficients after {} rounds", kMaxRounds));
}

}  // namespace assay::transport
