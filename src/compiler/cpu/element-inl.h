// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Elements of every dtype as vectors to compute with, for code that is compiled once per
// instruction set: f16 and bf16 are f32 there, bool is a byte of 0 or 1.
#if defined(ASSAY_COMPILER_ELEMENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_COMPILER_ELEMENT_INL_H_
#undef ASSAY_COMPILER_ELEMENT_INL_H_
#else
#define ASSAY_COMPILER_ELEMENT_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <type_traits>

#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace assay::compiler {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// What an element is computed in.
template <typename T>
using Computed = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float,
                                    std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>>;
template <typename T>
using ComputedTag = hn::ScalableTag<Computed<T>>;

// f16 by the processor, where it can.
#undef ASSAY_HAS_HALF
#if HWY_TARGET == HWY_NEON || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || \
    HWY_TARGET == HWY_AVX3_DL
#define ASSAY_HAS_HALF 1
#else
#define ASSAY_HAS_HALF 0
#endif

template <typename T, class D>
HWY_INLINE hn::Vec<D> load_elements(D d, const T* from) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    const hn::Rebind<std::uint16_t, D> d16;
    const hn::Rebind<std::uint32_t, D> d32;
    const auto bits = hn::LoadU(d16, reinterpret_cast<const std::uint16_t*>(from));
#if HWY_TARGET == HWY_NEON
    if constexpr (hn::MaxLanes(D()) == 4)
      return hn::Vec<D>(vreinterpretq_f32_u32(vshll_n_u16(bits.raw, 16)));
#endif
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, bits)));
  } else if constexpr (std::is_same_v<T, Half>) {
#if ASSAY_HAS_HALF
    const hn::Rebind<hwy::float16_t, D> d16;
    return hn::PromoteTo(d, hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(from)));
#else
    HWY_ALIGN float wide[hn::MaxLanes(D())];
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) wide[i] = static_cast<float>(from[i]);
    return hn::Load(d, wide);
#endif
  } else if constexpr (std::is_same_v<T, bool>) {
    return hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from));
  } else {
    return hn::LoadU(d, from);
  }
}

// Sixteen upper bits of each, rounded to nearest even. A NaN stays one if its lower bits are 0, as
// they are where it came out of arithmetic on bf16.
template <class D, class V>
HWY_INLINE void store_bfloat([[maybe_unused]] D d, V x, std::uint16_t* to) {
#if HWY_TARGET == HWY_NEON
  if constexpr (hn::MaxLanes(D()) == 4) {
    const uint32x4_t bits = vreinterpretq_u32_f32(x.raw);
    const uint32x4_t odd = vtstq_u32(bits, vdupq_n_u32(0x10000));  // all ones: −1
    vst1_u16(to, vaddhn_u32(bits, vsubq_u32(vdupq_n_u32(0x7fff), odd)));
    return;
  }
#endif
  const hn::RebindToUnsigned<D> d32;
  const hn::RebindToSigned<D> di;
  const hn::Rebind<std::uint16_t, D> d16;
  const auto bits = hn::BitCast(d32, x);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(d32, 0x7fff)));
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, hn::ShiftRight<16>(rounded))), d16, to);
}

template <typename T, class D, class V>
HWY_INLINE void store_elements(D d, V x, T* to) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    store_bfloat(d, x, reinterpret_cast<std::uint16_t*>(to));
  } else if constexpr (std::is_same_v<T, Half>) {
#if ASSAY_HAS_HALF
    const hn::Rebind<hwy::float16_t, D> d16;
    hn::StoreU(hn::DemoteTo(d16, x), d16, reinterpret_cast<hwy::float16_t*>(to));
#else
    HWY_ALIGN float wide[hn::MaxLanes(D())];
    hn::Store(x, d, wide);
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) to[i] = Half(wide[i]);
#endif
  } else if constexpr (std::is_same_v<T, bool>) {
    hn::StoreU(x, d, reinterpret_cast<std::uint8_t*>(to));
  } else {
    hn::StoreU(x, d, to);
  }
}

// A NaN whatever its bits are.
template <class D, class V>
HWY_INLINE V with_plain_nans(D d, V x) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if constexpr (std::is_same_v<V, hn::Vec512<float>>) {
    constexpr int kNansAreIndefinite = 0x33;  // quiet ones and signalling ones; others stay
    return V{_mm512_fixupimm_ps(x.raw, x.raw, _mm512_set1_epi32(kNansAreIndefinite), 0)};
  }
#endif
  return hn::IfThenElse(hn::IsNaN(x), hn::Set(d, std::numeric_limits<float>::quiet_NaN()), x);
}

// Masks as bytes of 0 or 1, and back.
template <class D, class M>
HWY_INLINE void store_mask(D d, M mask, bool* to) {
  auto* bytes = reinterpret_cast<std::uint8_t*>(to);
  if constexpr (sizeof(hn::TFromD<D>) == 1) {
    hn::StoreU(hn::IfThenElseZero(mask, hn::Set(d, 1)), d, bytes);
  } else {
    const hn::RebindToUnsigned<D> du;
    const hn::Rebind<std::uint8_t, D> d8;
    const auto ones = hn::IfThenElseZero(hn::RebindMask(du, mask), hn::Set(du, 1));
    hn::StoreU(hn::TruncateTo(d8, ones), d8, bytes);
  }
}

// The greater, of zeros the first; NaN where either is.
template <class D, class V>
HWY_INLINE V greatest(D d, V a, V b) {
  (void)d;
  if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
#if HWY_TARGET == HWY_NEON  // Highway's Max prefers the number.
    if constexpr (std::is_same_v<hn::TFromD<D>, float>)
      return V(vmaxq_f32(a.raw, b.raw));
    else
      return V(vmaxq_f64(a.raw, b.raw));
#elif HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
    // The processor's is the second operand where either is NaN, and of two zeros.
    return hn::IfThenElse(hn::IsNaN(b), b, hn::Max(b, a));
#else
    const V greater = hn::IfThenElse(hn::Lt(a, b), b, a);
    return hn::IfThenElse(hn::IsNaN(b), b, greater);
#endif
  } else {
    return hn::Max(a, b);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::compiler
HWY_AFTER_NAMESPACE();
#endif
