// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// For z ≥ 0 and t = 2 / (2 + z): erfc(z) = t · exp(−z² + P(t)), where P = log(erfc(z) / t) + z² is
// smooth on all of 0 < t ≤ 1. Its Chebyshev coefficients in 2t − 1 were computed with 50 digits.
#include "models/pt2/aten/erf.h"

#include <array>
#include <numbers>
#include <vector>

#include "models/pt2/aten/forms.h"

namespace assay::models::pt2 {
namespace {

using compiler::GraphTensor;

constexpr std::array<double, 28> kErfSeries{
    -1.3026537197817094,     0.64196979235649026,     0.019476473204185836,
    -0.0095615147868086316,  -0.00094659534448203687, 0.00036683949785276145,
    4.2523324806907772e-5,   -2.0278578112534243e-5,  -1.6242900046470255e-6,
    1.3036558355805232e-6,   1.5626441722066143e-8,   -8.5238095914926543e-8,
    6.5290544390988515e-9,   5.0593434955514689e-9,   -9.9136415649303309e-10,
    -2.2736512229318359e-10, 9.6467911020155268e-11,  2.3940380830391147e-12,
    -6.8860275264975534e-12, 8.9448792730907257e-13,  3.1309213993429581e-13,
    -1.1270822361367252e-13, 3.8109052551892321e-16,  7.106097613609237e-15,
    -1.5230282014571043e-15, -9.457494571291234e-17,  1.210237189224279e-16,
    -2.816663087747177e-17};
constexpr std::size_t kTermsOfF32 = 13;  // the rest is below a tenth of its last place

// erfc |x|.
GraphTensor erfc_of_size(const GraphTensor& x) {
  const auto z = absolute(x);
  const auto t = recip(z * 0.5 + 1.0);
  // Clenshaw's recurrence.
  const auto twice = t * 4.0 - 2.0;
  auto sum = x.like(0), before = x.like(0);
  for (auto i = x.dtype() == DType::kF64 ? kErfSeries.size() : kTermsOfF32; i-- > 1;) {
    const auto next = twice * sum - before + kErfSeries[i];
    before = sum;
    sum = next;
  }
  const auto series = (twice * sum + kErfSeries[0]) * 0.5 - before;
  return t * exp(series - z * z);
}

// 2/√π · (x − x³/3 + x⁵/10 − …), for |x| < 1/2.
GraphTensor erf_near_0(const GraphTensor& x) {
  const int terms = x.dtype() == DType::kF64 ? 12 : 7;
  std::vector<double> factors{std::numbers::inv_sqrtpi * 2};
  for (int i = 1; i < terms; ++i) factors.push_back(-factors.back() / i);
  const auto square = x * x;
  auto sum = x.like(factors.back() / (2 * terms - 1));
  for (int i = terms - 1; i-- > 0;) {
    sum = sum * square + factors[static_cast<std::size_t>(i)] / (2 * i + 1);
  }
  return x * sum;
}

}  // namespace

GraphTensor erf_of(const GraphTensor& x) {
  const auto above = erfc_of_size(x);
  const auto is_small = less(x.like(-0.5), x) * less(x, x.like(0.5));
  const auto large = select(less(x, x.like(0)), above - 1.0, above * -1.0 + 1.0);
  return select(is_small, erf_near_0(x), large);
}
GraphTensor erfc_of(const GraphTensor& x) {
  const auto above = erfc_of_size(x);
  return select(less(x, x.like(0)), above * -1.0 + 2.0, above);
}

}  // namespace assay::models::pt2
