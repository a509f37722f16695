// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/profiles/ambipolar.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace assay::transport {
namespace {

// Points of the range, dense towards zero: equal steps of asinh(E/E_1), E_1 a hundredth of it.
std::vector<double> search_points(const AmbipolarOptions& o) {
  const double unit = 0.01 * std::max(std::abs(o.least), std::abs(o.most));
  const double begin = std::asinh(o.least / unit), end = std::asinh(o.most / unit);
  std::vector<double> points;
  for (int i = 0; i < o.points; ++i) {
    points.push_back(unit * std::sinh(begin + (end - begin) * i / (o.points - 1)));
  }
  points.front() = o.least;
  points.back() = o.most;
  return points;
}

// A zero between two ends of different signs (Illinois: secants that do not stand still).
template <typename Function>
double zero_between(double a, double fa, double b, double fb, double tolerance, const Function& f) {
  int side = 0;
  for (int i = 0; i < 100 && std::abs(b - a) > tolerance; ++i) {
    const double x = i % 8 == 7 ? (a + b) / 2 : (a * fb - b * fa) / (fb - fa);
    const double fx = f(x);
    if (fx == 0) return x;
    if ((fx > 0) == (fb > 0)) {
      b = x;
      fb = fx;
      if (side == -1) fa /= 2;
      side = -1;
    } else {
      a = x;
      fa = fx;
      if (side == 1) fb /= 2;
      side = 1;
    }
  }
  return (a * fb - b * fa) / (fb - fa);
}

void name_roots(std::vector<Root>& roots) {
  const auto stable = std::ranges::count_if(roots, &Root::stable);
  bool first = true;
  for (auto& root : roots) {
    if (!root.stable) {
      root.kind = RootKind::kUnstable;
      continue;
    }
    root.kind = stable == 1 ? (root.er > 0 ? RootKind::kElectron : RootKind::kIon)
                : first     ? RootKind::kIon
                            : RootKind::kElectron;
    first = false;
  }
}

}  // namespace

std::string_view name_of(RootKind kind) {
  switch (kind) {
    case RootKind::kIon:
      return "ion";
    case RootKind::kUnstable:
      return "unstable";
    case RootKind::kElectron:
      return "electron";
  }
  throw InternalError("a kind of root is one of its enumerators");
}

Ambipolar ambipolar(const RadiusProblem& problem, const AmbipolarOptions& o) {
  if (!(o.least < o.most))
    fail("the range of E_r needs two ends that ascend, got {} and {}", o.least, o.most);
  if (o.points < 3) fail("a search for E_r needs at least 3 points, got {}", o.points);
  Ambipolar out;
  out.er = search_points(o);
  double scale = 0, largest = 0;
  for (const double er : out.er) {
    const auto f = problem.fluxes(er, o.e_parallel);
    out.current.push_back((o.corrected ? f.corrected : f.plain).radial_current);
    // Against the plain fluxes: in a symmetric field the corrected ones are all small.
    scale = std::max(scale, f.plain.radial_scale);
    largest = std::max(largest, std::abs(out.current.back()));
  }
  out.relative_current = scale > 0 ? largest / scale : 0;
  out.determined = out.relative_current > 1e-3;
  if (!out.determined) return out;

  const auto current = [&](double er) {
    const auto f = problem.fluxes(er, o.e_parallel);
    return (o.corrected ? f.corrected : f.plain).radial_current;
  };
  const double tolerance = 1e-10 * (o.most - o.least);
  for (std::size_t i = 0; i + 1 < out.er.size(); ++i) {
    const double fa = out.current[i], fb = out.current[i + 1];
    const bool on_point = fa == 0;
    if (!on_point && (fb == 0 || (fa > 0) == (fb > 0))) continue;
    Root root;
    root.er =
        on_point ? out.er[i] : zero_between(out.er[i], fa, out.er[i + 1], fb, tolerance, current);
    const double h = 1e-3 * (out.er[i + 1] - out.er[i]);
    root.slope = (current(root.er + h) - current(root.er - h)) / (2 * h);
    root.stable = root.slope > 0;
    out.roots.push_back(root);
  }
  name_roots(out.roots);
  return out;
}

}  // namespace assay::transport
