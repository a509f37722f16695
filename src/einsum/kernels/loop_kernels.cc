// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/kernels/loop_kernels.h"

#include <cstdlib>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "einsum/kernels/loop_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what they are compiled for.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::einsum {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// What x is multiplied by.
enum class By { kOne, kScalar, kVector };

template <class D>
HWY_INLINE std::int64_t lanes_of(D d) {
  return static_cast<std::int64_t>(hn::Lanes(d));
}

// Puts `planes` rows of n elements into c, whose elements are t.ci apart: along what is closer
// first.
template <typename T>
HWY_NOINLINE void scatter(const LoopTile<T>& t, const T* HWY_RESTRICT sums, std::int64_t planes,
                          std::int64_t n, T* HWY_RESTRICT c) {
  const auto put = [&](std::int64_t q, std::int64_t i) HWY_ATTR {
    T& to = c[q * t.cp + i * t.ci];
    to = t.reads ? sums[q * n + i] + t.beta * to : sums[q * n + i];
  };
  if (planes > 1 && std::abs(t.cp) < std::abs(t.ci)) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t q = 0; q < planes; ++q) put(q, i);
    }
  } else {
    for (std::int64_t q = 0; q < planes; ++q) {
      for (std::int64_t i = 0; i < n; ++i) put(q, i);
    }
  }
}

// kPlanes values of p, kVectors vectors of i, all k. kShared: x is the same for all p.
template <int kPlanes, int kVectors, By kBy, bool kShared, class D, typename T>
HWY_INLINE void row_tile(D d, const LoopTile<T>& t, std::int64_t p, std::int64_t i) {
  using V = hn::Vec<D>;
  const std::int64_t n = lanes_of(d);
  const T* HWY_RESTRICT x = t.x + p * t.xp + i;
  const T* HWY_RESTRICT y = kBy == By::kOne ? nullptr : t.y + p * t.yp + i * t.yi;
  V sums[kPlanes * kVectors];
  for (int s = 0; s < kPlanes * kVectors; ++s) sums[s] = hn::Zero(d);
  for (std::int64_t h = 0; h < t.h; ++h) {
    for (std::int64_t k = 0; k < t.k; ++k) {
      V shared[kVectors];
      if constexpr (kShared) {
        for (int v = 0; v < kVectors; ++v) shared[v] = hn::LoadU(d, x + v * n);
      }
      for (int q = 0; q < kPlanes; ++q) {
        V scalar = hn::Zero(d);
        if constexpr (kBy == By::kScalar) scalar = hn::Set(d, y[q * t.yp]);
        for (int v = 0; v < kVectors; ++v) {
          V& sum = sums[q * kVectors + v];
          V own;
          if constexpr (kShared) {
            own = shared[v];
          } else {
            own = hn::LoadU(d, x + q * t.xp + v * n);
          }
          if constexpr (kBy == By::kOne) {
            sum = hn::Add(sum, own);
          } else if constexpr (kBy == By::kScalar) {
            sum = hn::MulAdd(own, scalar, sum);
          } else {
            sum = hn::MulAdd(own, hn::LoadU(d, y + q * t.yp + v * n), sum);
          }
        }
      }
      x += t.xk;
      if constexpr (kBy != By::kOne) y += t.yk;
    }
    x += t.xh - t.k * t.xk;
    if constexpr (kBy != By::kOne) y += t.yh - t.k * t.yk;
  }
  // One kind of writing for a whole tile: loops around branches would not be unrolled, and the sums
  // not stay in registers.
  const V alpha = hn::Set(d, t.alpha), beta = hn::Set(d, t.beta);
  T* HWY_RESTRICT c = t.c + p * t.cp + i * t.ci;
  for (int s = 0; s < kPlanes * kVectors; ++s) sums[s] = hn::Mul(sums[s], alpha);
  if (t.ci != 1) {
    HWY_ALIGN T buffer[kPlanes * kVectors * hn::MaxLanes(D())];
    for (int s = 0; s < kPlanes * kVectors; ++s) hn::StoreU(sums[s], d, buffer + s * n);
    scatter(t, buffer, kPlanes, kVectors * n, c);
  } else if (t.reads) {
    for (int q = 0; q < kPlanes; ++q) {
      for (int v = 0; v < kVectors; ++v) {
        T* const at = c + q * t.cp + v * n;
        hn::StoreU(hn::MulAdd(hn::LoadU(d, at), beta, sums[q * kVectors + v]), d, at);
      }
    }
  } else {
    for (int q = 0; q < kPlanes; ++q) {
      for (int v = 0; v < kVectors; ++v) {
        hn::StoreU(sums[q * kVectors + v], d, c + q * t.cp + v * n);
      }
    }
  }
}

// The rest of a row, which whole blocks leave, in ever shorter vectors.
template <int kPlanes, By kBy, bool kShared, class D, typename T>
HWY_INLINE void row_rest(D d, const LoopTile<T>& t, std::int64_t p, std::int64_t i) {
  for (; i + lanes_of(d) <= t.i; i += lanes_of(d)) row_tile<kPlanes, 1, kBy, kShared>(d, t, p, i);
  if constexpr (hn::MaxLanes(D()) > 1) {
    if (i < t.i)
      row_rest<kPlanes, kBy, kShared>(hn::CappedTag<T, hn::MaxLanes(D()) / 2>(), t, p, i);
  }
}

// All p that share x: a block of it stays in the nearest cache meanwhile.
template <By kBy, class D, typename T>
HWY_INLINE void shared_block(D d, const LoopTile<T>& t, std::int64_t i, bool whole) {
  std::int64_t p = 0;
  for (; p + 4 <= t.p; p += 4) {
    whole ? row_tile<4, 2, kBy, true>(d, t, p, i) : row_rest<4, kBy, true>(d, t, p, i);
  }
  if (p + 2 <= t.p) {
    whole ? row_tile<2, 2, kBy, true>(d, t, p, i) : row_rest<2, kBy, true>(d, t, p, i);
    p += 2;
  }
  if (p < t.p) whole ? row_tile<1, 2, kBy, true>(d, t, p, i) : row_rest<1, kBy, true>(d, t, p, i);
}

template <By kBy, typename T>
void shared_rows(const LoopTile<T>& t) {
  const hn::ScalableTag<T> d;
  const std::int64_t block = 2 * lanes_of(d), whole = t.i / block * block;
  for (std::int64_t i = 0; i < whole; i += block) shared_block<kBy>(d, t, i, true);
  if (whole < t.i) shared_block<kBy>(d, t, whole, false);
}

// Row after row, as they lie: longer blocks of one p at a time. Rests of rows are done together,
// where several sums hide each other's latency.
template <By kBy, typename T>
void own_rows(const LoopTile<T>& t) {
  const hn::ScalableTag<T> d;
  const std::int64_t block = 4 * lanes_of(d), whole = t.ci == 1 ? t.i / block * block : 0;
  std::int64_t p = 0;
  while (p < t.p) {
    const std::int64_t together = HWY_MIN(t.p - p, kTilePlanes);
    for (std::int64_t q = p; q < p + together; ++q) {
      for (std::int64_t i = 0; i < whole; i += block) row_tile<1, 4, kBy, false>(d, t, q, i);
    }
    const std::int64_t end = p + together;
    if (whole < t.i) {
      if (together == 4) {
        row_rest<4, kBy, false>(d, t, p, whole);
      } else {
        for (std::int64_t q = p; q < end; ++q) row_rest<1, kBy, false>(d, t, q, whole);
      }
    }
    p = end;
  }
}

// kPlanes sums over k and i, with kChains partial ones each. kShared: y is the same for all p.
template <int kPlanes, int kChains, bool kOne, bool kShared, typename T>
HWY_INLINE void sum_tile(const LoopTile<T>& t, std::int64_t p) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::int64_t n = lanes_of(d), whole = t.i / (n * kChains) * (n * kChains);
  const T* HWY_RESTRICT x = t.x + p * t.xp;
  const T* HWY_RESTRICT y = kOne ? nullptr : t.y + p * t.yp;
  V sums[kPlanes * kChains];
  T rest[kPlanes] = {};
  for (int s = 0; s < kPlanes * kChains; ++s) sums[s] = hn::Zero(d);
  // What is left of a row that long vectors do not fill.
  constexpr std::int64_t kQuarter = 16 / sizeof(T);
  const hn::CappedTag<T, kQuarter> dq;
  hn::Vec<decltype(dq)> short_sums[kPlanes];
  for (int q = 0; q < kPlanes; ++q) short_sums[q] = hn::Zero(dq);
  for (std::int64_t term = 0, k = 0; term < t.h * t.k; ++term) {
    std::int64_t i = 0;
    for (; i < whole; i += n * kChains) {
      for (int c = 0; c < kChains; ++c) {
        V shared = hn::Zero(d);
        if constexpr (kShared) shared = hn::LoadU(d, y + i + c * n);
        for (int q = 0; q < kPlanes; ++q) {
          V& sum = sums[q * kChains + c];
          const V own = hn::LoadU(d, x + q * t.xp + i + c * n);
          if constexpr (kOne) {
            sum = hn::Add(sum, own);
          } else if constexpr (kShared) {
            sum = hn::MulAdd(own, shared, sum);
          } else {
            sum = hn::MulAdd(own, hn::LoadU(d, y + q * t.yp + i + c * n), sum);
          }
        }
      }
    }
    for (; i + n <= t.i; i += n) {
      for (int q = 0; q < kPlanes; ++q) {
        V& sum = sums[q * kChains];
        const V own = hn::LoadU(d, x + q * t.xp + i);
        if constexpr (kOne) {
          sum = hn::Add(sum, own);
        } else {
          sum = hn::MulAdd(own, hn::LoadU(d, y + (kShared ? 0 : q * t.yp) + i), sum);
        }
      }
    }
    if constexpr (hn::MaxLanes(d) > kQuarter) {
      for (; i + kQuarter <= t.i; i += kQuarter) {
        for (int q = 0; q < kPlanes; ++q) {
          const auto own = hn::LoadU(dq, x + q * t.xp + i);
          if constexpr (kOne) {
            short_sums[q] = hn::Add(short_sums[q], own);
          } else {
            const auto by = hn::LoadU(dq, y + (kShared ? 0 : q * t.yp) + i);
            short_sums[q] = hn::MulAdd(own, by, short_sums[q]);
          }
        }
      }
    }
    for (; i < t.i; ++i) {
      for (int q = 0; q < kPlanes; ++q) {
        const T own = x[q * t.xp + i];
        rest[q] += kOne ? own : own * y[(kShared ? 0 : q * t.yp) + i];
      }
    }
    x += t.xk;
    if constexpr (!kOne) y += t.yk;
    if (++k == t.k) {
      k = 0;
      x += t.xh - t.k * t.xk;
      if constexpr (!kOne) y += t.yh - t.k * t.yk;
    }
  }
  for (int q = 0; q < kPlanes; ++q) {
    V all = sums[q * kChains];
    for (int c = 1; c < kChains; ++c) all = hn::Add(all, sums[q * kChains + c]);
    T total = hn::GetLane(hn::SumOfLanes(d, all)) + rest[q];
    if constexpr (hn::MaxLanes(d) > kQuarter) {
      total += hn::GetLane(hn::SumOfLanes(dq, short_sums[q]));
    }
    total *= t.alpha;
    T& c = t.c[(p + q) * t.cp];
    c = t.reads ? total + t.beta * c : total;
  }
}

template <bool kOne, bool kShared, typename T>
void sums(const LoopTile<T>& t) {
  std::int64_t p = 0;
  for (; p + 4 <= t.p; p += 4) sum_tile<4, 2, kOne, kShared>(t, p);
  if (p + 2 <= t.p) {
    sum_tile<2, 4, kOne, kShared>(t, p);
    p += 2;
  }
  if (p < t.p) sum_tile<1, 4, kOne, kShared>(t, p);
}

template <typename T>
void any_tile(const LoopTile<T>& t) {
  if (t.ci == 0) {
    if (t.y == nullptr) {
      sums<true, false>(t);
    } else if (t.yp == 0) {
      sums<false, true>(t);
    } else {
      sums<false, false>(t);
    }
    return;
  }
  const bool shared = t.xp == 0 && t.h * t.k > 1;
  if (t.y == nullptr) {
    own_rows<By::kOne>(t);
  } else if (t.yi == 0) {
    shared ? shared_rows<By::kScalar>(t) : own_rows<By::kScalar>(t);
  } else {
    shared ? shared_rows<By::kVector>(t) : own_rows<By::kVector>(t);
  }
}

void tile_f32(const LoopTile<float>& t) { any_tile(t); }
void tile_f64(const LoopTile<double>& t) { any_tile(t); }
std::int64_t vector_bytes() {
  return static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<std::uint8_t>()));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::einsum
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::einsum {

HWY_EXPORT(tile_f32);
HWY_EXPORT(tile_f64);
HWY_EXPORT(vector_bytes);

template <>
void run_loop_tile(const LoopTile<float>& tile) {
  HWY_DYNAMIC_DISPATCH(tile_f32)(tile);
}
template <>
void run_loop_tile(const LoopTile<double>& tile) {
  HWY_DYNAMIC_DISPATCH(tile_f64)(tile);
}

std::int64_t loop_vector_bytes() {
  static const std::int64_t bytes = HWY_DYNAMIC_DISPATCH(vector_bytes)();
  return bytes;
}

}  // namespace assay::einsum
#endif
