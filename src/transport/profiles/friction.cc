// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/profiles/friction.h"

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "transport/profiles/speeds.h"

namespace assay::transport {
namespace {

constexpr double kPi = std::numbers::pi;

// ∫₀^z t^s e^{−t²} dt and ∫_z^∞ of the same, for s = 1, 3, 5, … or 0, 2, 4, …, from one s to the
// next. The lower one by its series while z is small, where the difference from the whole would
// lose its digits.
struct Incomplete {
  double lower = 0, upper = 0;
};
Incomplete incomplete(int s, double z) {
  const double q = z * z, e = std::exp(-q);
  double upper = s % 2 == 0 ? std::sqrt(kPi) / 2 * std::erfc(z) : e / 2;
  double whole = s % 2 == 0 ? std::sqrt(kPi) / 2 : 0.5;
  for (int i = s % 2; i < s; i += 2) {
    upper = (i + 1) / 2.0 * upper + std::pow(z, i + 1) * e / 2;
    whole *= (i + 1) / 2.0;
  }
  if (q > s / 2.0 + 1) return {whole - upper, upper};
  // z^{s+1} e^{−q}/2 · Σ_n q^n / ((s+1)/2 (s+3)/2 …)
  double term = 1 / ((s + 1) / 2.0), sum = term;
  for (int n = 1; n < 200 && term > 1e-17 * sum; ++n) {
    term *= q / ((s + 1) / 2.0 + n);
    sum += term;
  }
  return {std::pow(z, s + 1) * e / 2 * sum, upper};
}

// Coefficients of L_k in powers of K.
std::vector<double> powers_of_laguerre(int k) {
  std::vector<double> c;
  for (int p = 0; p <= k; ++p) {
    const double binomial =
        std::exp(std::lgamma(k + 2.5) - std::lgamma(k - p + 1.0) - std::lgamma(p + 2.5));
    c.push_back((p % 2 == 0 ? 1 : -1) * binomial / std::tgamma(p + 1.0));
  }
  return c;
}

// The potentials of a flow f = ξ·2t/(π^{3/2}) L_k(t²) e^{−t²} in units of the field species:
//   ∇²(Fξ) = f, ∇²(Pξ) = Fξ, by the expansions of 1/|v−v'| and |v−v'|.
struct Potentials {
  double f = 0, f_slope = 0, p = 0, p_slope = 0, p_bend = 0;
};
Potentials potentials(const std::vector<double>& laguerre_powers, double z) {
  Potentials sum;
  for (std::size_t p = 0; p < laguerre_powers.size(); ++p) {
    const double c = 2 * laguerre_powers[p] / std::pow(kPi, 1.5);
    const int s = 1 + 2 * static_cast<int>(p);
    const auto at0 = incomplete(s, z), at2 = incomplete(s + 2, z);
    const double low3 = incomplete(s + 3, z).lower, low5 = incomplete(s + 5, z).lower;
    const double up0 = at0.upper, up2 = at2.upper;
    sum.f -= c / 3 * (low3 / (z * z) + z * up0);
    sum.f_slope -= c / 3 * (-2 * low3 / (z * z * z) + up0);
    sum.p -= c / 6 * (low5 / (5 * z * z) - low3 + z * z * z / 5 * up0 - z * up2);
    sum.p_slope -= c / 6 * (-2 * low5 / (5 * z * z * z) + 3 * z * z / 5 * up0 - up2);
    sum.p_bend -= c / 6 * (6 * low5 / (5 * z * z * z * z) + 6 * z / 5 * up0);
  }
  return sum;
}

// Elements for one pair, in units of n_a m_a ν̂_ab: what a loses because its own flow meets
// Maxwellian b (`own`), and what it gets from b's flow (`other`).
struct PairElements {
  std::vector<double> own, other;
};
PairElements pair_elements(const Species& a, const Species& b, int terms) {
  const auto n = static_cast<std::size_t>(terms);
  PairElements sum{std::vector<double>(n * n), std::vector<double>(n * n)};
  const double ratio = b.thermal_speed() / a.thermal_speed();
  const double warmth = a.temperature / b.temperature - 1;
  std::vector<std::vector<double>> powers;
  for (int k = 0; k < terms; ++k) powers.push_back(powers_of_laguerre(k));
  for (const auto& [x, weight] : panel_rule(speed_panels(std::span(&ratio, 1)), 12)) {
    const double z = x / ratio, q = x * x, g = chandrasekhar(z);
    const double deflection = erf_minus_chandrasekhar(z) / (q * x);
    const double measure = weight * q * std::exp(-q) / std::pow(kPi, 1.5);
    const auto l = laguerre(terms, q);
    for (std::size_t k = 0; k < n; ++k) {
      const double y = 2 * x * l.value[k], y_slope = 2 * l.value[k] + 4 * q * l.slope[k];
      const auto field = potentials(powers[k], z);
      const double mass = a.mass / b.mass;
      // Θ = (m_a/m_b)φ + 2(vψ' − ψ) and Θ', scaled from b's units of speed to a's.
      const double theta = mass * field.f / (ratio * ratio) + 2 * (z * field.p_slope - field.p);
      const double theta_slope =
          mass * field.f_slope / (ratio * ratio * ratio) + 2 * x * field.p_bend / (ratio * ratio);
      for (std::size_t j = 0; j < n; ++j) {
        const double test = x * l.value[j], test_slope = l.value[j] + 2 * q * l.slope[j];
        // C = ν_D·(−1) f + v^{-2}∂_v[v³(ν_s m_a/(m_a+m_b) f + ½ν_∥ v ∂_v f)], by parts.
        sum.own[j * n + k] -=
            4 * kPi / 3 * measure *
            (deflection * test * y + test_slope * (2 * g * warmth * y + g / x * y_slope));
        // −L^{ab} ∫ f_Ma ∇χ·∇(Θξ), the Landau operator against a Maxwellian.
        sum.other[j * n + k] -= 8 * kPi * kPi * measure *
                                (2.0 / 3 * test_slope * theta_slope + 4.0 / 3 * test * theta / q);
      }
    }
  }
  return sum;
}

}  // namespace

LaguerreValues laguerre(int terms, double k) {
  LaguerreValues l;
  double before = 0, value = 1, slope_before = 0, slope = 0;
  for (int i = 0; i < terms; ++i) {
    l.value.push_back(value);
    l.slope.push_back(slope);
    const double next = ((2 * i + 2.5 - k) * value - (i + 1.5) * before) / (i + 1);
    const double slope_next =
        ((2 * i + 2.5 - k) * slope - value - (i + 1.5) * slope_before) / (i + 1);
    before = value;
    slope_before = slope;
    value = next;
    slope = slope_next;
  }
  return l;
}

Friction::Friction(std::span<const Species> species, int terms, double coulomb_logarithm)
    : species_(species.size()), terms_(terms) {
  check(terms >= 1 && terms <= 12, "one to twelve terms");
  const auto n = static_cast<std::size_t>(terms), size = species_ * n;
  elements_.assign(size * size, 0.0);
  for (std::size_t a = 0; a < species_; ++a) {
    for (std::size_t b = 0; b < species_; ++b) {
      const auto pair = pair_elements(species[a], species[b], terms);
      const double unit = species[a].density * species[a].mass *
                          pair_frequency(species[a], species[b], coulomb_logarithm);
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < n; ++k) {
          double* row = &elements_[(a * n + j) * size];
          row[a * n + k] += unit * pair.own[j * n + k];
          row[b * n + k] += unit * pair.other[j * n + k];
        }
      }
    }
  }
}

double Friction::at(std::size_t a, int j, std::size_t b, int k) const {
  const auto n = static_cast<std::size_t>(terms_);
  return elements_[(a * n + static_cast<std::size_t>(j)) * species_ * n + b * n +
                   static_cast<std::size_t>(k)];
}

}  // namespace assay::transport
