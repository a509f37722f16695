// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/converge.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/error.h"
#include "base/names.h"

namespace assay::transport {
namespace {

constexpr int kMaxRounds = 4;

// Larger by a quarter, at least by two; an angle stays odd, since even sizes cannot represent the
// derivative of their highest mode.
int raised_angle(int n) {
  const int next = n + std::max(2, n / 4);
  return next % 2 == 0 ? next + 1 : next;
}
int raised_xi(int n) { return n + std::max(4, n / 4); }

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

  // Solves on a grid and keeps it as the current one. Returns the change from the last.
  double step(const Grid& grid, std::string raised) {
    const auto begin = monotonic_ns();
    const auto prepared = prepare(surface_, grid);
    auto solution = solve(prepared, at_, {.method = options_.method});
    const double difference = result.ladder.empty() ? 0 : change(result.solution.d, solution.d);
    result.ladder.push_back({grid, std::move(raised), solution.d, difference,
                             1e-9 * static_cast<double>(monotonic_ns() - begin)});
    result.grid = grid;
    result.solution = std::move(solution);
    rational = !prepared.rational_warning().empty() && at_.epsi_hat == 0;
    if (options_.on_step) options_.on_step(result.ladder.back());
    return difference;
  }

  bool within_limits(const Grid& grid) const {
    return grid.points() <= options_.max_points && grid.n_xi <= options_.max_xi;
  }

  // Raises one number until two successive changes are small. False: a limit or a rational surface
  // was met first.
  bool settle(int Grid::*number, int (*raise)(int), const char* name) {
    for (int small = 0; small < 2;) {
      Grid grid = result.grid;
      grid.*number = raise(grid.*number);
      if (!within_limits(grid)) return false;
      small = step(grid, name) <= options_.tolerance ? small + 1 : 0;
      if (rational) return false;
    }
    return true;
  }

  ConvergeResult result;
  bool rational = false;

 private:
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
  const auto stopped = [&] {
    if (ladder.rational) {
      return ended(Convergence::kOutOfScope, result.solution.warnings.empty()
                                                 ? "rational surface at zero field"
                                                 : result.solution.warnings.front());
    }
    return ended(Convergence::kUnresolved,
                 fmt::format("the next grid would exceed {} points or n_xi {}", options.max_points,
                             options.max_xi));
  };
  ladder.step(options.start, "start");
  if (ladder.rational) return stopped();
  for (int round = 0; round < kMaxRounds; ++round) {
    if (!ladder.settle(&Grid::n_xi, raised_xi, "n_xi") ||
        !ladder.settle(&Grid::n_theta, raised_angle, "n_theta") ||
        !ladder.settle(&Grid::n_zeta, raised_angle, "n_zeta")) {
      return stopped();
    }
    const Grid& g = result.grid;
    const Grid all = {raised_angle(g.n_theta), raised_angle(g.n_zeta), raised_xi(g.n_xi)};
    if (!ladder.within_limits(all)) return stopped();
    const double last = ladder.step(all, "all");
    if (ladder.rational) return stopped();
    if (last <= options.tolerance) {
      return ended(
          Convergence::kConverged,
          fmt::format("all three raised together change the coefficients by {:.1e}", last));
    }
  }
  return ended(
      Convergence::kUnresolved,
      fmt::format("raising all three still changes the coefficients after {} rounds", kMaxRounds));
}

}  // namespace assay::transport
