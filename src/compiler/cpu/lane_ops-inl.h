// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Primitives on one vector of what a pass has in hand (pass_stages.h), for code that is compiled
// once per instruction set.
#if defined(ASSAY_COMPILER_LANE_OPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_COMPILER_LANE_OPS_INL_H_
#undef ASSAY_COMPILER_LANE_OPS_INL_H_
#else
#define ASSAY_COMPILER_LANE_OPS_INL_H_
#endif

#include "compiler/cpu/block-inl.h"
#include "kernels/math/exp2_log2_sin-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::compiler {
namespace HWY_NAMESPACE {
namespace km = kernels::HWY_NAMESPACE;

struct SumOf {
  static HWY_INLINE Lanes of(Lanes x, Lanes y) { return hn::Add(x, y); }
};
struct ProductOf {
  static HWY_INLINE Lanes of(Lanes x, Lanes y) { return hn::Mul(x, y); }
};
struct QuotientOf {
  static HWY_INLINE Lanes of(Lanes x, Lanes y) { return hn::Div(x, y); }
};
struct TurnedQuotientOf {
  static HWY_INLINE Lanes of(Lanes x, Lanes y) { return hn::Div(y, x); }
};
struct GreatestOf {
  static HWY_INLINE Lanes of(Lanes x, Lanes y) { return greatest(LaneTag(), x, y); }
};
// Of zeros of either sign the first counts.
struct TurnedGreatestOf {
  static HWY_INLINE Lanes of(Lanes x, Lanes y) { return greatest(LaneTag(), y, x); }
};
struct IsLess {
  static HWY_INLINE Lanes of(Lanes x, Lanes y) { return of_mask(hn::Lt(x, y)); }
};
struct IsGreater {
  static HWY_INLINE Lanes of(Lanes x, Lanes y) { return of_mask(hn::Lt(y, x)); }
};
// The same of 32-bit integers; a bool is one of 0 or 1.
template <class F>
struct OfIntegers {
  static HWY_INLINE Lanes of(Lanes x, Lanes y) {
    return hn::BitCast(LaneTag(), F::of(hn::BitCast(IntTag(), x), hn::BitCast(IntTag(), y)));
  }
};
struct IntSum {
  template <class V>
  static HWY_INLINE V of(V x, V y) {
    return hn::Add(x, y);
  }
};
struct IntProduct {
  template <class V>
  static HWY_INLINE V of(V x, V y) {
    return hn::Mul(x, y);
  }
};
struct IntGreatest {
  template <class V>
  static HWY_INLINE V of(V x, V y) {
    return hn::Max(x, y);
  }
};
struct IntLess {
  template <class V>
  static HWY_INLINE V of(V x, V y) {
    return hn::IfThenElseZero(hn::Lt(x, y), hn::Set(IntTag(), 1));
  }
};
struct IntGreater {
  template <class V>
  static HWY_INLINE V of(V x, V y) {
    return IntLess::of(y, x);
  }
};

struct NotRounded {
  static HWY_INLINE Lanes of(Lanes x) { return x; }
};
struct RoundedToBFloat {
  static HWY_INLINE Lanes of(Lanes x) { return rounded_to_bfloat(x); }
};
struct RoundedToHalf {
  static HWY_INLINE Lanes of(Lanes x) { return rounded_to_half(x); }
};
// NaNs of other types have bits that bf16 has not.
struct CastToBFloat {
  static HWY_INLINE Lanes of(Lanes x) { return rounded_to_bfloat(with_plain_nans(LaneTag(), x)); }
};
struct CastIntToFloat {
  static HWY_INLINE Lanes of(Lanes x) { return hn::ConvertTo(LaneTag(), hn::BitCast(IntTag(), x)); }
};
// A NaN is true; Highway's Ne says otherwise on x86.
struct CastToBool {
  static HWY_INLINE Lanes of(Lanes x) { return of_mask(hn::Not(hn::Eq(x, hn::Zero(LaneTag())))); }
};
struct CastIntToBool {
  static HWY_INLINE Lanes of(Lanes x) {
    return hn::BitCast(LaneTag(),
                       hn::IfThenElseZero(hn::Ne(hn::BitCast(IntTag(), x), hn::Zero(IntTag())),
                                          hn::Set(IntTag(), 1)));
  }
};

struct Exp2Lanes {
  static HWY_INLINE Lanes of(Lanes x) { return km::exp2(LaneTag(), x); }
};
struct Log2Lanes {
  static HWY_INLINE Lanes of(Lanes x) { return km::log2(LaneTag(), x); }
};
// Of arguments whose greatest size is_near().
struct SineLanes {
  static HWY_INLINE bool is_near(Lanes size) {
    return hn::AllTrue(LaneTag(), km::sin_is_near(LaneTag(), size));
  }
  static HWY_INLINE Lanes of(Lanes x) { return km::sin_near(LaneTag(), x); }
};
struct ShortSineLanes : SineLanes {
  static HWY_INLINE Lanes of(Lanes x) { return km::short_sin_near(LaneTag(), x); }
};
struct ShorterSineLanes {
  static HWY_INLINE bool is_near(Lanes size) {
    return hn::AllTrue(LaneTag(), km::sin_is_nearer(LaneTag(), size));
  }
  static HWY_INLINE Lanes of(Lanes x) { return km::short_sin_nearer(LaneTag(), x); }
};
// A sine to the nearest bf16: its upper eight bits are what is left when all are moved up and down
// again (Veltkamp). Sums and products may lie between two neighbours, sines never do; and infinite
// they are not.
struct RoundedSine {
  static HWY_INLINE Lanes of(Lanes x) {
    const Lanes moved = hn::Mul(x, hn::Set(LaneTag(), 0x1p16f + 1));
    return hn::Sub(moved, hn::Sub(moved, x));
  }
};
// The greater size. Of a NaN and a number the number, if either: a NaN's sine is NaN, whoever makes
// it.
HWY_INLINE Lanes greater_size(Lanes x, Lanes y) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  constexpr int kGreaterSizeWithoutSign = 0b1011;
  return Lanes{_mm512_range_ps(x.raw, y.raw, kGreaterSizeWithoutSign)};
#else
  return hn::Max(hn::Abs(x), hn::Abs(y));
#endif
}
struct RootLanes {
  static HWY_INLINE Lanes of(Lanes x) { return hn::Sqrt(x); }
};
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
constexpr std::uint32_t kExponentOne = 0x00800000;
constexpr std::uint32_t kRootLess = kHalfLess - kExponentOne, kRootHalf = kHalf - kExponentOne;
// What stands for each kind of argument, four bits each (VFIXUPIMMPS): of both kinds of NaN a NaN,
// of zeros themselves, of −∞ a NaN, of +∞ itself, of negative numbers a NaN.
constexpr std::uint32_t kFixedRoots = 0x03130122;
#endif
// Of bf16, rounded to bf16: the same as if it were exact before. No root of eight bits is within
// 2^-19 of the middle of two neighbours, and a step of Newton's leaves 2^-22.
struct RoundedRootLanes {
  static HWY_INLINE Lanes of(Lanes x) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    // The processor's root takes turns with nothing. Twice the root costs less, and its half
    // nothing: an exponent is one less when what rounds is added.
    const LaneTag d;
    const BitsTag du;
    const Lanes inverse{_mm512_rsqrt14_ps(x.raw)}, near = hn::Mul(x, inverse);
    const Lanes twice = hn::Mul(near, hn::NegMulAdd(near, inverse, hn::Set(d, 3)));
    const Lanes root = hn::BitCast(d, rounded_bits(hn::BitCast(du, twice), kRootLess, kRootHalf));
    // What is its own root: zeros and +infinity. NaN are NaN, and so is what is negative.
    return Lanes{_mm512_fixupimm_ps(root.raw, x.raw, all_lanes(kFixedRoots).raw, 0)};
#else
    return rounded_to_bfloat(hn::Sqrt(x));
#endif
  }
};
struct RecipLanes {
  static HWY_INLINE Lanes of(Lanes x) { return hn::Div(hn::Set(LaneTag(), 1), x); }
};

}  // namespace HWY_NAMESPACE
}  // namespace assay::compiler
HWY_AFTER_NAMESPACE();
#endif
