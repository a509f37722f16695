// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// exp and log of vectors of f32 or f64, for code that is compiled once per instruction set.
//
//   exp(d, x)      every x; at most 1.1 ulp from the true value (also where that is denormal)
//   log(d, x)      every x; at most 1.1 ulp
//   exp_nonpositive(d, x, dx)
//                  e^(x + dx) for x ≤ 0 and |dx| far below 1; relative error at most 2u (u the unit
//                  roundoff); exactly 0 where the result would not be a normal number
//   log_split(d, x, whole)
//                  for normal x > 0: log x = whole + result with `whole` exact, the result at most
//                  0.36 and wrong by at most u
//
// The errors were measured over all floats (exp_log_test.cc). Coefficients are minimax fits over
// the reduced intervals, in docs/methods/semiring.md. Multiply-adds are fused where the instruction
// set can; the constants are cut so that the reductions are as exact where it cannot.
#if defined(ASSAY_KERNELS_EXP_LOG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_EXP_LOG_INL_H_
#undef ASSAY_KERNELS_EXP_LOG_INL_H_
#else
#define ASSAY_KERNELS_EXP_LOG_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
struct ExpLog;

template <>
struct ExpLog<float> {
  using Bits = std::int32_t;
  static constexpr int kFraction = 23;
  static constexpr float kLog2E = 0x1.715476p+0f;
  // ln 2 in two parts: the first has 15 bits, so that its product with an exponent is exact.
  static constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
  // Adding it leaves the nearest integer in the lowest bits.
  static constexpr float kRound = 0x1.8p+23f;
  // Beyond these exp is 0 or infinite, whatever the rounding.
  static constexpr float kExpLow = -104.0f, kExpHigh = 89.0f;
  // The smallest x whose exp is a normal number, and a little more.
  static constexpr float kNormalLow = -87.33f;
  static constexpr float kDenormalScale = 0x1p+25f, kDenormalShift = 25;
  // e^r = 1 + r + r²·(c0 + c1 r + …), |r| ≤ ½ ln 2: 0.07 u.
  static constexpr float kExp[] = {0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558f2p-5f, 0x1.123a2p-7f,
                                   0x1.6a23dp-10f};
};

template <>
struct ExpLog<double> {
  using Bits = std::int64_t;
  static constexpr int kFraction = 52;
  static constexpr double kLog2E = 0x1.71547652b82fep+0;
  static constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
  static constexpr double kRound = 0x1.8p+52;
  static constexpr double kExpLow = -746.0, kExpHigh = 710.0;
  static constexpr double kNormalLow = -708.39;
  static constexpr double kDenormalScale = 0x1p+54, kDenormalShift = 54;
  // 0.1 u.
  static constexpr double kExp[] = {
      0x1.000000000000ap-1,  0x1.55555555554f9p-3,  0x1.555555555083ep-5,  0x1.1111111127d11p-7,
      0x1.6c16c18438b31p-10, 0x1.a01a012a0e6abp-13, 0x1.a01999e25c2c1p-16, 0x1.71df25b4eb4c5p-19,
      0x1.28ad9b8bbabd8p-22, 0x1.ad7f3bd14e9cdp-26};
};

// c0 + c1 x + … in Horner's order.
template <class D, class V, typename T, std::size_t kCount>
HWY_INLINE V polynomial(D d, V x, const T (&c)[kCount]) {
  V sum = hn::Set(d, c[kCount - 1]);
#pragma GCC unroll 16
  for (std::size_t i = 1; i < kCount; ++i) {
    sum = hn::MulAdd(sum, x, hn::Set(d, c[kCount - 1 - i]));
  }
  return sum;
}

// e^(x + dx) = mantissa · 2^n with n in the low bits of `rounded`; |x| at most 1100.
template <class D, class V>
HWY_INLINE V exp_mantissa(D d, V x, V dx, V& rounded) {
  using C = ExpLog<hn::TFromD<D>>;
  rounded = hn::MulAdd(x, hn::Set(d, C::kLog2E), hn::Set(d, C::kRound));
  const V n = hn::Sub(rounded, hn::Set(d, C::kRound));
  V r = hn::NegMulAdd(n, hn::Set(d, C::kLn2High), x);
  r = hn::Add(hn::NegMulAdd(n, hn::Set(d, C::kLn2Low), r), dx);
  const V tail = hn::MulAdd(hn::Mul(r, r), polynomial(d, r, C::kExp), r);
  return hn::Add(tail, hn::Set(d, 1));
}

template <class D, class V>
HWY_INLINE V exp_nonpositive(D d, V x, V dx) {
  using C = ExpLog<hn::TFromD<D>>;
  const hn::RebindToSigned<D> di;
  V rounded;
  const V mantissa = exp_mantissa(d, x, dx, rounded);
  const auto power = hn::ShiftLeft<C::kFraction>(hn::BitCast(di, rounded));
  const V result = hn::BitCast(d, hn::Add(hn::BitCast(di, mantissa), power));
  return hn::IfThenElseZero(hn::Ge(x, hn::Set(d, C::kNormalLow)), result);
}

// Two factors of about 2^(n/2): the product is right where 2^n itself is no normal number.
template <class D, class V>
HWY_INLINE V exp(D d, V x) {
  using C = ExpLog<hn::TFromD<D>>;
  using Bits = typename C::Bits;
  const hn::RebindToSigned<D> di;
  const V bounded = hn::Min(hn::Max(x, hn::Set(d, C::kExpLow)), hn::Set(d, C::kExpHigh));
  V rounded;
  const V mantissa = exp_mantissa(d, bounded, hn::Zero(d), rounded);
  const auto n = hn::Sub(hn::BitCast(di, rounded), hn::Set(di, std::bit_cast<Bits>(C::kRound)));
  const auto half = hn::ShiftRight<1>(n);
  const auto one = hn::Set(di, std::bit_cast<Bits>(hn::TFromD<D>{1}));
  const V first = hn::BitCast(d, hn::Add(hn::ShiftLeft<C::kFraction>(half), one));
  const V second = hn::BitCast(d, hn::Add(hn::ShiftLeft<C::kFraction>(hn::Sub(n, half)), one));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Mul(hn::Mul(mantissa, first), second));
}

// x = 2^exponent · (1 + f) with 1 + f between √½ and √2, exactly; x normal and positive.
template <class D, class V>
HWY_INLINE V log_reduce(D d, V x, V& exponent) {
  using T = hn::TFromD<D>;
  using C = ExpLog<T>;
  using Bits = typename C::Bits;
  const hn::RebindToSigned<D> di;
  const auto root = hn::Set(di, std::bit_cast<Bits>(static_cast<T>(0.70710678118654752)));
  const auto above = hn::Sub(hn::BitCast(di, x), root);
  exponent = hn::ConvertTo(d, hn::ShiftRight<C::kFraction>(above));
  const auto fraction = hn::Set(di, (Bits{1} << C::kFraction) - 1);
  const V m = hn::BitCast(d, hn::Add(hn::And(above, fraction), root));
  return hn::Sub(m, hn::Set(d, 1));
}

// log(1 + f) − f, the part that is rounded; f as log_reduce gives it.
template <class D, class V>
HWY_INLINE V log_tail(D d, V f) {
  if constexpr (std::is_same_v<hn::TFromD<D>, float>) {
    // −f²/2 + f³·(c0 + c1 f + …): 0.1 u.
    constexpr float kLog[] = {0x1.555554p-2f, -0x1.000228p-2f, 0x1.99a00ep-3f, -0x1.5471b6p-3f,
                              0x1.22d918p-3f, -0x1.0d8a08p-3f, 0x1.056584p-3f, -0x1.38b4f4p-4f};
    const V square = hn::Mul(f, f);
    const V cubic = hn::Mul(hn::Mul(square, f), polynomial(d, f, kLog));
    return hn::NegMulAdd(hn::Set(d, 0.5f), square, cubic);
  } else {
    // With s = f / (2 + f): log(1 + f) = 2s + s³·(c0 + c1 s² + …), 0.01 u, arranged so that only
    // small terms are rounded: 2s = f − s·f and s·f = f²/2 − s·f²/2.
    constexpr double kLog[] = {0x1.5555555555593p-1, 0x1.999999997fb31p-2, 0x1.2492494217a3p-2,
                               0x1.c71c51e7f6514p-3, 0x1.7466462cbde1p-3,  0x1.39a0f4fdc0719p-3,
                               0x1.2f0d8ec40937ap-3};
    const V s = hn::Div(f, hn::Add(f, hn::Set(d, 2)));
    const V z = hn::Mul(s, s);
    const V half_square = hn::Mul(hn::Set(d, 0.5), hn::Mul(f, f));
    const V inner = hn::MulAdd(z, polynomial(d, z, kLog), half_square);
    return hn::Sub(hn::Mul(s, inner), half_square);
  }
}

template <class D, class V>
HWY_INLINE V log_split(D d, V x, V& whole) {
  using C = ExpLog<hn::TFromD<D>>;
  V exponent;
  const V f = log_reduce(d, x, exponent);
  whole = hn::Mul(exponent, hn::Set(d, C::kLn2High));
  const V tail = hn::MulAdd(exponent, hn::Set(d, C::kLn2Low), log_tail(d, f));
  return hn::Add(f, tail);
}

template <class D, class V>
HWY_INLINE V log(D d, V x) {
  using T = hn::TFromD<D>;
  using C = ExpLog<T>;
  const auto tiny = hn::Lt(x, hn::Set(d, std::numeric_limits<T>::min()));
  const V scaled = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, C::kDenormalScale)), x);
  V exponent;
  const V f = log_reduce(d, scaled, exponent);
  exponent = hn::Sub(exponent, hn::IfThenElseZero(tiny, hn::Set(d, C::kDenormalShift)));
  const V tail = hn::MulAdd(exponent, hn::Set(d, C::kLn2Low), log_tail(d, f));
  V result = hn::MulAdd(exponent, hn::Set(d, C::kLn2High), hn::Add(f, tail));
  const V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  result = hn::IfThenElse(hn::Eq(x, infinity), infinity, result);
  result = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), result);
  // x < 0 and NaN.
  const V nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
  return hn::IfThenElse(hn::Ge(x, hn::Zero(d)), result, nan);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();
#endif
