// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/peaks/peak_kernels.h"

#include <hwy/cache_control.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/peaks/peak_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include "kernels/dispatch.h"
#include "kernels/math/exp_log-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
using Tag = hn::ScalableTag<T>;
template <typename T>
using Vector = hn::Vec<Tag<T>>;

// Makes the compiler forget what it knows of a register, so that nothing is moved out of the loop.
template <class V>
HWY_INLINE void forget(V& x) {
#if HWY_TARGET == HWY_SCALAR && HWY_ARCH_X86
  __asm__ volatile("" : "+x"(x.raw));
#elif HWY_ARCH_X86
  __asm__ volatile("" : "+v"(x.raw));
#elif HWY_ARCH_ARM_A64
  __asm__ volatile("" : "+w"(x.raw));
#endif
}

struct Fma {
  template <class V>
  static HWY_INLINE V of(V x, V y, V z) {
    return hn::MulAdd(x, y, z);
  }
};
struct AddMax {
  template <class V>
  static HWY_INLINE V of(V x, V y, V z) {
    return hn::Max(hn::Add(x, y), z);
  }
};
struct SubFma {
  template <class V>
  static HWY_INLINE V of(V x, V y, V z) {
    const V difference = hn::Sub(x, y);
    return hn::MulAdd(difference, difference, z);
  }
};

// kChains independent results. Every register is written just before the loop: one that was last
// written long ago, or by an instruction of another width, can halve the rate.
template <class Op, typename T, int kChains>
void loop(std::int64_t iterations, const T* HWY_RESTRICT seeds, T* HWY_RESTRICT sink) {
  const Tag<T> d;
  Vector<T> z[kChains];
#pragma GCC unroll 32
  for (int c = 0; c < kChains; ++c) z[c] = hn::Set(d, seeds[c]);
  Vector<T> x = hn::Set(d, seeds[kChains]), y = hn::Set(d, seeds[kChains + 1]);
  for (std::int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 4
    for (int repeat = 0; repeat < 4; ++repeat) {
#pragma GCC unroll 32
      for (int c = 0; c < kChains; ++c) {
        z[c] = Op::of(x, y, z[c]);
        forget(x);
      }
    }
  }
#pragma GCC unroll 32
  for (int c = 1; c < kChains; ++c) z[0] = hn::Add(z[0], z[c]);
  hn::StoreU(z[0], d, sink);
}

template <class Op, typename T, int kChains>
constexpr PeakLoop<T> form() {
  return {loop<Op, T, kChains>, 4.0 * kChains * static_cast<double>(hn::MaxLanes(Tag<T>()))};
}

template <typename T>
void exp_all(const T* HWY_RESTRICT x, T* HWY_RESTRICT y, std::int64_t size) {
  const Tag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i + 2 * lanes <= size; i += 2 * lanes) {
    hn::StoreU(exp(d, hn::LoadU(d, x + i)), d, y + i);
    hn::StoreU(exp(d, hn::LoadU(d, x + i + lanes)), d, y + i + lanes);
  }
}

template <typename T>
T read(const T* HWY_RESTRICT x, std::int64_t size) {
  const Tag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  Vector<T> sum[8];
#pragma GCC unroll 8
  for (int s = 0; s < 8; ++s) sum[s] = hn::Zero(d);
  for (std::int64_t i = 0; i < size; i += 8 * lanes) {
#pragma GCC unroll 8
    for (int s = 0; s < 8; ++s) sum[s] = hn::Add(sum[s], hn::LoadU(d, x + i + s * lanes));
  }
#pragma GCC unroll 8
  for (int s = 1; s < 8; ++s) sum[0] = hn::Add(sum[0], sum[s]);
  return hn::GetLane(sum[0]);
}

template <typename T, bool kStreamed>
void triad(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, T* HWY_RESTRICT y, std::int64_t size) {
  const Tag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const Vector<T> factor = hn::Set(d, static_cast<T>(3));
  for (std::int64_t i = 0; i < size; i += 4 * lanes) {
#pragma GCC unroll 4
    for (int s = 0; s < 4; ++s) {
      const std::int64_t at = i + s * lanes;
      const auto result = hn::MulAdd(factor, hn::LoadU(d, b + at), hn::LoadU(d, a + at));
      if constexpr (kStreamed)
        hn::Stream(result, d, y + at);
      else
        hn::StoreU(result, d, y + at);
    }
  }
  if constexpr (kStreamed) hwy::FlushStream();
}

template <typename T>
constexpr PeakKernels<T> kTable{
    {form<Fma, T, 8>(), form<Fma, T, 12>(), form<Fma, T, 16>(), form<Fma, T, 24>()},
    {form<AddMax, T, 8>(), form<AddMax, T, 10>(), form<AddMax, T, 12>(), form<AddMax, T, 20>()},
    {form<SubFma, T, 8>(), form<SubFma, T, 10>(), form<SubFma, T, 12>(), form<SubFma, T, 20>()},
    exp_all<T>,
    read<T>,
    triad<T, false>,
    triad<T, true>};

const PeakKernels<float>* peak_kernels_f32() { return &kTable<float>; }
const PeakKernels<double>* peak_kernels_f64() { return &kTable<double>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

ASSAY_DISPATCH(PeakKernels, peak_kernels);

}  // namespace assay::kernels
#endif
