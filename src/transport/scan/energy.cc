// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/energy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace assay::transport {
namespace {

// Gauss's rule with ten points: nodes on one side of the middle, and their weights.
constexpr std::array<std::pair<double, double>, 5> kGauss = {
    {{0.1488743389816312, 0.2955242247147529},
     {0.4333953941292472, 0.2692667193099963},
     {0.6794095682990244, 0.2190863625159820},
     {0.8650633666889845, 0.1494513491505806},
     {0.9739065285171717, 0.0666713443086881}}};

// D between two points of the table.
class Piece {
 public:
  Piece(double nu0, double nu1, double d0, double d1)
      : nu0_(nu0), d0_(d0), is_power_(d0 * d1 > 0), span_(std::log(nu1 / nu0)) {
    slope_ = is_power_ ? std::log(d1 / d0) / span_ : (d1 - d0) / span_;
  }
  double at(double nu) const {
    const double t = std::log(nu / nu0_);
    return is_power_ ? d0_ * std::exp(slope_ * t) : d0_ + slope_ * t;
  }

 private:
  double nu0_, d0_;
  bool is_power_;
  double span_, slope_ = 0;
};

// ∫ over x from `begin` to `end`, in panels that ten points integrate to rounding: no wider than a
// half, where e^{−x²} bends, and no further from 0 than half their start, where powers of x do.
template <typename Function>
double integral(double begin, double end, const Function& f) {
  double sum = 0;
  while (begin < end) {
    const double width = begin == 0 ? 0.5 : std::min(0.5, 0.5 * begin);
    const double stop = std::min(end, begin + width), half = (stop - begin) / 2;
    for (const auto& [node, weight] : kGauss) {
      sum += half * weight * (f(begin + half - half * node) + f(begin + half + half * node));
    }
    begin = stop;
  }
  return sum;
}

void check_table(std::span<const double> nu_hat, std::span<const double> d) {
  if (nu_hat.size() < 2 || nu_hat.size() != d.size()) {
    fail("an energy integral needs two points or more, got {}", nu_hat.size());
  }
  for (std::size_t i = 0; i < d.size(); ++i) {
    const bool ascending = i == 0 || nu_hat[i] > nu_hat[i - 1];
    if (!(nu_hat[i] > 0) || !std::isfinite(nu_hat[i]) || !ascending) {
      fail("nu_hat must be positive and ascending, got {}", nu_hat[i]);
    }
    if (!std::isfinite(d[i])) fail("a coefficient must be finite, got {}", d[i]);
  }
}

}  // namespace

double energy_integral(std::span<const double> nu_hat, std::span<const double> d,
                       double nu_hat_thermal, int order) {
  check_table(nu_hat, d);
  if (!(nu_hat_thermal > 0) || !std::isfinite(nu_hat_thermal)) {
    fail("nu_hat must be positive, got {}", nu_hat_thermal);
  }
  // In x = √K, where ν̂ = ν̂_th x⁻⁴: the table's points stand at x_i, descending.
  constexpr double kEnd = 8;  // e^{−64}
  const auto x_of = [&](double nu) { return std::min(kEnd, std::pow(nu_hat_thermal / nu, 0.25)); };
  const auto weight = [order](double x) {
    return 2 * std::pow(x, 2 * order + 2) * std::exp(-x * x);
  };
  double sum = d.back() * integral(0, x_of(nu_hat.back()), weight) +
               d.front() * integral(x_of(nu_hat.front()), kEnd, weight);
  for (std::size_t i = 0; i + 1 < d.size(); ++i) {
    const Piece piece(nu_hat[i], nu_hat[i + 1], d[i], d[i + 1]);
    sum += integral(x_of(nu_hat[i + 1]), x_of(nu_hat[i]), [&](double x) {
      return weight(x) * piece.at(nu_hat_thermal / (x * x * x * x));
    });
  }
  return 2 / std::sqrt(std::numbers::pi) * sum;
}

}  // namespace assay::transport
