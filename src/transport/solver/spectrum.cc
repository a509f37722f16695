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

// One angle: `count` points `step` apart, on `lines` lines `line_step` apart.
class Angle {
 public:
  Angle(int count, int step, int lines, int line_step)
      : count_(count), step_(step), lines_(lines), line_step_(line_step) {
    const int highest = (count - 1) / 2, modes = std::max(1, highest / 8);
    for (int m = std::max(1, highest - modes + 1); m <= highest; ++m) {
      const double norm = std::sqrt(2.0 / count);
      for (const double quarter : {0.0, std::numbers::pi / 2}) {
        for (int i = 0; i < count; ++i) {
          const double phi = 2 * std::numbers::pi * (m * i % count) / count;
          waves_.push_back(norm * std::cos(phi - quarter));
        }
      }
    }
  }

  // Takes out the mode that changes its sign from point to point, where there is one: it has no
  // derivative, so that at zero field the equations leave it open.
  void drop_alternating(Field& f) const {
    if (count_ % 2 != 0) return;
    for (int line = 0; line < lines_; ++line) {
      const auto at = [&](int i) -> double& {
        return f[static_cast<std::size_t>(line * line_step_ + i * step_)];
      };
      double sum = 0;
      for (int i = 0; i < count_; ++i) sum += i % 2 == 0 ? at(i) : -at(i);
      for (int i = 0; i < count_; ++i) at(i) -= (i % 2 == 0 ? sum : -sum) / count_;
    }
  }

  // Σ f² of the highest modes.
  double high_energy(const Field& f) const {
    double energy = 0;
    for (int line = 0; line < lines_; ++line) {
      for (auto wave = waves_.begin(); wave != waves_.end(); wave += count_) {
        double sum = 0;
        for (int i = 0; i < count_; ++i) {
          sum += wave[i] * f[static_cast<std::size_t>(line * line_step_ + i * step_)];
        }
        energy += sum * sum;
      }
    }
    return energy;
  }

 private:
  int count_, step_, lines_, line_step_;
  std::vector<double> waves_;  // cosine and sine of each mode, of length one
};

}  // namespace

AngleShares highest_modes(const Grid& grid, const std::array<std::array<Field, 3>, 2>& modes) {
  AngleShares shares;
  const Angle along_theta(grid.n_theta, 1, grid.n_zeta, grid.n_theta);
  const Angle along_zeta(grid.n_zeta, grid.n_theta, grid.n_theta, 1);
  for (const auto& source : modes) {
    double varies = 0, all = 0, theta = 0, zeta = 0;
    for (std::size_t k = 0; k < source.size(); ++k) {
      Field f = source[k];
      along_theta.drop_alternating(f);
      along_zeta.drop_alternating(f);
      double sum = 0, squares = 0;
      for (const double x : f) {
        sum += x;
        squares += x * x;
      }
      const double weight = 1 / (2.0 * static_cast<double>(k) + 1);
      all += weight * squares;
      varies += weight * (squares - sum * sum / static_cast<double>(f.size()));
      theta += weight * along_theta.high_energy(f);
      zeta += weight * along_zeta.high_energy(f);
    }
    if (!(varies > kNothingVaries * all)) continue;
    shares.theta = std::max(shares.theta, theta / varies);
    shares.zeta = std::max(shares.zeta, zeta / varies);
  }
  return shares;
}

}  // namespace assay::transport
