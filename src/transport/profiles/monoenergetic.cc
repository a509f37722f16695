// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/profiles/monoenergetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <span>

#include "base/error.h"
#include "transport/profiles/curve.h"

namespace assay::transport {
namespace {

// One quantity over (ln ν̂, field), plain or as a logarithm.
struct Quantity {
  std::vector<double> values;
  bool logarithm = false;
  Curve along_nu, along_field;

  void take_logarithms_if_positive() {
    logarithm = std::ranges::all_of(values, [](double v) { return v > 0; });
    if (logarithm)
      std::ranges::transform(values, values.begin(), [](double v) { return std::log(v); });
  }
};

struct Interpolation {
  std::vector<double> log_nu, field;
  double field_unit = 1;
  Quantity d11, trapped, d31, d13;
  bool ratios = false;   // d31 and d13 stand for D31/t and D13/t
  bool reduced = false;  // d11 stands for (D11/ν̂ − P)/t
  double limit = 0;      // P

  double place(double er) const { return std::asinh(std::abs(er) / field_unit); }

  double value(const Quantity& q, const Neighbours& nu, const Neighbours& e, double x,
               double y) const {
    std::array<double, 4> rows{};
    const std::size_t width = field.size();
    for (std::size_t i = 0; i < nu.count; ++i) {
      const double* row = &q.values[(nu.first + i) * width + e.first];
      rows[i] = q.along_field.at(field, e, {row, e.count}, y).value;
    }
    return q.along_nu.at(log_nu, nu, {rows.data(), nu.count}, x).value;
  }

  MonoenergeticPoint at(double nu_hat, double er_hat) const {
    const double x = std::log(nu_hat), y = place(er_hat);
    const auto nu = neighbours(log_nu, x), e = neighbours(field, y);
    MonoenergeticPoint p;
    p.outside = nu.below || nu.above || e.below || e.above;
    p.d11 = value(d11, nu, e, x, y);
    if (d11.logarithm) p.d11 = std::exp(p.d11);
    double t = value(trapped, nu, e, x, y);
    if (trapped.logarithm) t = std::exp(t);
    t = std::min(t, 1 - 1e-6);
    if (reduced) p.d11 = nu_hat * (limit + t * p.d11);
    p.share = 1 - t;
    p.d31 = value(d31, nu, e, x, y) * (ratios ? t : 1);
    p.d13 = value(d13, nu, e, x, y) * (ratios ? t : 1);
    return p;
  }
};

// (D11/ν̂ − P)/t where that is positive everywhere: a constant in a symmetric field, so that what
// momentum conservation cancels there is cancelled between the points of a table as well. At high ν̂
// the difference is rounding; the constant that it tends to goes on.
std::optional<std::vector<double>> reduced_d11(const CoefficientTable& t,
                                               std::span<const double> trapped) {
  const std::size_t width = t.er_hat.size();
  std::vector<double> out;
  for (std::size_t i = 0; i < t.d11.size(); ++i) {
    const double least = t.nu_hat[i / width] * t.pfirsch_schlueter, excess = t.d11[i] - least;
    if (std::abs(excess) <= 1e-7 * least && i >= width) {
      out.push_back(out[i - width]);
    } else if (excess > 0) {
      out.push_back(excess / (t.nu_hat[i / width] * trapped[i]));
    } else {
      return std::nullopt;
    }
  }
  return out;
}

void check_ascending(std::span<const double> axis, const char* name, double least) {
  for (std::size_t i = 0; i < axis.size(); ++i) {
    if (!(axis[i] >= least) || !std::isfinite(axis[i]) || (i > 0 && !(axis[i] > axis[i - 1]))) {
      fail("the table's {} must ascend from at least {}, got {}", name, least, axis[i]);
    }
  }
}

// D11/ν̂ = P + c/ν̂² at the two highest collisionalities; a table that ends before that regime is
// told by the slope of D11 there.
double limit_of_table(const CoefficientTable& t, std::vector<std::string>& warnings) {
  const std::size_t n = t.nu_hat.size(), width = t.er_hat.size();
  const double nu1 = t.nu_hat[n - 2], nu2 = t.nu_hat[n - 1];
  const double y1 = t.d11[(n - 2) * width] / nu1, y2 = t.d11[(n - 1) * width] / nu2;
  const double slope = std::log(y2 / y1) / std::log(nu2 / nu1) + 1;
  const double limit = (y2 * nu2 * nu2 - y1 * nu1 * nu1) / (nu2 * nu2 - nu1 * nu1);
  if (!(slope > 0.8)) {
    warnings.push_back(
        fmt::format("rho {:g}: the table ends at nu_hat {:g} 1/m before the Pfirsch-Schlueter "
                    "regime (D11 rises as nu^{:.2f} there): its limit is extrapolated",
                    t.rho, nu2, slope));
  }
  return std::clamp(std::isfinite(limit) ? limit : 0.0, 0.0, std::max(0.0, y2));
}

}  // namespace

Monoenergetic interpolated(const CoefficientTable& t) {
  const std::size_t n = t.nu_hat.size(), width = t.er_hat.size(), size = n * width;
  if (n < 3) fail("energy integrals need at least three collisionalities, got {}", n);
  if (width < 1) fail("energy integrals need at least one field");
  check_ascending(t.nu_hat, "nu_hat", 1e-300);
  check_ascending(t.er_hat, "er_hat", 0);
  for (const auto* values : {&t.d11, &t.d31, &t.d13, &t.d33, &t.d33_spitzer}) {
    check(values->size() == size, "a table has a value for each case");
    for (const double v : *values) {
      if (!std::isfinite(v)) fail("the table at rho {} has a value that is not finite", t.rho);
    }
  }
  auto shared = std::make_shared<Interpolation>();
  auto& in = *shared;
  for (const double nu : t.nu_hat) in.log_nu.push_back(std::log(nu));
  const auto positive = std::ranges::find_if(t.er_hat, [](double e) { return e > 0; });
  if (positive != t.er_hat.end()) in.field_unit = *positive;
  for (const double e : t.er_hat) in.field.push_back(in.place(e));

  in.d11.values = t.d11;
  for (std::size_t i = 0; i < size; ++i) {
    if (!(t.d33[i] > 0 && t.d33_spitzer[i] > 0)) {
      fail("the table at rho {} has a D33 that is not positive: {}", t.rho, t.d33[i]);
    }
    in.trapped.values.push_back(1 - t.d33[i] / t.d33_spitzer[i]);
  }
  Monoenergetic out;
  out.rho = t.rho;
  out.r = t.r;
  out.b0 = t.b0;
  out.mean_b2 = 1.5 * t.nu_hat[0] * t.d33_spitzer[0] * t.b0 * t.b0;
  in.d31.values = t.d31;
  in.d13.values = t.d13;
  in.ratios = std::ranges::all_of(in.trapped.values, [](double v) { return v > 1e-14; });
  if (in.ratios) {
    for (std::size_t i = 0; i < size; ++i) {
      in.d31.values[i] /= in.trapped.values[i];
      in.d13.values[i] /= in.trapped.values[i];
    }
    if (t.pfirsch_schlueter > 0) {
      if (auto values = reduced_d11(t, in.trapped.values)) {
        in.d11.values = std::move(*values);
        in.reduced = true;
        in.limit = t.pfirsch_schlueter;
      }
    }
    in.trapped.take_logarithms_if_positive();
  }
  in.d11.take_logarithms_if_positive();
  in.d11.along_nu = {false, 0, 0};
  if (in.d11.logarithm) {  // D11 between ν̂⁻¹ and ν̂
    in.d11.along_nu.least = in.reduced ? -2 : -1;
    in.d11.along_nu.most = in.reduced ? 0 : 1;
  }
  in.d11.along_field = {true, in.d11.logarithm ? -3.0 : 0.0, 0};
  in.trapped.along_nu = {false, in.ratios ? -2.0 : 0.0, 0};
  for (auto* q : {&in.trapped, &in.d31, &in.d13}) q->along_field.monotone = true;

  out.pfirsch_schlueter =
      t.pfirsch_schlueter > 0 ? t.pfirsch_schlueter : limit_of_table(t, out.warnings);
  if (!in.d11.logarithm && std::ranges::any_of(t.d11, [](double v) { return v < 0; })) {
    out.warnings.push_back(
        fmt::format("rho {:g}: the table has a D11 of {:g} below 0: the grid it was made on is too "
                    "coarse",
                    t.rho, *std::ranges::min_element(t.d11)));
  }
  if (width == 1) {
    out.warnings.push_back(
        fmt::format("rho {:g}: the table has one field only: E_r enters the forces alone", t.rho));
  }
  out.at = [shared](double nu_hat, double er_hat) { return shared->at(nu_hat, er_hat); };
  return out;
}

}  // namespace assay::transport
