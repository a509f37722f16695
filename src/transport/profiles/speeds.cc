// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/profiles/speeds.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace assay::transport {
namespace {

// Nodes on (−1, 1): Newton's iteration on the Legendre polynomial.
std::vector<QuadraturePoint> gauss_legendre(int order) {
  std::vector<QuadraturePoint> rule;
  for (int i = 0; i < order; ++i) {
    double x = std::cos(std::numbers::pi * (i + 0.75) / (order + 0.5)), slope = 1;
    for (int step = 0; step < 50; ++step) {
      double before = 1, value = x;
      for (int n = 2; n <= order; ++n) {
        const double next = ((2 * n - 1) * x * value - (n - 1) * before) / n;
        before = value;
        value = next;
      }
      slope = order * (x * value - before) / (x * x - 1);
      const double change = value / slope;
      x -= change;
      if (std::abs(change) < 1e-15) break;
    }
    rule.push_back({x, 2 / ((1 - x * x) * slope * slope)});
  }
  return rule;
}

}  // namespace

std::vector<QuadraturePoint> panel_rule(std::span<const double> edges, int order) {
  const auto rule = gauss_legendre(order);
  std::vector<QuadraturePoint> points;
  for (std::size_t i = 1; i < edges.size(); ++i) {
    const double middle = (edges[i] + edges[i - 1]) / 2, half = (edges[i] - edges[i - 1]) / 2;
    for (const auto& [x, weight] : rule) points.push_back({middle + half * x, half * weight});
  }
  return points;
}

std::vector<double> speed_panels(std::span<const double> scales) {
  std::vector<double> edges = {0, 1.0 / 64, 1.0 / 32, 1.0 / 16, 1.0 / 8};
  for (double x = 0.25; x <= 7; x += 0.25) edges.push_back(x);
  for (const double scale : scales) {
    for (double x = scale / 16; x < 7 && x <= 8 * scale; x += x < scale / 2 ? x : scale / 2) {
      edges.push_back(x);
    }
  }
  std::ranges::sort(edges);
  const auto close = [](double a, double b) { return b - a < 1e-9 * b; };
  edges.erase(std::ranges::unique(edges, close).begin(), edges.end());
  return edges;
}

}  // namespace assay::transport
