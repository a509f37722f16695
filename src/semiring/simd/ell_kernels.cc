// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/simd/ell_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "semiring/simd/scaled_distance.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semiring/simd/ell_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include "kernels/dispatch.h"
#include "semiring/simd/exact-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::semiring::simd {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON
constexpr int kSumVectors = 8, kPairVectors = 8;  // 32 registers
#else
constexpr int kSumVectors = 8, kPairVectors = 4;
#endif

// How a term is made and reduced. kVectors of features fit the registers. `suspect` of the state of
// one row and vector says that NaN may have been lost, and `careful` is the reduction that keeps
// it. States have constructors written out, for the reason given at LogState.

struct RealEdges {
  static constexpr int kVectors = kSumVectors;
  template <class D>
  struct State {
    hn::Vec<D> sum;
    HWY_INLINE State() {}
    HWY_INLINE void clear(D d) { sum = hn::Zero(d); }
    HWY_INLINE void add(hn::Vec<D> w, hn::Vec<D> x) { sum = hn::MulAdd(w, x, sum); }
    HWY_INLINE hn::Vec<D> result() const { return sum; }
    HWY_INLINE bool suspect(D) const { return false; }
  };
  template <typename T>
  static T careful(T, T, T) {
    return 0;
  }
};

struct BitEdges {
  static constexpr int kVectors = kSumVectors;
  template <class D>
  struct State {
    hn::Vec<D> any;
    HWY_INLINE State() {}
    HWY_INLINE void clear(D d) { any = hn::Zero(d); }
    HWY_INLINE void add(hn::Vec<D> w, hn::Vec<D> x) { any = hn::OrAnd(any, w, x); }
    HWY_INLINE hn::Vec<D> result() const { return any; }
    HWY_INLINE bool suspect(D) const { return false; }
  };
  template <typename T>
  static T careful(T, T, T) {
    return 0;
  }
};

struct TimesTerm {
  template <class V>
  static HWY_INLINE V of(V w, V x) {
    return hn::Mul(w, x);
  }
  template <typename T>
  static T scalar(T w, T x) {
    return w * x;
  }
};
struct PlusTerm {
  template <class V>
  static HWY_INLINE V of(V w, V x) {
    return hn::Add(w, x);
  }
  template <typename T>
  static T scalar(T w, T x) {
    return w + x;
  }
};

// Comparisons lose NaN: beside them the terms are added up, and a sum that is NaN is a suspicion
// (opposite infinities raise it too, which only costs time).
template <class Term, bool kLargest>
struct CompareEdges {
  static constexpr int kVectors = kPairVectors;
  template <class D>
  struct State {
    hn::Vec<D> best, sum;
    HWY_INLINE State() {}
    HWY_INLINE void clear(D d) {
      constexpr auto kInfinity = std::numeric_limits<hn::TFromD<D>>::infinity();
      best = hn::Set(d, kLargest ? -kInfinity : kInfinity);
      sum = hn::Zero(d);
    }
    HWY_INLINE void add(hn::Vec<D> w, hn::Vec<D> x) {
      const hn::Vec<D> term = Term::of(w, x);
      best = kLargest ? hn::Max(term, best) : hn::Min(term, best);
      sum = hn::Add(sum, term);
    }
    HWY_INLINE hn::Vec<D> result() const { return best; }
    HWY_INLINE bool suspect(D d) const { return !hn::AllFalse(d, hn::IsNaN(sum)); }
  };
  template <typename T>
  static T careful(T best, T w, T x) {
    const T term = Term::scalar(w, x);
    if (best != best || term != term) return std::numeric_limits<T>::quiet_NaN();
    return (kLargest ? term > best : term < best) ? term : best;
  }
};

// One feature of one row with NaN kept, whatever comes.
template <class Ops, typename T>
T careful_entry(const EdgeBlock<T>& edges, std::int32_t begin, std::int32_t end,
                const FeatureRows<T>& x, std::int64_t f, T zero) {
  T best = zero;
  for (std::int32_t e = begin; e < end; ++e) {
    best = Ops::careful(best, edges.weights[e], x.data[edges.sources[e] * x.stride + f]);
  }
  return best;
}

template <class D, int kVectors, typename T>
HWY_INLINE void prefetch_row(const T* row) {
  constexpr int kBytes = kVectors * static_cast<int>(hn::MaxLanes(D()) * sizeof(T));
  for (int at = 0; at < kBytes; at += 64) {
    hwy::Prefetch(reinterpret_cast<const char*>(row) + at);
  }
}

// Features [f, f + kVectors·lanes) of every row of the block.
template <class Ops, int kVectors, class D, typename T>
HWY_INLINE void reduce_tile(D d, const EdgeBlock<T>& edges, const FeatureRows<T>& x, std::int64_t f,
                            T* HWY_RESTRICT out, std::int64_t out_stride) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const T* HWY_RESTRICT base = x.data + f;
  std::int32_t begin = 0;
  for (int r = 0; r < edges.rows; ++r) {
    const std::int32_t end = edges.row_ends[r];
    typename Ops::template State<D> state[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) state[v].clear(d);
    for (std::int32_t e = begin; e < end; ++e) {
      prefetch_row<D, kVectors>(base + edges.sources[e + EdgeBlock<T>::kPrefetch] * x.stride);
      const T* from = base + edges.sources[e] * x.stride;
      const auto weight = hn::Set(d, edges.weights[e]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) state[v].add(weight, hn::LoadU(d, from + v * lanes));
    }
    T* to = out + r * out_stride + f;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(state[v].result(), d, to + v * lanes);
      if (HWY_UNLIKELY(state[v].suspect(d))) {
        typename Ops::template State<D> none;
        none.clear(d);
        const T zero = hn::GetLane(none.result());
        for (std::int64_t s = v * lanes; s < (v + 1) * lanes; ++s) {
          to[s] = careful_entry<Ops>(edges, begin, end, x, f + s, zero);
        }
      }
    }
    begin = end;
  }
}

// log Σ exp over the edges: the largest term first, then the exponentials.
struct LogEdges {};
template <class D, typename T>
HWY_INLINE void reduce_log_tile(D d, const EdgeBlock<T>& edges, const FeatureRows<T>& x,
                                std::int64_t f, T* HWY_RESTRICT out, std::int64_t out_stride) {
  using V = hn::Vec<D>;
  const T* HWY_RESTRICT base = x.data + f;
  std::int32_t begin = 0;
  for (int r = 0; r < edges.rows; ++r) {
    const std::int32_t end = edges.row_ends[r];
    LogState<D> state;
    state.clear(d);
    V largest = state.max;
    for (std::int32_t e = begin; e < end; ++e) {
      prefetch_row<D, 1>(base + edges.sources[e + EdgeBlock<T>::kPrefetch] * x.stride);
      const V term =
          hn::Add(hn::Set(d, edges.weights[e]), hn::LoadU(d, base + edges.sources[e] * x.stride));
      largest = hn::Max(term, largest);
      state.has_nan = hn::Or(state.has_nan, hn::IsNaN(term));
    }
    const V shift = state.raise(d, largest);
    for (std::int32_t e = begin; e < end; ++e) {
      const V term =
          hn::Add(hn::Set(d, edges.weights[e]), hn::LoadU(d, base + edges.sources[e] * x.stride));
      state.sum = hn::Add(state.sum, exp_nonpositive(d, hn::Sub(term, shift), hn::Zero(d)));
    }
    hn::StoreU(state.finish(d), d, out + r * out_stride + f);
    begin = end;
  }
}

// √ Σ (w − x)². Where squares overflow or vanish, the differences are scaled first.
struct EuclideanEdges {};
template <class D, typename T>
HWY_INLINE void reduce_euclidean_tile(D d, const EdgeBlock<T>& edges, const FeatureRows<T>& x,
                                      std::int64_t f, T* HWY_RESTRICT out,
                                      std::int64_t out_stride) {
  using V = hn::Vec<D>;
  const T* HWY_RESTRICT base = x.data + f;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int32_t begin = 0;
  for (int r = 0; r < edges.rows; ++r) {
    const std::int32_t end = edges.row_ends[r];
    V sum = hn::Zero(d);
    for (std::int32_t e = begin; e < end; ++e) {
      prefetch_row<D, 1>(base + edges.sources[e + EdgeBlock<T>::kPrefetch] * x.stride);
      const V difference =
          hn::Sub(hn::Set(d, edges.weights[e]), hn::LoadU(d, base + edges.sources[e] * x.stride));
      sum = hn::MulAdd(difference, difference, sum);
    }
    T* to = out + r * out_stride + f;
    hn::StoreU(hn::Sqrt(sum), d, to);
    const V least =
        hn::Set(d, 16 * std::numeric_limits<T>::min() * static_cast<T>(std::max(1, end - begin)));
    const V most = hn::Set(d, std::numeric_limits<T>::max() / 16);
    const auto good = hn::And(hn::Ge(sum, least), hn::Le(sum, most));
    if (HWY_UNLIKELY(!hn::AllTrue(d, good))) {
      for (std::int64_t s = 0; s < lanes; ++s) {
        to[s] = static_cast<T>(scaled_distance(end - begin, end - begin, [&](std::int64_t e) {
          const std::int64_t edge = begin + e;
          return static_cast<double>(edges.weights[edge]) -
                 static_cast<double>(base[edges.sources[edge] * x.stride + s]);
        }));
      }
    }
    begin = end;
  }
}

// All features: tiles of many vectors, of one, and for the last few features one that overlaps the
// tile before it, or a shorter vector where there is none.
template <class Ops, class D, typename T>
HWY_INLINE void one_vector(D d, const EdgeBlock<T>& edges, const FeatureRows<T>& x, std::int64_t f,
                           T* out, std::int64_t out_stride) {
  if constexpr (std::is_same_v<Ops, LogEdges>) {
    reduce_log_tile(d, edges, x, f, out, out_stride);
  } else if constexpr (std::is_same_v<Ops, EuclideanEdges>) {
    reduce_euclidean_tile(d, edges, x, f, out, out_stride);
  } else {
    reduce_tile<Ops, 1>(d, edges, x, f, out, out_stride);
  }
}

template <class Ops, class D, typename T>
void from_feature(D d, std::int64_t f, const EdgeBlock<T>& edges, const FeatureRows<T>& x, T* out,
                  std::int64_t out_stride) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (; f + lanes <= x.features; f += lanes) one_vector<Ops>(d, edges, x, f, out, out_stride);
  if (f == x.features) return;
  if (x.features >= lanes) {
    one_vector<Ops>(d, edges, x, x.features - lanes, out, out_stride);
  } else if constexpr (hn::MaxLanes(D()) > 1) {
    from_feature<Ops>(hn::CappedTag<T, hn::MaxLanes(D()) / 2>(), f, edges, x, out, out_stride);
  }
}

template <class Ops, typename T>
void reduce(const EdgeBlock<T>& edges, const FeatureRows<T>& x, T* out, std::int64_t out_stride) {
  const hn::ScalableTag<T> d;
  std::int64_t f = 0;
  if constexpr (!std::is_same_v<Ops, LogEdges> && !std::is_same_v<Ops, EuclideanEdges>) {
    constexpr int kMany = Ops::kVectors, kFew = Ops::kVectors / 2, kPair = 2;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; f + kMany * lanes <= x.features; f += kMany * lanes) {
      reduce_tile<Ops, kMany>(d, edges, x, f, out, out_stride);
    }
    for (; f + kFew * lanes <= x.features; f += kFew * lanes) {
      reduce_tile<Ops, kFew>(d, edges, x, f, out, out_stride);
    }
    for (; f + kPair * lanes <= x.features; f += kPair * lanes) {
      reduce_tile<Ops, kPair>(d, edges, x, f, out, out_stride);
    }
  }
  from_feature<Ops>(d, f, edges, x, out, out_stride);
}

template <typename T>
constexpr EllKernels<T> kTable{reduce<RealEdges, T>,
                               reduce<LogEdges, T>,
                               reduce<CompareEdges<PlusTerm, true>, T>,
                               reduce<CompareEdges<PlusTerm, false>, T>,
                               reduce<EuclideanEdges, T>,
                               reduce<CompareEdges<TimesTerm, true>, T>};

const EllKernels<float>* ell_kernels_f32() { return &kTable<float>; }
const EllKernels<double>* ell_kernels_f64() { return &kTable<double>; }
EdgeReduction<std::uint8_t> boolean_ell() { return reduce<BitEdges, std::uint8_t>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::semiring::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::semiring::simd {

ASSAY_DISPATCH(EllKernels, ell_kernels);
HWY_EXPORT(boolean_ell);

EdgeReduction<std::uint8_t> boolean_ell_kernel() { return HWY_DYNAMIC_DISPATCH(boolean_ell)(); }

}  // namespace assay::semiring::simd
#endif
