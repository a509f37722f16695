// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Eight vectors of 32-bit lanes at once: what the stages of a pass have in hand (pass_stages.h),
// for code that is compiled once per instruction set.
#if defined(ASSAY_COMPILER_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_COMPILER_BLOCK_INL_H_
#undef ASSAY_COMPILER_BLOCK_INL_H_
#else
#define ASSAY_COMPILER_BLOCK_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "compiler/cpu/element-inl.h"
#include "compiler/cpu/pass_stages.h"

HWY_BEFORE_NAMESPACE();
namespace assay::compiler {
namespace HWY_NAMESPACE {

using LaneTag = hn::ScalableTag<float>;
using IntTag = hn::ScalableTag<std::int32_t>;
using BitsTag = hn::ScalableTag<std::uint32_t>;
using Lanes = hn::Vec<LaneTag>;

struct Block {
  Lanes x0, x1, x2, x3, x4, x5, x6, x7;
};
constexpr std::int64_t kVectorLanes = hn::MaxLanes(LaneTag());
constexpr std::int64_t kBlockLanes = 8 * kVectorLanes;
constexpr bool kHasPairs = kVectorLanes > 1;

template <class F>
HWY_INLINE void for_each_of(Block& h, const F& f) {
  h = {f(h.x0), f(h.x1), f(h.x2), f(h.x3), f(h.x4), f(h.x5), f(h.x6), f(h.x7)};
}
template <class F>
HWY_INLINE void for_each_of(Block& h, const Block& other, const F& f) {
  h = {f(h.x0, other.x0), f(h.x1, other.x1), f(h.x2, other.x2), f(h.x3, other.x3),
       f(h.x4, other.x4), f(h.x5, other.x5), f(h.x6, other.x6), f(h.x7, other.x7)};
}

// A bool in hand is a number of 32 bits.
HWY_INLINE Lanes of_mask(hn::Mask<LaneTag> mask) {
  const BitsTag du;
  return hn::BitCast(LaneTag(), hn::IfThenElseZero(hn::RebindMask(du, mask), hn::Set(du, 1)));
}
HWY_INLINE hn::Mask<LaneTag> is_true(Lanes x) {
  const BitsTag du;
  return hn::RebindMask(LaneTag(), hn::Ne(hn::BitCast(du, x), hn::Zero(du)));
}

// Bits in all lanes. On x86 from memory, whatever the compiler thinks of it: a broadcast from a
// general register takes the place of a computation.
HWY_INLINE hn::Vec<BitsTag> all_lanes(const std::uint32_t& bits) {
  const std::uint32_t* from = &bits;
#if HWY_ARCH_X86
  __asm__("" : "+r"(from));
#endif
  return hn::Set(BitsTag(), *from);
}
constexpr std::uint32_t kHalfLess = 0x7fff, kLastBit = 0x10000, kUpperBits = 0xffff0000;
[[maybe_unused]] constexpr std::uint32_t kHalf = 0x8000, kOne = 1;

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
// The upper bits of `bits` plus `less`, or plus `half` where the last bit that stays is odd.
HWY_INLINE hn::Vec<BitsTag> rounded_bits(hn::Vec<BitsTag> bits, const std::uint32_t& less,
                                         const std::uint32_t& half) {
  const auto rounded =
      hn::IfThenElse(hn::TestBit(bits, all_lanes(kLastBit)), hn::Add(bits, all_lanes(half)),
                     hn::Add(bits, all_lanes(less)));
  return hn::And(rounded, all_lanes(kUpperBits));
}
#endif

// To the nearest bf16, ties to even; its lower bits are 0 then. A NaN stays one if its lower bits
// are 0 already.
HWY_INLINE Lanes rounded_to_bfloat(Lanes x) {
  const BitsTag du;
  const auto bits = hn::BitCast(du, x);
  // Just less than a half is added, and one more where the last bit that stays is odd.
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return hn::BitCast(LaneTag(), rounded_bits(bits, kHalfLess, kHalf));
#else
  auto rounded = hn::Add(bits, all_lanes(kHalfLess));
#if HWY_TARGET == HWY_NEON
  rounded = hn::Sub(rounded, hn::VecFromMask(du, hn::TestBit(bits, all_lanes(kLastBit))));
#else
  rounded = hn::Add(rounded, hn::And(hn::ShiftRight<16>(bits), all_lanes(kOne)));
#endif
  return hn::BitCast(LaneTag(), hn::And(rounded, all_lanes(kUpperBits)));
#endif
}

HWY_INLINE Lanes rounded_to_half(Lanes x) {
  const LaneTag d;
#if ASSAY_HAS_HALF
  const hn::Rebind<hwy::float16_t, LaneTag> d16;
  return hn::PromoteTo(d, hn::DemoteTo(d16, x));
#else
  HWY_ALIGN float all[kVectorLanes];
  hn::Store(x, d, all);
  for (auto& each : all) each = static_cast<float>(Half(each));
  return hn::Load(d, all);
#endif
}

template <BlockFormat kFormat>
HWY_INLINE Lanes load_lanes(const std::byte* from, std::int64_t vector) {
  const LaneTag d;
  const std::int64_t first = vector * kVectorLanes;
  if constexpr (kFormat == BlockFormat::kLanes) {
    return hn::LoadU(d, reinterpret_cast<const float*>(from) + first);
  } else if constexpr (kFormat == BlockFormat::kBFloat) {
    return load_elements(d, reinterpret_cast<const BFloat16*>(from) + first);
  } else if constexpr (kFormat == BlockFormat::kHalf) {
    return load_elements(d, reinterpret_cast<const Half*>(from) + first);
  } else {
    const hn::Rebind<std::uint8_t, LaneTag> d8;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(from) + first;
    return hn::BitCast(d, hn::PromoteTo(BitsTag(), hn::LoadU(d8, bytes)));
  }
}
template <BlockFormat kFormat>
HWY_INLINE Block load_block(const std::byte* from) {
  if constexpr (kFormat == BlockFormat::kBFloatPairs) {
    const BitsTag du;
    const auto* pairs = reinterpret_cast<const std::uint32_t*>(from);
    const auto upper = all_lanes(kUpperBits);
    const auto pair = [&](int i) HWY_ATTR { return hn::LoadU(du, pairs + i * kVectorLanes); };
    const auto even = [](hn::Vec<BitsTag> x)
                          HWY_ATTR { return hn::BitCast(LaneTag(), hn::ShiftLeft<16>(x)); };
    const auto odd = [&](hn::Vec<BitsTag> x)
                         HWY_ATTR { return hn::BitCast(LaneTag(), hn::And(x, upper)); };
    const auto p0 = pair(0), p1 = pair(1), p2 = pair(2), p3 = pair(3);
    return {even(p0), odd(p0), even(p1), odd(p1), even(p2), odd(p2), even(p3), odd(p3)};
  } else {
    return {load_lanes<kFormat>(from, 0), load_lanes<kFormat>(from, 1),
            load_lanes<kFormat>(from, 2), load_lanes<kFormat>(from, 3),
            load_lanes<kFormat>(from, 4), load_lanes<kFormat>(from, 5),
            load_lanes<kFormat>(from, 6), load_lanes<kFormat>(from, 7)};
  }
}

template <bool kStreamed, class D, class V, typename T>
HWY_INLINE void store_vector(D d, V x, T* to) {
  if constexpr (kStreamed) {
    constexpr std::uintptr_t kBytes = hn::MaxLanes(D()) * sizeof(T);
    if (HWY_LIKELY(reinterpret_cast<std::uintptr_t>(to) % kBytes == 0)) return hn::Stream(x, d, to);
  }
  hn::StoreU(x, d, to);
}

// bf16 and f16 are rounded already.
template <BlockFormat kFormat, bool kStreamed>
HWY_INLINE void store_lanes(Lanes x, std::byte* to, std::int64_t vector) {
  const LaneTag d;
  const BitsTag du;
  const std::int64_t first = vector * kVectorLanes;
  if constexpr (kFormat == BlockFormat::kLanes) {
    store_vector<kStreamed>(d, x, reinterpret_cast<float*>(to) + first);
  } else if constexpr (kFormat == BlockFormat::kBFloat) {
    const hn::Rebind<std::uint16_t, LaneTag> d16;
    const auto upper = hn::ShiftRight<16>(hn::BitCast(du, x));
    store_vector<kStreamed>(d16, hn::TruncateTo(d16, upper),
                            reinterpret_cast<std::uint16_t*>(to) + first);
  } else if constexpr (kFormat == BlockFormat::kHalf) {
    store_elements(d, x, reinterpret_cast<Half*>(to) + first);
  } else {
    const hn::Rebind<std::uint8_t, LaneTag> d8;
    hn::StoreU(hn::TruncateTo(d8, hn::BitCast(du, x)), d8,
               reinterpret_cast<std::uint8_t*>(to) + first);
  }
}
template <BlockFormat kFormat, bool kStreamed>
HWY_INLINE void store_block(const Block& h, std::byte* to) {
  if constexpr (kFormat == BlockFormat::kBFloatPairs) {
    const BitsTag du;
    auto* pairs = reinterpret_cast<std::uint32_t*>(to);
    const auto joined = [&](Lanes even, Lanes odd) HWY_ATTR {
      return hn::Or(hn::ShiftRight<16>(hn::BitCast(du, even)), hn::BitCast(du, odd));
    };
    store_vector<kStreamed>(du, joined(h.x0, h.x1), pairs);
    store_vector<kStreamed>(du, joined(h.x2, h.x3), pairs + kVectorLanes);
    store_vector<kStreamed>(du, joined(h.x4, h.x5), pairs + 2 * kVectorLanes);
    store_vector<kStreamed>(du, joined(h.x6, h.x7), pairs + 3 * kVectorLanes);
  } else {
    store_lanes<kFormat, kStreamed>(h.x0, to, 0);
    store_lanes<kFormat, kStreamed>(h.x1, to, 1);
    store_lanes<kFormat, kStreamed>(h.x2, to, 2);
    store_lanes<kFormat, kStreamed>(h.x3, to, 3);
    store_lanes<kFormat, kStreamed>(h.x4, to, 4);
    store_lanes<kFormat, kStreamed>(h.x5, to, 5);
    store_lanes<kFormat, kStreamed>(h.x6, to, 6);
    store_lanes<kFormat, kStreamed>(h.x7, to, 7);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::compiler
HWY_AFTER_NAMESPACE();
#endif
