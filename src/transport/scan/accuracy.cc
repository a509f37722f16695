// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/accuracy.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>

#include "base/attend.h"
#include "base/error.h"
#include "base/json.h"
#include "base/resident_memory.h"
#include "transport/scan/lanes.h"
#include "transport/scan/scan_journal.h"

namespace assay::transport {
namespace {

// A step of a decade in the field is further than one in nu, a field further than none.
constexpr double kFieldWeight = 1.5;
// Fields on this grid tell surfaces apart.
constexpr Grid kLook = {25, 25, 2};

double distance(const Case& a, const Case& b) {
  const double x = std::abs(a.epsi_hat), y = std::abs(b.epsi_hat);
  const double field = x == y ? 0 : x == 0 || y == 0 ? 1 : std::abs(std::log10(x / y));
  return std::abs(std::log10(a.nu_hat / b.nu_hat)) + kFieldWeight * field;
}

// From large nu to small, from weak fields to strong: grids grow that way. Each case follows its
// nearest neighbour among those before it, whoever solves them and when.
struct Order {
  std::vector<std::size_t> sequence;
  std::vector<std::optional<std::size_t>> follows;  // by case

  explicit Order(std::span<const Case> cases) : sequence(cases.size()), follows(cases.size()) {
    std::iota(sequence.begin(), sequence.end(), std::size_t{0});
    std::ranges::stable_sort(sequence, [&](std::size_t a, std::size_t b) {
      return std::pair(-cases[a].nu_hat, std::abs(cases[a].epsi_hat)) <
             std::pair(-cases[b].nu_hat, std::abs(cases[b].epsi_hat));
    });
    for (std::size_t i = 1; i < sequence.size(); ++i) {
      const auto here = sequence[i];
      follows[here] = *std::min_element(
          sequence.begin(), sequence.begin() + static_cast<std::ptrdiff_t>(i),
          [&](std::size_t a, std::size_t b) {
            return distance(cases[a], cases[here]) < distance(cases[b], cases[here]);
          });
    }
  }
};

// Lanes that take the first case whose neighbour is done.
class Lanes {
 public:
  Lanes(const Surface& surface, std::span<const Case> cases, const Solved& solved,
        const ScanOptions& options, const AccuracyOptions& accuracy, const OnSolved& on_solved)
      : surface_(surface),
        cases_(cases),
        solved_(solved),
        options_(options),
        accuracy_(accuracy),
        on_solved_(on_solved),
        order_(cases),
        taken_(cases.size(), false),
        bytes_(available_bytes() / options.threads) {}

  void run() {
    run_lanes(static_cast<std::size_t>(options_.threads), [this] { lane(); });
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void lane() {
    Workspace workspace;
    std::unique_lock lock(mutex_);
    while (const auto next = take(lock)) {
      const auto start = start_of(*next);
      lock.unlock();
      try {
        auto solution = resolve_case(surface_, cases_[*next], start, options_.method, accuracy_,
                                     bytes_, workspace);
        lock.lock();
        on_solved_(*next, std::move(solution));
      } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        if (!error_) error_ = std::current_exception();
      }
      changed_.notify_all();
    }
    changed_.notify_all();
  }

  // The next case, once its neighbour is done; nothing when none is left.
  std::optional<std::size_t> take(std::unique_lock<std::mutex>& lock) {
    while (true) {
      if (error_ || (options_.interrupt != nullptr && options_.interrupt->load())) return {};
      bool open = false;
      for (const auto i : order_.sequence) {
        if (taken_[i] || solved_[i]) continue;
        open = true;
        if (order_.follows[i] && !solved_[*order_.follows[i]]) continue;
        taken_[i] = true;
        return i;
      }
      if (!open) return {};
      changed_.wait_for(lock, std::chrono::nanoseconds(Attention::kBetween_ns));
      lock.unlock();
      const bool wanted = still_wanted();
      lock.lock();
      if (!wanted) return {};
    }
  }

  Grid start_of(std::size_t i) const {
    if (!order_.follows[i]) return first_grid(surface_);
    const auto grid = lowered(solved_[*order_.follows[i]]->resolution.value().grid);
    const auto least = least_grid(surface_);
    return {std::max(grid.n_theta, least.n_theta), std::max(grid.n_zeta, least.n_zeta),
            std::max(grid.n_xi, least.n_xi)};
  }

  const Surface& surface_;
  const std::span<const Case> cases_;
  const Solved& solved_;  // grows by on_solved_
  const ScanOptions& options_;
  const AccuracyOptions& accuracy_;
  const OnSolved& on_solved_;
  const Order order_;
  std::vector<bool> taken_;
  const double bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr error_;
};

}  // namespace

ScanResult solve_scan_to(const Surface& surface, std::span<const Case> cases,
                         const ScanOptions& options, const AccuracyOptions& accuracy) {
  if (!(accuracy.accuracy > 0 && accuracy.accuracy < 1)) {
    fail("the accuracy must be above 0 and below 1, got {}", accuracy.accuracy);
  }
  const auto least = least_grid(surface);
  const auto& limits = accuracy.limits;
  if (least.points() > limits.max_points || least.n_xi > limits.max_xi) {
    fail("the first grid is {}x{}x{}: --max-points {} and --max-xi {} leave none", least.n_theta,
         least.n_zeta, least.n_xi, limits.max_points, limits.max_xi);
  }
  const auto look = prepare(surface, kLook, {.adjoint_consistent = accuracy.adjoint_consistent});
  const auto settings = [&](std::span<const Case> unique) {
    auto json = scan_settings(look, unique, options.method);
    for (const char* name : {"n_theta", "n_zeta", "n_xi"}) json.erase(name);
    json["accuracy"] = accuracy.accuracy;
    json["max_points"] = limits.max_points;
    json["max_xi"] = limits.max_xi;
    return json;
  };
  return keep_cases(look, cases, options, settings,
                    [&](std::span<const Case> unique, const Solved& solved, const OnSolved& told) {
                      Lanes(surface, unique, solved, options, accuracy, told).run();
                    });
}

AccuracyCost& AccuracyCost::operator+=(const AccuracyCost& other) {
  cases += other.cases;
  solves += other.solves;
  flops += other.flops;
  fixed_flops += other.fixed_flops;
  finest = {std::max(finest.n_theta, other.finest.n_theta),
            std::max(finest.n_zeta, other.finest.n_zeta), std::max(finest.n_xi, other.finest.n_xi)};
  return *this;
}

AccuracyCost cost_of(std::span<const Solution> solutions, bool mirror) {
  AccuracyCost cost;
  std::set<std::pair<double, double>> seen;
  std::vector<Method> methods;
  for (const auto& s : solutions) {
    const double field = mirror ? std::abs(s.at.epsi_hat) : s.at.epsi_hat;
    if (!s.resolution || !seen.emplace(s.at.nu_hat, field).second) continue;
    const auto& r = *s.resolution;
    cost += {1, static_cast<std::size_t>(r.solves), r.flops, 0, r.grid};
    methods.push_back(s.method);
  }
  for (const auto method : methods) cost.fixed_flops += flops_of(cost.finest, method);
  return cost;
}

std::string cost_text(const AccuracyCost& c) {
  return fmt::format(
      "{:.1f} solves a case on average, {:.3g} flop in all; {}x{}x{} for every case would have "
      "been "
      "{:.3g} flop, {:.2g} times as much",
      static_cast<double>(c.solves) / static_cast<double>(std::max<std::size_t>(1, c.cases)),
      c.flops, c.finest.n_theta, c.finest.n_zeta, c.finest.n_xi, c.fixed_flops,
      c.flops > 0 ? c.fixed_flops / c.flops : 0);
}

}  // namespace assay::transport
