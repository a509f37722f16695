// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/tile_reductions.h"

#include <algorithm>
#include <concepts>
#include <limits>

#include "compiler/graph/dtypes.h"
#include "compiler/graph/scalar.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compiler/cpu/tile_reductions.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include "compiler/cpu/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::compiler {
namespace HWY_NAMESPACE {
namespace {

// Vectors are added up in the computed type over one tile, tiles in f64.
template <typename T>
void sum(const void* x, std::int64_t count, TileReduction& so_far) {
  const T* in = static_cast<const T*>(x);
  if constexpr (kIsFloating<T>) {
    const ComputedTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    hn::Vec<ComputedTag<T>> sums[4];
    for (auto& part : sums) part = hn::Zero(d);
    std::int64_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
#pragma GCC unroll 4
      for (int u = 0; u < 4; ++u) sums[u] = hn::Add(sums[u], load_elements(d, in + i + u * lanes));
    }
    for (; i + lanes <= count; i += lanes) sums[0] = hn::Add(sums[0], load_elements(d, in + i));
    const auto all = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
    so_far.f += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, all)));
    for (; i < count; ++i) so_far.f += widened(in[i]);
  } else if constexpr (std::is_same_v<T, bool>) {
    for (std::int64_t i = 0; i < count; ++i) so_far.i |= in[i] ? 1 : 0;
  } else {
    auto all = static_cast<std::uint64_t>(so_far.i);
    for (std::int64_t i = 0; i < count; ++i) all += static_cast<std::uint64_t>(in[i]);
    so_far.i = static_cast<std::int64_t>(all);
  }
}

template <typename T>
void maximum(const void* x, std::int64_t count, TileReduction& so_far) {
  const T* in = static_cast<const T*>(x);
  if constexpr (kIsFloating<T>) {
    const ComputedTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    using V = hn::Vec<ComputedTag<T>>;
    std::int64_t i = 0;
    if (count >= 4 * lanes) {
      V most[4];
#pragma GCC unroll 4
      for (int u = 0; u < 4; ++u) most[u] = load_elements(d, in + u * lanes);
      for (i = 4 * lanes; i + 4 * lanes <= count; i += 4 * lanes) {
#pragma GCC unroll 4
        for (int u = 0; u < 4; ++u)
          most[u] = greatest(d, most[u], load_elements(d, in + i + u * lanes));
      }
      const V all = greatest(d, greatest(d, most[0], most[1]), greatest(d, most[2], most[3]));
      HWY_ALIGN Computed<T> each[hn::MaxLanes(ComputedTag<T>())];
      hn::Store(all, d, each);
      for (std::int64_t lane = 0; lane < lanes; ++lane)
        so_far.f = greatest_of(so_far.f, static_cast<double>(each[lane]));
    }
    for (; i < count; ++i) so_far.f = greatest_of(so_far.f, widened(in[i]));
  } else {
    for (std::int64_t i = 0; i < count; ++i)
      so_far.i = std::max(so_far.i, static_cast<std::int64_t>(in[i]));
  }
}

// Some rows in vectors, the rest one by one; both add up a tile's columns in their order and in the
// computed type.
template <typename T, class Along>
void down_columns(const void* x, std::int64_t rows, std::int64_t columns, TileReduction* so_far,
                  const Along& along) {
  const T* in = static_cast<const T*>(x);
  std::int64_t r = 0;
  if constexpr (kIsFloating<T>) {
    constexpr int kVectors = 4;
    const ComputedTag<T> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    HWY_ALIGN Computed<T> each[kVectors * hn::MaxLanes(ComputedTag<T>())];
    for (; r + kVectors * lanes <= rows; r += kVectors * lanes) {
      hn::Vec<ComputedTag<T>> all[kVectors];
#pragma GCC unroll 4
      for (int u = 0; u < kVectors; ++u) all[u] = load_elements(d, in + r + u * lanes);
      for (std::int64_t c = 1; c < columns; ++c) {
#pragma GCC unroll 4
        for (int u = 0; u < kVectors; ++u)
          all[u] = along.of_vectors(d, all[u], load_elements(d, in + c * rows + r + u * lanes));
      }
#pragma GCC unroll 4
      for (int u = 0; u < kVectors; ++u) hn::Store(all[u], d, each + u * lanes);
      for (std::int64_t i = 0; i < kVectors * lanes; ++i)
        along.take(so_far[r + i], static_cast<double>(each[i]));
    }
  }
  for (; r < rows; ++r) {
    if constexpr (kIsFloating<T>) {
      auto all = static_cast<Computed<T>>(widened(in[r]));
      for (std::int64_t c = 1; c < columns; ++c)
        all = along.of_numbers(all, static_cast<Computed<T>>(widened(in[c * rows + r])));
      along.take(so_far[r], static_cast<double>(all));
    } else {
      for (std::int64_t c = 0; c < columns; ++c) along.take(so_far[r], in[c * rows + r]);
    }
  }
}

struct Sums {
  template <class D, class V>
  V of_vectors(D, V a, V b) const {
    return hn::Add(a, b);
  }
  template <typename C>
  C of_numbers(C a, C b) const {
    return a + b;
  }
  void take(TileReduction& so_far, double x) const { so_far.f += x; }
  void take(TileReduction& so_far, bool x) const { so_far.i |= x ? 1 : 0; }
  template <std::signed_integral I>
  void take(TileReduction& so_far, I x) const {
    so_far.i = static_cast<std::int64_t>(static_cast<std::uint64_t>(so_far.i) +
                                         static_cast<std::uint64_t>(x));
  }
};
struct Greatest {
  template <class D, class V>
  V of_vectors(D d, V a, V b) const {
    return greatest(d, a, b);
  }
  template <typename C>
  C of_numbers(C a, C b) const {
    return static_cast<C>(greatest_of(static_cast<double>(a), static_cast<double>(b)));
  }
  void take(TileReduction& so_far, double x) const { so_far.f = greatest_of(so_far.f, x); }
  template <std::integral I>
  void take(TileReduction& so_far, I x) const {
    so_far.i = std::max(so_far.i, static_cast<std::int64_t>(x));
  }
};

template <typename T>
void sum_down(const void* x, std::int64_t rows, std::int64_t columns, TileReduction* so_far) {
  down_columns<T>(x, rows, columns, so_far, Sums());
}
template <typename T>
void maximum_down(const void* x, std::int64_t rows, std::int64_t columns, TileReduction* so_far) {
  down_columns<T>(x, rows, columns, so_far, Greatest());
}

TileReduce find_reduce(Op op, DType dtype) {
  return visit_graph_dtype(dtype, [&]<typename T>(std::type_identity<T>) -> TileReduce {
    if (op == Op::kSum) return {sum<T>, sum_down<T>};
    return {maximum<T>, maximum_down<T>};
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::compiler
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::compiler {

HWY_EXPORT(find_reduce);
TileReduce find_tile_reduce(Op op, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(find_reduce)(op, dtype);
}

TileReduction reduction_start(Op op, DType dtype) {
  if (op == Op::kSum) return {};
  return {-std::numeric_limits<double>::infinity(),
          dtype == DType::kBool ? 0 : std::numeric_limits<std::int64_t>::min()};
}

void store_reduction(const TileReduction& reduction, DType dtype, void* to) {
  visit_graph_dtype(dtype, [&]<typename T>(std::type_identity<T>) {
    if constexpr (kIsFloating<T>)
      *static_cast<T*>(to) = narrowed<T>(reduction.f);
    else
      *static_cast<T*>(to) = static_cast<T>(reduction.i);
  });
}

}  // namespace assay::compiler
#endif
