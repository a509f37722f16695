// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/tile_ops.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/graph/dtypes.h"
#include "compiler/graph/scalar.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compiler/cpu/tile_ops.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include "compiler/cpu/element-inl.h"
#include "kernels/math/exp2_log2_sin-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::compiler {
namespace HWY_NAMESPACE {
namespace {
namespace km = kernels::HWY_NAMESPACE;

// Whole vectors, some at a time, then what is left by way of a copy. `f(at)` does one vector, its
// operands at `in` and `out` moved on by `at` elements.
template <typename In, typename Out, int kOperands, unsigned kSingle, int kUnroll = 4, class F>
HWY_INLINE void for_vectors(const In* const* in, Out* out, std::int64_t count, std::int64_t lanes,
                            const F& f) {
  std::int64_t i = 0;
  const auto one = [&](std::int64_t at) HWY_ATTR __attribute__((always_inline)) {
    f(in[0] + ((kSingle & 1) != 0 ? 0 : at),
      kOperands > 1 ? in[1] + ((kSingle & 2) != 0 ? 0 : at) : nullptr, out + at);
  };
  for (; i + kUnroll * lanes <= count; i += kUnroll * lanes) {
#pragma GCC unroll 4
    for (int u = 0; u < kUnroll; ++u) one(i + u * lanes);
  }
  for (; i + lanes <= count; i += lanes) one(i);
  if (i == count) return;
  constexpr std::size_t kMost = hn::MaxLanes(hn::ScalableTag<std::uint8_t>());
  In rest[2][kMost] = {};
  Out result[kMost];
  for (int operand = 0; operand < kOperands; ++operand) {
    if ((kSingle >> operand & 1) == 0)
      std::copy(in[operand] + i, in[operand] + count, rest[operand]);
  }
  f((kSingle & 1) != 0 ? in[0] : rest[0], kOperands > 1 && (kSingle & 2) != 0 ? in[1] : rest[1],
    result);
  std::copy(result, result + (count - i), out + i);
}

struct AddOf {
  template <class D, class V>
  static HWY_INLINE V of(D, V a, V b) {
    if constexpr (sizeof(hn::TFromD<D>) == 1)
      return hn::Or(a, b);
    else
      return hn::Add(a, b);
  }
};
struct MulOf {
  template <class D, class V>
  static HWY_INLINE V of(D d, V a, V b) {
    if constexpr (sizeof(hn::TFromD<D>) == 1) {
      return hn::And(a, b);
    } else if constexpr (std::is_same_v<hn::TFromD<D>, std::int64_t>) {
      HWY_ALIGN std::int64_t x[hn::MaxLanes(D())], y[hn::MaxLanes(D())];
      hn::Store(a, d, x);
      hn::Store(b, d, y);
      for (std::size_t i = 0; i < hn::Lanes(d); ++i) x[i] = wrapped_mul(x[i], y[i]);
      return hn::Load(d, x);
    } else {
      return hn::Mul(a, b);
    }
  }
};
struct DivOf {
  template <class D, class V>
  static HWY_INLINE V of(D, V a, V b) {
    return hn::Div(a, b);
  }
};
struct MaxOf {
  template <class D, class V>
  static HWY_INLINE V of(D d, V a, V b) {
    return greatest(d, a, b);
  }
};
struct LessOf {};

template <typename T, class F, unsigned kSingle>
void binary(const void* const* operands, void* to, std::int64_t count) {
  const ComputedTag<T> d;
  using Out = std::conditional_t<std::is_same_v<F, LessOf>, bool, T>;
  const T* in[] = {static_cast<const T*>(operands[0]), static_cast<const T*>(operands[1])};
  const auto wide = [&](const T* x) HWY_ATTR {
    T all[hn::MaxLanes(d)];
    std::fill_n(all, hn::MaxLanes(d), *x);
    return load_elements(d, all);
  };
  const auto lone_a = (kSingle & 1) != 0 ? wide(in[0]) : hn::Zero(d);
  const auto lone_b = (kSingle & 2) != 0 ? wide(in[1]) : hn::Zero(d);
  for_vectors<T, Out, 2, kSingle>(
      in, static_cast<Out*>(to), count, static_cast<std::int64_t>(hn::Lanes(d)),
      [&](const T* a, const T* b, Out* out) HWY_ATTR __attribute__((always_inline)) {
        const auto x = (kSingle & 1) != 0 ? lone_a : load_elements(d, a);
        const auto y = (kSingle & 2) != 0 ? lone_b : load_elements(d, b);
        if constexpr (std::is_same_v<F, LessOf>)
          store_mask(d, hn::Lt(x, y), out);
        else
          store_elements(d, F::of(d, x, y), out);
      });
}

template <typename T, class F>
TileOp binary_form(unsigned single) {
  switch (single) {
    case 0:
      return binary<T, F, 0>;
    case 1:
      return binary<T, F, 1>;
    case 2:
      return binary<T, F, 2>;
    default:
      return nullptr;
  }
}

struct Exp2Of {
  template <class D, class V>
  static HWY_INLINE V of(D d, V x) {
    return km::exp2(d, x);
  }
};
struct Log2Of {
  template <class D, class V>
  static HWY_INLINE V of(D d, V x) {
    return km::log2(d, x);
  }
};
struct SinOf {
  template <class D, class V>
  static HWY_INLINE V of(D d, V x) {
    return km::sin(d, x);
  }
};
struct SqrtOf {
  template <class D, class V>
  static HWY_INLINE V of(D, V x) {
    return hn::Sqrt(x);
  }
};
struct RecipOf {
  template <class D, class V>
  static HWY_INLINE V of(D d, V x) {
    return hn::Div(hn::Set(d, 1), x);
  }
};
// Between f16, bf16 and f32: NaNs of f32 have bits that bf16 has not.
struct SameOf {
  template <class D, class V>
  static HWY_INLINE V of(D, V x) {
    return x;
  }
};
struct PlainNanOf {
  template <class D, class V>
  static HWY_INLINE V of(D d, V x) {
    return with_plain_nans(d, x);
  }
};

template <typename In, typename Out, class F>
void unary(const void* const* operands, void* to, std::int64_t count) {
  const ComputedTag<In> d;
  const In* in[] = {static_cast<const In*>(operands[0])};
  for_vectors<In, Out, 1, 0>(
      in, static_cast<Out*>(to), count, static_cast<std::int64_t>(hn::Lanes(d)),
      [&](const In* x, const In*, Out* out) HWY_ATTR
      __attribute__((always_inline)) { store_elements(d, F::of(d, load_elements(d, x)), out); });
}

void float_of_int(const void* const* operands, void* to, std::int64_t count) {
  const hn::ScalableTag<float> d;
  const hn::ScalableTag<std::int32_t> di;
  const std::int32_t* in[] = {static_cast<const std::int32_t*>(operands[0])};
  for_vectors<std::int32_t, float, 1, 0>(
      in, static_cast<float*>(to), count, static_cast<std::int64_t>(hn::Lanes(d)),
      [&](const std::int32_t* x, const std::int32_t*, float* out) HWY_ATTR
      __attribute__((always_inline)) { hn::StoreU(hn::ConvertTo(d, hn::LoadU(di, x)), d, out); });
}

// One after the other, as the plain loops have it: what is rare, or has no vector form.
template <typename From, typename To>
void cast_each(const void* const* in, void* to, std::int64_t count) {
  const From* x = static_cast<const From*>(in[0]);
  To* out = static_cast<To*>(to);
  for (std::int64_t i = 0; i < count; ++i) out[i] = converted_to<From, To>(x[i]);
}
template <typename T>
void mod_each(const void* const* in, void* to, std::int64_t count) {
  const T *x = static_cast<const T*>(in[0]), *y = static_cast<const T*>(in[1]);
  T* out = static_cast<T*>(to);
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = narrowed<T>(remainder_of(widened(x[i]), widened(y[i])));
}

template <typename From, typename To>
TileOp cast_form() {
  constexpr bool kFromShort = std::is_same_v<Computed<From>, float>;
  constexpr bool kToShort = std::is_same_v<Computed<To>, float>;
  if constexpr (kFromShort && kToShort) {
    if constexpr (std::is_same_v<To, BFloat16> && !std::is_same_v<From, BFloat16>)
      return unary<From, To, PlainNanOf>;
    else
      return unary<From, To, SameOf>;
  } else if constexpr (std::is_same_v<From, std::int32_t> && std::is_same_v<To, float>) {
    return float_of_int;
  } else {
    return cast_each<From, To>;
  }
}

// By the bytes of an element, whatever it is.
template <typename Bits, unsigned kSingle>
void select(const void* const* in, void* to, std::int64_t count) {
  const bool* condition = static_cast<const bool*>(in[0]);
  const Bits *yes = static_cast<const Bits*>(in[1]), *no = static_cast<const Bits*>(in[2]);
  Bits* HWY_RESTRICT out = static_cast<Bits*>(to);
  for (std::int64_t i = 0; i < count; ++i) {
    // Both are read, so that the loop has no branch.
    const Bits a = yes[(kSingle & 2) != 0 ? 0 : i], b = no[(kSingle & 4) != 0 ? 0 : i];
    out[i] = condition[i] ? a : b;
  }
}
template <typename Bits>
TileOp select_form(unsigned single) {
  switch (single) {
    case 0:
      return select<Bits, 0>;
    case 2:
      return select<Bits, 2>;
    case 4:
      return select<Bits, 4>;
    case 6:
      return select<Bits, 6>;
    default:
      return nullptr;
  }
}
TileOp select_of(DType dtype, unsigned single) {
  switch (size_of(dtype)) {
    case 1:
      return select_form<std::uint8_t>(single);
    case 2:
      return select_form<std::uint16_t>(single);
    case 4:
      return select_form<std::uint32_t>(single);
    default:
      return select_form<std::uint64_t>(single);
  }
}

template <typename T>
TileOp arithmetic(Op op, unsigned single) {
  switch (op) {
    case Op::kAdd:
      return binary_form<T, AddOf>(single);
    case Op::kMul:
      return binary_form<T, MulOf>(single);
    case Op::kMax:
      return binary_form<T, MaxOf>(single);
    case Op::kLess:
      return binary_form<T, LessOf>(single);
    case Op::kDiv:
      if constexpr (kIsFloating<T>) return binary_form<T, DivOf>(single);
      break;
    default:
      break;
  }
  if (single != 0) return nullptr;
  if constexpr (!std::is_same_v<T, bool>) {
    if (op == Op::kMod) return mod_each<T>;
  }
  if constexpr (kIsFloating<T>) {
    switch (op) {
      case Op::kExp2:
        return unary<T, T, Exp2Of>;
      case Op::kLog2:
        return unary<T, T, Log2Of>;
      case Op::kSin:
        return unary<T, T, SinOf>;
      case Op::kSqrt:
        return unary<T, T, SqrtOf>;
      case Op::kRecip:
        return unary<T, T, RecipOf>;
      default:
        break;
    }
  }
  throw InternalError("a primitive has a form for its dtype");
}

TileOp find(Op op, DType from, DType to, unsigned single) {
  if (op == Op::kSelect) return select_of(to, single);
  return visit_graph_dtype(from, [&]<typename From>(std::type_identity<From>) -> TileOp {
    if (op != Op::kCast) return arithmetic<From>(op, single);
    if (single != 0) return nullptr;
    return visit_graph_dtype(
        to, []<typename To>(std::type_identity<To>) -> TileOp { return cast_form<From, To>(); });
  });
}

constexpr TileOps kTable{find};
const TileOps* tile_ops_table() { return &kTable; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::compiler
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::compiler {

HWY_EXPORT(tile_ops_table);
const TileOps& tile_ops() { return *HWY_DYNAMIC_DISPATCH(tile_ops_table)(); }

}  // namespace assay::compiler
#endif
