// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The register tiles, compiled once per instruction set (included by *_tiles.cc).
//
// Every accumulator is an element of a local array whose indices are compile-time constants, so
// that all of them live in registers; rows are unrolled by recursion, because a lane index must be
// a constant as well. GCC's first scheduling pass would spill the tile: these files are compiled
// with -fno-schedule-insns.
#if defined(ASSAY_KERNELS_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_TILE_INL_H_
#undef ASSAY_KERNELS_TILE_INL_H_
#else
#define ASSAY_KERNELS_TILE_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "kernels/tiles/tile_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
using Tag = hn::ScalableTag<T>;
template <typename T>
using Vector = hn::Vec<Tag<T>>;
template <typename T>
inline constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag<T>()));

// The shape of a tile. 16 or 32 vector registers must hold the accumulators, a row of b, and a
// broadcast element of a, and for the algebras that add before they compare a term as well.
struct TileShape {
  int rows, row_step, vectors, replicate;
};
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
inline constexpr TileShape kMultiplyShape{12, 4, 2, 1};
inline constexpr TileShape kCompareShape{12, 4, 2, 1};
#elif HWY_TARGET == HWY_NEON
// Multiply-add takes its second factor from any lane of a register. Add does not, and a load that
// broadcasts competes with it for issue: there the left panel holds whole vectors.
inline constexpr TileShape kMultiplyShape{8, 4, 3, 1};
inline constexpr TileShape kCompareShape{4, 2, 4, 0};  // 0: one copy for each lane
#elif HWY_TARGET == HWY_AVX2
inline constexpr TileShape kMultiplyShape{6, 2, 2, 1};
inline constexpr TileShape kCompareShape{6, 2, 2, 1};
#else
inline constexpr TileShape kMultiplyShape{4, 2, 2, 1};
inline constexpr TileShape kCompareShape{4, 2, 2, 1};
#endif

// Element I of the left panel in every lane.
template <typename T, int kReplicate, int I>
HWY_INLINE Vector<T> left_element(const T* HWY_RESTRICT a) {
  const Tag<T> d;
  if constexpr (kReplicate > 1) {
    return hn::Load(d, a + I * kReplicate);
  } else {
#if HWY_TARGET == HWY_NEON
    // One load serves a whole vector of rows; the compiler folds the broadcast into the FMA.
    constexpr int kGroup = I / kLanes<T> * kLanes<T>;
    return hn::Broadcast<I % kLanes<T>>(hn::LoadU(d, a + kGroup));
#else
    return hn::Set(d, a[I]);
#endif
  }
}

// acc[i][v] ⊕= a_i ⊗ b[v] for rows i < kRows. All terms of a row are made before they are reduced:
// in-order schedules then never wait for the addition.
template <class Ops, typename T, int kReplicate, int kVectors, int kRows>
struct RowSteps {
  static HWY_INLINE void run(const T* HWY_RESTRICT a, const Vector<T>* b, Vector<T>* acc) {
    RowSteps<Ops, T, kReplicate, kVectors, kRows - 1>::run(a, b, acc);
    const Vector<T> left = left_element<T, kReplicate, kRows - 1>(a);
    Ops::template reduce<kVectors>(left, b, acc + (kRows - 1) * kVectors);
  }
};
template <class Ops, typename T, int kReplicate, int kVectors>
struct RowSteps<Ops, T, kReplicate, kVectors, 0> {
  static HWY_INLINE void run(const T*, const Vector<T>*, Vector<T>*) {}
};

// Terms of the right panel that are asked for ahead of their use: it streams from L2, and waiting
// for it cost a tenth of the time. The left panel stays in L1.
constexpr int kTermsAhead = 16;

// Where a tile finds the next row of b: in a packed panel of kColumns columns,
template <typename T, int kColumns>
struct PackedRight {
  const T* HWY_RESTRICT b;

  template <int kVectors>
  HWY_INLINE void next(Vector<T>* right) {
    const Tag<T> d;
#pragma GCC unroll 48
    for (int v = 0; v < kVectors; ++v) {
      right[v] = hn::Load(d, b + v * kLanes<T>);
      if (v * kLanes<T> * static_cast<int>(sizeof(T)) % 64 == 0) {
        hwy::Prefetch(b + kTermsAhead * kColumns + v * kLanes<T>);
      }
    }
    b += kColumns;
  }
};

// or in the matrix itself, from which it is copied into the panel as well. Multiplying leaves
// memory idle: the first tile that needs a panel packs it on the way. Asking for rows beyond the
// last does no harm.
template <typename T, int kColumns>
struct PackingRight {
  const T* HWY_RESTRICT b;
  std::int64_t stride;
  T* HWY_RESTRICT panel;

  template <int kVectors>
  HWY_INLINE void next(Vector<T>* right) {
    const Tag<T> d;
    constexpr int kRowsAhead = 2 * kTermsAhead;
#pragma GCC unroll 48
    for (int v = 0; v < kVectors; ++v) {
      right[v] = hn::LoadU(d, b + v * kLanes<T>);
      hn::Store(right[v], d, panel + v * kLanes<T>);
      if (v * kLanes<T> * static_cast<int>(sizeof(T)) % 64 == 0) {
        hwy::Prefetch(b + kRowsAhead * stride + v * kLanes<T>);
      }
    }
    b += stride;
    panel += kColumns;
  }
};

template <class Ops, typename T, int kWidth, int kReplicate, int kRows, int kVectors, class Right>
HWY_INLINE void sum_tile(std::int64_t terms, const T* HWY_RESTRICT a, Right b, T* HWY_RESTRICT c,
                         std::int64_t row_stride, bool accumulate) {
  const Tag<T> d;
  constexpr int kN = kLanes<T>;
  Vector<T> acc[kRows * kVectors];
#pragma GCC unroll 48
  for (int i = 0; i < kRows * kVectors; ++i) acc[i] = Ops::zero(d);
#pragma GCC unroll 48
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 48
    for (int v = 0; v < kVectors; ++v) hwy::Prefetch(c + i * row_stride + v * kN);
  }
  for (std::int64_t l = 0; l < terms; ++l) {
    Vector<T> right[kVectors];
    b.template next<kVectors>(right);
    RowSteps<Ops, T, kReplicate, kVectors, kRows>::run(a, right, acc);
    a += kWidth;
  }
  if (accumulate) {
#pragma GCC unroll 48
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 48
      for (int v = 0; v < kVectors; ++v) {
        Vector<T>& sum = acc[i * kVectors + v];
        sum = Ops::merge(hn::LoadU(d, c + i * row_stride + v * kN), sum);
      }
    }
  }
#pragma GCC unroll 48
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 48
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(acc[i * kVectors + v], d, c + i * row_stride + v * kN);
    }
  }
}

template <class Ops, typename T, int kWidth, int kReplicate, int kRows, int kVectors>
void tile(std::int64_t terms, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, T* HWY_RESTRICT c,
          std::int64_t row_stride, bool accumulate) {
  const PackedRight<T, Ops::kShape.vectors * kLanes<T>> right{b};
  sum_tile<Ops, T, kWidth, kReplicate, kRows, kVectors>(terms, a, right, c, row_stride, accumulate);
}

template <class Ops, typename T>
void packing_tile(std::int64_t terms, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b,
                  std::int64_t b_stride, T* HWY_RESTRICT panel, T* HWY_RESTRICT c,
                  std::int64_t row_stride, bool accumulate) {
  constexpr TileShape kShape = Ops::kShape;
  const PackingRight<T, kShape.vectors * kLanes<T>> right{b, b_stride, panel};
  sum_tile<Ops, T, kShape.rows, 1, kShape.rows, kShape.vectors>(terms, a, right, c, row_stride,
                                                                accumulate);
}

template <class Ops, typename T, int kRows, int kVectors>
void direct_tile(std::int64_t terms, const T* HWY_RESTRICT a, std::int64_t a_stride,
                 const T* HWY_RESTRICT b, std::int64_t b_stride, T* HWY_RESTRICT c,
                 std::int64_t row_stride) {
  const Tag<T> d;
  constexpr int kN = kLanes<T>;
  Vector<T> acc[kRows * kVectors];
#pragma GCC unroll 48
  for (int i = 0; i < kRows * kVectors; ++i) acc[i] = Ops::zero(d);
  for (std::int64_t l = 0; l < terms; ++l) {
    Vector<T> right[kVectors];
#pragma GCC unroll 48
    for (int v = 0; v < kVectors; ++v) right[v] = hn::LoadU(d, b + v * kN);
#pragma GCC unroll 48
    for (int i = 0; i < kRows; ++i) {
      const Vector<T> left = hn::Set(d, a[i * a_stride]);
      Ops::template reduce<kVectors>(left, right, acc + i * kVectors);
    }
    a += 1;
    b += b_stride;
  }
#pragma GCC unroll 48
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 48
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(acc[i * kVectors + v], d, c + i * row_stride + v * kN);
    }
  }
}

// Few accumulators would wait for each other: the sum runs as kChains interleaved ones.
template <class Ops, typename T, int kRowVectors, int kColumns>
void narrow_tile(std::int64_t terms, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b,
                 T* HWY_RESTRICT sums) {
  const Tag<T> d;
  constexpr int kN = kLanes<T>;
  constexpr int kSums = kRowVectors * kColumns;
  constexpr int kChains = kSums >= 8 ? 1 : 8 / kSums;
  constexpr int kLeftWidth = Ops::kShape.rows, kRightWidth = Ops::kShape.vectors * kN;
  Vector<T> acc[kChains * kSums];
#pragma GCC unroll 48
  for (int i = 0; i < kChains * kSums; ++i) acc[i] = Ops::zero(d);
  const auto step = [&](int chain) HWY_ATTR {
#pragma GCC unroll 48
    for (int v = 0; v < kRowVectors; ++v) {
      const Vector<T> left = hn::LoadU(d, a + v * kN);
#pragma GCC unroll 48
      for (int j = 0; j < kColumns; ++j) {
        const Vector<T> right = hn::Set(d, b[j]);
        Ops::template reduce<1>(left, &right, acc + chain * kSums + j * kRowVectors + v);
      }
    }
    a += kLeftWidth;
    b += kRightWidth;
  };
  std::int64_t l = 0;
  for (; l + kChains <= terms; l += kChains) {
#pragma GCC unroll 48
    for (int chain = 0; chain < kChains; ++chain) step(chain);
  }
  for (; l < terms; ++l) step(0);
#pragma GCC unroll 48
  for (int i = 0; i < kSums; ++i) {
#pragma GCC unroll 48
    for (int chain = 1; chain < kChains; ++chain) {
      acc[i] = Ops::merge(acc[i], acc[chain * kSums + i]);
    }
    hn::StoreU(acc[i], d, sums + i * kN);
  }
}

template <class Ops, typename T, int kStep, int kVector>
constexpr void set_tile(TileKernels<T>& kernels) {
  constexpr TileShape kShape = Ops::kShape;
  constexpr int kReplicate = kShape.replicate == 0 ? kLanes<T> : 1;
  constexpr int kRows = kShape.row_step * (kStep + 1), kVectors = kVector + 1;
  if constexpr (kRows <= kShape.rows && kVectors <= kShape.vectors) {
    kernels.tile[kStep][kVector] =
        tile<Ops, T, kShape.rows * kReplicate, kReplicate, kRows, kVectors>;
    if constexpr (Ops::kDirect) {
      kernels.direct[kStep][kVector] = direct_tile<Ops, T, kRows, kVectors>;
    }
    if constexpr (kVectors < kShape.vectors) {
      set_tile<Ops, T, kStep, kVector + 1>(kernels);
    } else if constexpr (kRows < kShape.rows) {
      set_tile<Ops, T, kStep + 1, 0>(kernels);
    }
  }
}

template <class Ops, typename T>
constexpr TileKernels<T> tile_table() {
  constexpr TileShape kShape = Ops::kShape;
  TileKernels<T> kernels;
  kernels.rows = kShape.rows;
  kernels.row_step = kShape.row_step;
  kernels.vectors = kShape.vectors;
  kernels.lanes = kLanes<T>;
  kernels.replicate = kShape.replicate == 0 ? kLanes<T> : 1;
  kernels.merge = Ops::template merge_scalar<T>;
  set_tile<Ops, T, 0, 0>(kernels);
  if constexpr (Ops::kDirect) kernels.packing = packing_tile<Ops, T>;
  if constexpr (kShape.replicate == 1) {
    constexpr int kRowVectors = (kShape.rows + kLanes<T> - 1) / kLanes<T>;
    kernels.row_lanes = kRowVectors * kLanes<T>;
    kernels.narrow = {narrow_tile<Ops, T, kRowVectors, 1>, narrow_tile<Ops, T, kRowVectors, 2>,
                      narrow_tile<Ops, T, kRowVectors, 4>, narrow_tile<Ops, T, kRowVectors, 8>};
  }
  return kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();
#endif
