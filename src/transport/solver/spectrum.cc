// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/solver/spectrum.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace assay::transport {
namespace {

// Below this share of the whole, what varies is rounding.
constexpr double kNothingVaries = 1e-24;

// Σ f² of the highest modes of one angle. The angle has `count` points `step` apart, on `lines`
// lines `line_step` apart.
double high_energy(const Field& f, int count, int step, int lines, int line_step) {
  const int highest = count / 2, modes = std::max(1, highest / 8);
  double energy = 0;
  for (int m = highest - modes + 1; m <= highest; ++m) {
    std::vector<double> cosine, sine;
    for (int i = 0; i < count; ++i) {
      const double phi = 2 * std::numbers::pi * (m * i % count) / count;
      cosine.push_back(std::cos(phi));
      sine.push_back(std::sin(phi));
    }
    for (int line = 0; line < lines; ++line) {
      double real = 0, imaginary = 0;
      for (int i = 0; i < count; ++i) {
        const double value = f[static_cast<std::size_t>(line * line_step + i * step)];
        real += cosine[static_cast<std::size_t>(i)] * value;
        imaginary += sine[static_cast<std::size_t>(i)] * value;
      }
      energy += (2 * m == count ? 1 : 2) * (real * real + imaginary * imaginary) / count;
    }
  }
  return energy;
}

}  // namespace

AngleShares highest_modes(const Grid& grid, const std::array<std::array<Field, 3>, 2>& modes) {
  AngleShares shares;
  for (const auto& source : modes) {
    double varies = 0, all = 0, theta = 0, zeta = 0;
    for (std::size_t k = 0; k < source.size(); ++k) {
      const auto& f = source[k];
      double sum = 0, squares = 0;
      for (const double x : f) {
        sum += x;
        squares += x * x;
      }
      const double weight = 1 / (2.0 * static_cast<double>(k) + 1);
      all += weight * squares;
      varies += weight * (squares - sum * sum / static_cast<double>(f.size()));
      theta += weight * high_energy(f, grid.n_theta, 1, grid.n_zeta, grid.n_theta);
      zeta += weight * high_energy(f, grid.n_zeta, grid.n_theta, grid.n_theta, 1);
    }
    if (!(varies > kNothingVaries * all)) continue;
    shares.theta = std::max(shares.theta, theta / varies);
    shares.zeta = std::max(shares.zeta, zeta / varies);
  }
  return shares;
}

}  // namespace assay::transport
