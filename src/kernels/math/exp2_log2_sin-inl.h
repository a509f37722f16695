// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// exp2, log2 and sin of vectors of f32 or f64, for code that is compiled once per instruction set;
// every x, NaN and infinities included. Of f32 at most 2 ulp from the true value, measured over a
// stride of all floats (compiler/cpu/cpu_region_test.cc).
//
//   exp2(d, x)  exact for integers
//   log2(d, x)  exact for powers of two
//   sin(d, x)   arguments beyond Sine::kHigh one by one, by the standard library
#if defined(ASSAY_KERNELS_EXP2_LOG2_SIN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_EXP2_LOG2_SIN_INL_H_
#undef ASSAY_KERNELS_EXP2_LOG2_SIN_INL_H_
#else
#define ASSAY_KERNELS_EXP2_LOG2_SIN_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>

#include "kernels/math/exp_log-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// 2^x = 2^n · 2^r with n the nearest integer: the processor has both steps, infinities, overflow
// and NaN included.
HWY_INLINE hn::Vec512<float> exp2_scaled(hn::Vec512<float> x) {
  // 2^r = 1 + r·(c0 + c1 r + …), |r| ≤ ½: 0.04 u.
  constexpr float kTerms[] = {0x1.62e43p-1f,  0x1.ebfbdcp-3f,  0x1.c6aee8p-5f,
                              0x1.3b2d4cp-7f, 0x1.5f3e52p-10f, 0x1.41fbbcp-13f};
  const hn::Full512<float> d;
  const hn::Vec512<float> r{_mm512_reduce_ps(x.raw, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
  const auto power = hn::MulAdd(r, polynomial(d, r, kTerms), hn::Set(d, 1));
  return hn::Vec512<float>{_mm512_scalef_ps(power.raw, hn::Sub(x, r).raw)};
}
#endif

// 2^x = 2^n · e^(r ln 2) with n the nearest integer; r is exact.
template <class D, class V>
HWY_INLINE V exp2(D d, V x) {
  using T = hn::TFromD<D>;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<V, hn::Vec512<float>>) return exp2_scaled(x);
#endif
  using C = ExpLog<T>;
  using Bits = typename C::Bits;
  const hn::RebindToSigned<D> di;
  // Beyond these 2^x is 0 or infinite, whatever the rounding.
  constexpr T kLow = std::is_same_v<T, float> ? -151 : -1076;
  constexpr T kHigh = std::is_same_v<T, float> ? 129 : 1025;
  const V bounded = hn::Min(hn::Max(x, hn::Set(d, kLow)), hn::Set(d, kHigh));
  const V rounded = hn::Add(bounded, hn::Set(d, C::kRound));
  const V r = hn::Sub(bounded, hn::Sub(rounded, hn::Set(d, C::kRound)));
  const V y = hn::Mul(r, hn::Set(d, static_cast<T>(0.693147180559945309417)));
  const V tail = hn::MulAdd(hn::Mul(y, y), polynomial(d, y, C::kExp), y);
  const V mantissa = hn::Add(tail, hn::Set(d, 1));
  const auto n = hn::Sub(hn::BitCast(di, rounded), hn::Set(di, std::bit_cast<Bits>(C::kRound)));
  const auto half = hn::ShiftRight<1>(n);
  const auto one = hn::Set(di, std::bit_cast<Bits>(T{1}));
  const V first = hn::BitCast(d, hn::Add(hn::ShiftLeft<C::kFraction>(half), one));
  const V second = hn::BitCast(d, hn::Add(hn::ShiftLeft<C::kFraction>(hn::Sub(n, half)), one));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Mul(hn::Mul(mantissa, first), second));
}

// n + log(1 + f) / ln 2 with 1 + f between √½ and √2: the terms cancel at most half.
template <class D, class V>
HWY_INLINE V log2(D d, V x) {
  using T = hn::TFromD<D>;
  using C = ExpLog<T>;
  const auto tiny = hn::Lt(x, hn::Set(d, std::numeric_limits<T>::min()));
  const V scaled = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, C::kDenormalScale)), x);
  V exponent;
  const V f = log_reduce(d, scaled, exponent);
  exponent = hn::Sub(exponent, hn::IfThenElseZero(tiny, hn::Set(d, C::kDenormalShift)));
  const V natural = hn::Add(f, log_tail(d, f));
  V result = hn::MulAdd(natural, hn::Set(d, static_cast<T>(1.44269504088896340736)), exponent);
  const V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  result = hn::IfThenElse(hn::Eq(x, infinity), infinity, result);
  result = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), result);
  const V nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
  return hn::IfThenElse(hn::Ge(x, hn::Zero(d)), result, nan);
}

template <typename T>
struct Sine;
template <>
struct Sine<float> {
  // π in parts, each what is left of it, rounded towards 0: none is below 0, and −0 less nothing
  // of them stays −0. And as one number.
  static constexpr float kPi[] = {0x1.921fb4p+1f, 0x1.4442d0p-23f, 0x1.84698ap-47f};
  static constexpr float kWholePi = 0x1.921fb6p+1f;
  // sin r = r + r³·(c0 + c1 r² + …), |r| ≤ 1.62: far arguments are reduced to a little more
  // than π/2. 0.14 u.
  static constexpr float kTerms[] = {-0x1.55554ap-3f, 0x1.110e6ap-7f, -0x1.9f5bf2p-13f,
                                     0x1.5c9a4cp-19f};
  static constexpr float kShortTerms[] = {-0x1.555048p-3f, 0x1.105e44p-7f, -0x1.83513cp-13f};
  static constexpr float kHigh = 0x1p+20f;
};
template <>
struct Sine<double> {
  static constexpr double kPi[] = {0x1.921fb54442d18p+1, 0x1.1a62633145c06p-53,
                                   0x1.c1cd129024e09p-106};
  static constexpr double kWholePi = 0x1.921fb54442d18p+1;
  static constexpr double kTerms[] = {
      -1.0 / 6,
      1.0 / 120,
      -1.0 / 5040,
      1.0 / 362880,
      -1.0 / 39916800,
      1.0 / 6227020800,
      -1.0 / 1307674368000,
      1.0 / 355687428096000,
      -1.0 / 121645100408832000,
      1.0 / 51090942171709440000.0,
  };
  static constexpr double kHigh = 0x1p+30;
};

// Whether sin_near() holds for |x|: never of NaN.
template <class D, class V>
HWY_INLINE hn::Mask<D> sin_is_near(D d, V size) {
  using T = hn::TFromD<D>;
#if HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  return hn::Lt(size, hn::Set(d, static_cast<T>(1.5)));
#else
  return hn::Lt(size, hn::Set(d, Sine<T>::kHigh));
#endif
}

// (−1)^n sin(x − nπ), with kParts of π and these terms. With fused multiply-adds each part of the
// reduction is rounded relative to what is left; without them nothing is reduced here.
template <int kParts, class D, class V, typename T, std::size_t kCount>
HWY_INLINE V sin_by(D d, V x, const T (&terms)[kCount]) {
  using C = ExpLog<T>;
  const hn::RebindToSigned<D> di;
  const V rounded =
      hn::MulAdd(x, hn::Set(d, static_cast<T>(0.318309886183790671538)), hn::Set(d, C::kRound));
  const V n = hn::Sub(rounded, hn::Set(d, C::kRound));
  V r = x;
#pragma GCC unroll 3
  for (int part = 0; part < kParts; ++part) {
    const T of_pi = kParts == 1 ? Sine<T>::kWholePi : Sine<T>::kPi[part];
    r = hn::NegMulAdd(n, hn::Set(d, of_pi), r);
  }
  const auto odd = hn::ShiftLeft<sizeof(T) * 8 - 1>(hn::BitCast(di, rounded));
  r = hn::BitCast(d, hn::Xor(hn::BitCast(di, r), odd));
  const V square = hn::Mul(r, r);
  // Of 0 the tail is +0, not −0, so that −0 keeps its sign.
  const V tail = hn::MulAdd(square, polynomial(d, square, terms), hn::Zero(d));
  return hn::MulAdd(r, tail, r);
}

template <class D, class V>
HWY_INLINE V sin_near(D d, V x) {
  return sin_by<3>(d, x, Sine<hn::TFromD<D>>::kTerms);
}
// Of f32 that are bf16: as good as those ask for, 2^-19 of the result; of those that are nearer
// still, 2^-14 where the sine is smallest.
template <class D, class V>
HWY_INLINE V short_sin_near(D d, V x) {
  return sin_by<2>(d, x, Sine<float>::kShortTerms);
}
template <class D, class V>
HWY_INLINE V short_sin_nearer(D d, V x) {
  return sin_by<1>(d, x, Sine<float>::kShortTerms);
}
template <class D, class V>
HWY_INLINE hn::Mask<D> sin_is_nearer(D d, V size) {
#if HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  return sin_is_near(d, size);
#else
  return hn::Lt(size, hn::Set(d, 64));
#endif
}

template <class D, class V>
HWY_INLINE V sin(D d, V x) {
  using T = hn::TFromD<D>;
  const V result = sin_near(d, x);
  const auto is_near = sin_is_near(d, hn::Abs(x));
  if (HWY_LIKELY(hn::AllTrue(d, is_near))) return result;
  HWY_ALIGN T all[hn::MaxLanes(D())], near[hn::MaxLanes(D())];
  hn::Store(x, d, all);
  hn::Store(hn::IfThenElse(is_near, result, hn::Set(d, std::numeric_limits<T>::quiet_NaN())), d,
            near);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    // Far ones, and a NaN that is one again.
    if (std::isnan(near[i])) near[i] = static_cast<T>(std::sin(double{all[i]}));
  }
  return hn::Load(d, near);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();
#endif
