// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/resolve.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>

#include "transport/memory.h"

namespace assay::transport {
namespace {

// More solves for one case than any ladder needs: a case that never settles.
constexpr int kMostSolves = 80;
// A share of the highest modes this many times above its goal is two steps away from it.
constexpr double kFarAbove = 30;
// Where the last change is small by chance, the one before it says how large it could have been.
constexpr double kUsualGain = 4;
// The last change misses what follows it: bars without this were seen a tenth too small
// (CIEMAT-QI at ν̂ = 1e-4).
constexpr double kCaution = 1.25;
// A number that alone changes a coefficient by this share of the accuracy is to blame for more.
constexpr double kToBlame = 0.5;
// Modes of B that a first grid resolves, relative to B_00.
constexpr double kStrongMode = 1e-3;
// The coarsest numbers, in the order of kGridNumbers; an angle that B does not depend on has one
// mode and stays there.
constexpr std::array<int, 3> kLowestRung = {6, 3, 3};
constexpr std::array<int, 3> kLowestVarying = {6, 5, 5};
using Changes = std::array<double, 4>;
constexpr std::array<const char*, 4> kCoefficientNames = {"D11", "D31", "D13", "D33"};

double largest(const Changes& changes) { return *std::ranges::max_element(changes); }

// The largest rung below n; the lowest has none.
int rung_below(std::size_t number, int n) {
  int rung = kLowestRung[number];
  if (n <= rung) return n;
  while (kGridNumbers[number].raise(rung) < n) rung = kGridNumbers[number].raise(rung);
  return rung;
}
Grid lowered(Grid grid, std::size_t number) {
  auto& n = grid.*kGridNumbers[number].member;
  n = rung_below(number, n);
  return grid;
}
// One case, from a first grid to one that is fine enough.
class CaseLadder {
 public:
  CaseLadder(const Surface& surface, const Case& at, Method method, const AccuracyOptions& options,
             double bytes, Workspace& workspace)
      : surface_(surface),
        at_(at),
        method_(method),
        options_(options),
        most_bytes_(bytes),
        workspace_(workspace) {}

  Solution climb(const Grid& start) {
    Grid grid = start;
    while (!fits(grid) && grid != lowered(grid)) grid = lowered(grid);
    Changes error;
    error.fill(std::numeric_limits<double>::quiet_NaN());
    bool reached = false;
    const bool hopeless = !fits(grid);  // the coarsest: no grid avoids the rational surface
    while (true) {
      const auto* here = solve_on(grid);
      if (hopeless) break;
      Grid next = raised_by_shares(grid, here->quality);
      if (next != grid && solves_ < kMostSolves) {
        grid = next;
        continue;
      }
      const auto *below = solve_on(lowered(grid)), *bottom = solve_on(lowered(lowered(grid)));
      const auto last = relative_changes(below->d, here->d),
                 before = relative_changes(bottom->d, below->d);
      const auto rounding = rounding_of(*here);
      // With a spectrum that a limit keeps unresolved, changes do not shrink as they should.
      const bool resolved = std::ranges::max(excess_shares(here->quality, options_.accuracy)) <= 1;
      for (std::size_t i = 0; i < error.size(); ++i) {
        const double usual = kCaution * std::max(last[i], before[i] / kUsualGain);
        error[i] = (resolved ? usual : last[i] + before[i]) + rounding[i];
      }
      reached = largest(error) <= options_.accuracy && largest(before) <= options_.accuracy;
      if (reached || solves_ >= kMostSolves) break;
      const bool at_top = largest(last) > options_.accuracy;
      next = raised_by_blame(grid, at_top ? grid : lowered(grid));
      if (next == grid) break;
      grid = next;
    }
    Solution solution = std::move(solved_.at(key(grid)));
    solution.resolution =
        Resolution{grid, {error[0], error[1], error[2], error[3]}, reached, solves_, flops_};
    if (!reached && !hopeless) warn(error, grid, solution);
    return solution;
  }

 private:
  static std::array<int, 3> key(const Grid& g) { return {g.n_theta, g.n_zeta, g.n_xi}; }

  double bytes(const Grid& grid, bool whole) const {
    const bool parity = at_.epsi_hat == 0 && surface_.cosine_only();
    return prepare_bytes(grid) + lane_bytes(grid, method_, parity, whole);
  }
  // A grid that resolves a rational mode at zero field has no answer; one without it may.
  bool fits(const Grid& grid) {
    obstacle_ = obstacle_of(grid, options_.limits, bytes(grid, false), most_bytes_);
    if (obstacle_.empty() && is_zero_field(grid)) obstacle_ = prepared_on(grid).rational_warning();
    return obstacle_.empty();
  }
  bool is_zero_field(const Grid& grid) {
    if (!zero_field_) zero_field_ = prepared_on(grid).is_zero_field(at_.epsi_hat);
    return *zero_field_;
  }

  const Prepared& prepared_on(const Grid& grid) {
    if (!prepared_ || prepared_->grid() != grid) {
      prepared_ = prepare(surface_, grid, {.adjoint_consistent = options_.adjoint_consistent});
    }
    return *prepared_;
  }

  const Solution* solve_on(const Grid& grid) {
    const auto found = solved_.find(key(grid));
    if (found != solved_.end()) return &found->second;
    const auto& prepared = prepared_on(grid);
    const bool whole = bytes(grid, true) <= most_bytes_;
    auto solution = solve(prepared, at_, {.method = method_, .whole_system = whole}, workspace_);
    ++solves_;
    flops_ += flops_of(grid, solution.method);
    return &solved_.emplace(key(grid), std::move(solution)).first->second;
  }

  // Raises the numbers with a weight above 1, the heaviest first, as far as limits allow; what is
  // in the way of the others is kept.
  Grid raised_within(Grid grid, const std::array<double, 3>& weight) {
    std::array<std::size_t, 3> order = {0, 1, 2};
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return weight[i]; });
    std::string met;
    for (const auto i : order) {
      if (!(weight[i] > 1)) continue;
      const Grid next = raised(grid, kGridNumbers[i]);
      if (fits(next)) {
        grid = next;
      } else {
        met = obstacle_;
      }
    }
    obstacle_ = met;
    return grid;
  }

  Grid raised_by_shares(Grid grid, const Quality& quality) {
    auto excess = excess_shares(quality, options_.accuracy);
    const Grid next = raised_within(grid, excess);
    for (auto& e : excess) e /= kFarAbove;
    return next == grid ? next : raised_within(next, excess);
  }

  // The numbers whose own step down from `top` changes a coefficient by a good part of the
  // accuracy, and in any case the one that changes most.
  Grid raised_by_blame(Grid grid, const Grid& top) {
    std::array<double, 3> change = {};
    for (std::size_t i = 0; i < kGridNumbers.size(); ++i) {
      change[i] = largest(relative_changes(solve_on(lowered(top, i))->d, solve_on(top)->d));
    }
    const double most = *std::ranges::max_element(change);
    const double least = std::min(most, kToBlame * options_.accuracy);
    for (auto& c : change) c = c < least ? 0 : 1 + c;
    return raised_within(grid, change);
  }

  Changes rounding_of(const Solution& s) const {
    if (!s.quality.whole) return {};
    const auto &e = s.quality.error, &d = s.d;
    const double floor = off_diagonal_floor(d);
    const auto ratio = [](double error, double value) { return error == 0 ? 0 : error / value; };
    return {ratio(e.d11, std::abs(d.d11)), ratio(e.d31, std::max(std::abs(d.d31), floor)),
            ratio(e.d13, std::max(std::abs(d.d13), floor)), ratio(e.d33, std::abs(d.d33))};
  }

  void warn(const Changes& error, const Grid& grid, Solution& solution) const {
    const auto worst = std::ranges::max_element(error) - error.begin();
    solution.warnings.push_back(fmt::format(
        "nu_hat {:g}, epsi_hat {:g}: accuracy {:g} % is not reached: {} may be wrong by {:.2g} % "
        "on {}x{}x{}; {}",
        at_.nu_hat, at_.epsi_hat, 100 * options_.accuracy,
        kCoefficientNames[static_cast<std::size_t>(worst)],
        100 * error[static_cast<std::size_t>(worst)], grid.n_theta, grid.n_zeta, grid.n_xi,
        obstacle_.empty() ? fmt::format("{} solves did not settle it", solves_) : obstacle_));
  }

  const Surface& surface_;
  const Case at_;
  const Method method_;
  const AccuracyOptions& options_;
  const double most_bytes_;
  Workspace& workspace_;
  std::map<std::array<int, 3>, Solution> solved_;
  std::string obstacle_;
  std::optional<Prepared> prepared_;  // on the last grid
  std::optional<bool> zero_field_;
  int solves_ = 0;
  double flops_ = 0;
};

}  // namespace

Grid lowered(Grid grid) {
  for (std::size_t i = 0; i < kGridNumbers.size(); ++i) grid = lowered(grid, i);
  return grid;
}

Grid least_grid(const Surface& surface) {
  int m = 0, n = 0;
  for (const auto& h : surface.b) {
    if (h.cosine == 0 && h.sine == 0) continue;
    m = std::max(m, std::abs(h.m));
    n = std::max(n, std::abs(h.n));
  }
  const std::array<bool, 3> varies = {true, m > 0, n > 0};
  Grid grid;
  for (std::size_t i = 0; i < kGridNumbers.size(); ++i) {
    const auto& number = kGridNumbers[i];
    auto& value = grid.*number.member;
    value = varies[i] ? number.raise(number.raise(kLowestVarying[i])) : kLowestRung[i];
  }
  return grid;
}

Grid first_grid(const Surface& surface) {
  Grid grid = least_grid(surface);
  double mean = 0;
  for (const auto& h : surface.b) mean += h.m == 0 && h.n == 0 ? std::abs(h.cosine) : 0;
  for (const auto& h : surface.b) {
    if (std::hypot(h.cosine, h.sine) < kStrongMode * mean) continue;
    while (grid.n_theta < 2 * std::abs(h.m) + 3) grid = raised(grid, kGridNumbers[1]);
    while (grid.n_zeta < 2 * std::abs(h.n) + 3) grid = raised(grid, kGridNumbers[2]);
  }
  return grid;
}

double flops_of(const Grid& grid, Method method) {
  const double n = method == Method::kParity ? 0.5 * grid.points() : grid.points();
  return (method == Method::kDense ? 14.0 / 3 : 2) * grid.n_xi * n * n * n;
}

Solution resolve_case(const Surface& surface, const Case& at, const Grid& start, Method method,
                      const AccuracyOptions& options, double bytes, Workspace& workspace) {
  return CaseLadder(surface, at, method, options, bytes, workspace).climb(start);
}

}  // namespace assay::transport
