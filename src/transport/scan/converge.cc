// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/converge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "base/names.h"
#include "base/resident_memory.h"
#include "base/units.h"
#include "transport/memory.h"

namespace assay::transport {
namespace {

constexpr int kMaxRounds = 12;
// Shares of the highest modes that go with a change of one per cent or less, see quality.cc: they
// say which number is too small before it is tried out. The changes decide.
constexpr double kLegendreGoal = 5e-6, kThetaGoal = 1e-3, kZetaGoal = 1e-6, kGoalsTolerance = 1e-2;

// Larger by a quarter, at least by two; an angle stays odd, since even sizes cannot represent the
// derivative of their highest mode.
int raised_angle(int n) {
  const int next = n + std::max(2, n / 4);
  return next % 2 == 0 ? next + 1 : next;
}
int raised_xi(int n) { return n + std::max(4, n / 4); }

struct Number {
  int Grid::*member;
  int (*raise)(int);
  const char* name;
};
constexpr std::array<Number, 3> kNumbers = {{{&Grid::n_xi, raised_xi, "n_xi"},
                                             {&Grid::n_theta, raised_angle, "n_theta"},
                                             {&Grid::n_zeta, raised_angle, "n_zeta"}}};

Grid raised(Grid grid, const Number& number) {
  grid.*number.member = number.raise(grid.*number.member);
  return grid;
}

// Which numbers the spectrum of a solution shows to be too small.
std::array<bool, 3> too_small(const Quality& q, double tolerance) {
  const double factor = tolerance / kGoalsTolerance;
  return {q.legendre_share > factor * kLegendreGoal, q.theta_share > factor * kThetaGoal,
          q.zeta_share > factor * kZetaGoal};
}

double relative(double a, double b) {
  const double scale = std::max(std::abs(a), std::abs(b));
  return scale == 0 ? 0 : std::abs(a - b) / scale;
}

// D31 may vanish (a surface without bootstrap current); it counts relative to what it could be, its
// Schwarz bound √(D11·D33).
double change(const Coefficients& a, const Coefficients& b) {
  const double bound = std::sqrt(std::abs(b.d11 * b.d33));
  const double d31 =
      bound == 0 ? 0 : std::abs(a.d31 - b.d31) / std::max(std::abs(b.d31), 1e-2 * bound);
  return std::max({relative(a.d11, b.d11), relative(a.d33, b.d33), d31});
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
    const auto size = fmt::format("the next grid {}x{}x{}", g.n_theta, g.n_zeta, g.n_xi);
    if (g.points() > options_.max_points) {
      obstacle = fmt::format("{} has {} points: raise --max-points {}", size, g.points(),
                             options_.max_points);
    } else if (g.n_xi > options_.max_xi) {
      obstacle = fmt::format("{} is above --max-xi {}", size, options_.max_xi);
    } else if (const double available = available_bytes(); bytes(g, false) > available) {
      obstacle = fmt::format("{} needs {} of memory, {} are available", size,
                             format_bytes(bytes(g, false)), format_bytes(available));
    } else {
      return true;
    }
    return false;
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
    const auto small = too_small(result.solution.quality, options.tolerance);
    Grid grid = result.grid;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < kNumbers.size(); ++i) {
      if (!small[i]) continue;
      grid = raised(grid, kNumbers[i]);
      names.emplace_back(kNumbers[i].name);
    }
    if (names.empty()) break;
    const auto name =
        names.size() == kNumbers.size() ? "all" : fmt::format("{}", fmt::join(names, "+"));
    auto solution = ladder.solve_on(grid, name, &result.solution);
    if (!solution && ladder.outcome == Convergence::kOutOfScope) return stopped();
    if (!solution) break;  // perhaps it is good enough all the same
    ladder.accept(grid, std::move(*solution));
  }

  // Each number alone, from where we are: what changes little is taken back, what does not is kept.
  std::array<Grid, 3> settled_at = {};
  for (int round = 0; round < kMaxRounds; ++round) {
    for (std::size_t i = 0; i < kNumbers.size(); ++i) {
      const auto& number = kNumbers[i];
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
    for (const auto& number : kNumbers) all = raised(all, number);
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
