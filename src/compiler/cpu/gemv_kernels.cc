// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/gemv_kernels.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compiler/cpu/gemv_kernels.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include "compiler/cpu/gemv_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::compiler {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kStep = 2 * kWide;
// Whether memory is read fastest as one stream: several rows of a matrix, whose lines are asked for
// before their turn, are up to a third faster on x86, and slower on the processors with NEON.
constexpr bool kOneStream = HWY_TARGET == HWY_NEON || HWY_TARGET == HWY_SCALAR;

// Two vectors of elements. Of bf16, the even ones and the odd ones: one operation for each.
template <typename T>
HWY_INLINE void load_pair(const T* from, V32& first, V32& second) {
  const D32 d;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (std::is_same_v<T, BFloat16>) {
    const hn::Repartition<std::uint16_t, D32> d16;
    const hn::RebindToUnsigned<D32> d32;
    const auto bits =
        hn::BitCast(d32, hn::LoadU(d16, reinterpret_cast<const std::uint16_t*>(from)));
    first = hn::BitCast(d, hn::ShiftLeft<16>(bits));
    second = hn::BitCast(d, hn::And(bits, hn::Set(d32, 0xffff0000u)));
    return;
  }
#endif
  first = load_elements(d, from);
  second = load_elements(d, from + kWide);
}

void arrange(DType dtype, const float* from, std::int64_t terms, float* to) {
  if (dtype != DType::kBF16 || HWY_TARGET == HWY_SCALAR) {
    std::copy(from, from + terms, to);
    return;
  }
  for (std::int64_t i = 0; i < terms; i += kStep) {
    for (std::int64_t l = 0; l < kWide; ++l) {
      to[i + l] = from[i + 2 * l];
      to[i + kWide + l] = from[i + 2 * l + 1];
    }
  }
}

#if HWY_TARGET != HWY_SCALAR
// Blocks of four lanes, added up.
template <class D, class V>
HWY_INLINE hn::Vec<hn::FixedTag<float, 4>> sum_of_blocks(D, V x) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return x;
  } else {
    const hn::Half<D> half;
    return sum_of_blocks(half, hn::Add(hn::LowerHalf(half, x), hn::UpperHalf(half, x)));
  }
}
// The sums of four vectors' lanes, together: a sum by itself takes as many steps as all four.
HWY_INLINE hn::Vec<hn::FixedTag<float, 4>> sums_of_four(V32 a, V32 b, V32 c, V32 e) {
  const D32 d;
  const hn::Repartition<double, D32> d64;
  const auto pairs = [&](V32 x, V32 y) HWY_ATTR {
    return hn::BitCast(d64, hn::Add(hn::InterleaveLower(d, x, y), hn::InterleaveUpper(d, x, y)));
  };
  const auto low = pairs(a, b), high = pairs(c, e);
  const V32 all = hn::Add(hn::BitCast(d, hn::InterleaveLower(d64, low, high)),
                          hn::BitCast(d, hn::InterleaveUpper(d64, low, high)));
  return sum_of_blocks(d, all);
}
#endif

// Which elements are asked for meanwhile: so many ahead; where a row of the matrix ends before
// them, so many farther.
struct Foresight {
  std::int64_t ahead, at_the_end;
};
// What is foreseen comes into the nearest cache, unless rows of `a` fill it.
template <typename T, int kRows, int kColumns>
HWY_INLINE void dot_block(const float* HWY_RESTRICT a, std::int64_t padded, const T* b,
                          std::int64_t b_stride, std::int64_t terms, Foresight foresight, int rows,
                          bool accumulate, float* c, std::int64_t c_stride) {
  const D32 d;
  // Two for each where there are few, so that additions do not wait for each other.
  constexpr int kParts = kRows * kColumns <= kSumVectors / 2 ? 2 : 1;
  V32 sums[kParts][kColumns][kRows];
#pragma GCC unroll 2
  for (int p = 0; p < kParts; ++p) {
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) {
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) sums[p][j][i] = hn::Zero(d);
    }
  }
  const auto step = [&](const T* const* w, const float* x) HWY_ATTR __attribute__((always_inline)) {
    V32 first[kColumns], second[kColumns];
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) load_pair(w[j], first[j], second[j]);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const V32 x0 = hn::LoadU(d, x + i * padded), x1 = hn::LoadU(d, x + i * padded + kWide);
#pragma GCC unroll 8
      for (int j = 0; j < kColumns; ++j) {
        sums[0][j][i] = hn::MulAdd(first[j], x0, sums[0][j][i]);
        sums[kParts - 1][j][i] = hn::MulAdd(second[j], x1, sums[kParts - 1][j][i]);
      }
    }
  };
  const T* w[kColumns];
  std::int64_t l = 0;
  for (; l + kStep <= terms; l += kStep) {
    const std::int64_t ahead =
        foresight.ahead + (l + foresight.ahead < terms ? 0 : foresight.at_the_end);
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) {
      w[j] = b + j * b_stride + l;
      if constexpr (!kOneStream) {
#pragma GCC unroll 4
        for (std::int64_t e = 0; e < kStep; e += 64 / static_cast<std::int64_t>(sizeof(T)))
          __builtin_prefetch(w[j] + ahead + e, 0, kRows > 2 ? 2 : 3);
      }
    }
    step(w, a + l);
  }
  if (l < terms) {
    T rest[kColumns][kStep] = {};
    for (int j = 0; j < kColumns; ++j) {
      std::copy(b + j * b_stride + l, b + j * b_stride + terms, rest[j]);
      w[j] = rest[j];
    }
    step(w, a + l);
  }
  if constexpr (kParts == 2) {
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) {
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) sums[0][j][i] = hn::Add(sums[0][j][i], sums[1][j][i]);
    }
  }
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kColumns % 4 == 0) {
    const hn::FixedTag<float, 4> four;
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
      for (int j = 0; j < kColumns; j += 4) {
        const auto sum =
            sums_of_four(sums[0][j][i], sums[0][j + 1][i], sums[0][j + 2][i], sums[0][j + 3][i]);
        float* to = c + i * c_stride + j;
        if (i < rows) hn::StoreU(accumulate ? hn::Add(hn::LoadU(four, to), sum) : sum, four, to);
      }
    }
    return;
  }
#endif
#pragma GCC unroll 8
  for (int j = 0; j < kColumns; ++j) {
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      if (i >= rows) continue;
      float& to = c[i * c_stride + j];
      const float sum = hn::GetLane(hn::SumOfLanes(d, sums[0][j][i]));
      to = accumulate ? to + sum : sum;
    }
  }
}

// One row by one column: a single stream, which memory serves fastest, onto eight sums.
template <typename T>
HWY_INLINE float dot_one(const float* HWY_RESTRICT a, const T* b, std::int64_t terms) {
  const D32 d;
  V32 sums[8];
#pragma GCC unroll 8
  for (int s = 0; s < 8; ++s) sums[s] = hn::Zero(d);
  const auto step = [&](const T* w, const float* x, V32& even, V32& odd) HWY_ATTR
      __attribute__((always_inline)) {
    V32 first, second;
    load_pair(w, first, second);
    even = hn::MulAdd(first, hn::LoadU(d, x), even);
    odd = hn::MulAdd(second, hn::LoadU(d, x + kWide), odd);
  };
  std::int64_t l = 0;
  for (; l + 4 * kStep <= terms; l += 4 * kStep) {
#pragma GCC unroll 4
    for (int u = 0; u < 4; ++u)
      step(b + l + u * kStep, a + l + u * kStep, sums[2 * u], sums[2 * u + 1]);
  }
  for (; l + kStep <= terms; l += kStep) step(b + l, a + l, sums[0], sums[1]);
  if (l < terms) {
    T rest[kStep] = {};
    std::copy(b + l, b + terms, rest);
    step(rest, a + l, sums[0], sums[1]);
  }
  const V32 low = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  const V32 high = hn::Add(hn::Add(sums[4], sums[5]), hn::Add(sums[6], sums[7]));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(low, high)));
}

template <typename T, int kRows>
void dots_of(const float* a, std::int64_t padded, const T* b, std::int64_t b_stride,
             std::int64_t terms, std::int64_t columns, int rows, float* c, std::int64_t c_stride) {
  if constexpr (kRows == 1 && kOneStream) {
    for (std::int64_t j = 0; j < columns; ++j) c[j] = dot_one(a, b + j * b_stride, terms);
    return;
  }
  constexpr int kColumns =
      kRows == 1 ? kSumVectors / 2 : std::clamp(kSumVectors / kRows, 1, kRows == 2 ? 4 : 8);
  // Four rows at a time: eight times two columns would load more of `a` than multiply.
  const auto some_columns = [&]<int kSome>(std::integral_constant<int, kSome>, std::int64_t j,
                                           std::int64_t begin, std::int64_t part,
                                           Foresight foresight) HWY_ATTR {
    for (int i = 0; i < rows; i += kRows)
      dot_block<T, kRows, kSome>(a + i * padded + begin, padded, b + j * b_stride + begin, b_stride,
                                 part, foresight, rows - i, begin > 0, c + i * c_stride + j,
                                 c_stride);
  };
  // Several rows of `a` fill half of the nearest cache with so many terms; a few columns at a time
  // stay in few pages of memory.
  const std::int64_t most = rows > 2 ? 4096 / gemv_rows(rows) : terms;
  const std::int64_t group = rows > 2 ? 16 : columns;
  for (std::int64_t first = 0; first < columns; first += group) {
    const std::int64_t end = std::min(columns, first + group);
    for (std::int64_t begin = 0; begin < terms; begin += most) {
      const std::int64_t part = std::min(most, terms - begin);
      // Of few rows, what these columns need next; where they end, what the next columns begin
      // with.
      Foresight foresight{512 / std::int64_t{sizeof(T)}, kColumns * b_stride - terms};
      if (rows > 2) foresight = {begin + part < terms ? most : group * b_stride - begin, 0};
      std::int64_t j = first;
      for (; j + kColumns <= end; j += kColumns)
        some_columns(std::integral_constant<int, kColumns>{}, j, begin, part, foresight);
      for (; j < end; ++j)
        some_columns(std::integral_constant<int, 1>{}, j, begin, part, foresight);
    }
  }
}

template <typename F>
void visit_short(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kF32:
      return f(std::type_identity<float>{});
    case DType::kBF16:
      return f(std::type_identity<BFloat16>{});
    case DType::kF16:
      return f(std::type_identity<Half>{});
    default:
      throw InternalError("a matrix of f32, f16 or bf16");
  }
}
// f(std::integral_constant<int, n>{}) with n = gemv_rows(rows), kMost at most.
template <int kMost, typename F>
void visit_rows(int rows, F&& f) {
  switch (gemv_rows(rows)) {
    case 1:
      return f(std::integral_constant<int, 1>{});
    case 2:
      return f(std::integral_constant<int, 2>{});
    case 4:
      return f(std::integral_constant<int, 4>{});
    default:
      return f(std::integral_constant<int, kMost>{});
  }
}

void dots(DType dtype, int rows, const float* a, std::int64_t padded, const std::byte* b,
          std::int64_t b_stride, std::int64_t terms, std::int64_t columns, float* c,
          std::int64_t c_stride) {
  visit_short(dtype, [&]<typename T>(std::type_identity<T>) {
    visit_rows<4>(rows, [&](auto count) {
      dots_of<T, count>(a, padded, reinterpret_cast<const T*>(b), b_stride, terms, columns, rows, c,
                        c_stride);
    });
  });
}
void sums(DType dtype, int rows, const float* a, std::int64_t a_stride, const std::byte* b,
          std::int64_t b_stride, std::int64_t terms, std::int64_t columns, float* c,
          std::int64_t c_stride) {
  visit_short(dtype, [&]<typename T>(std::type_identity<T>) {
    visit_rows<kMostGemvRows>(rows, [&](auto count) {
      sums_of<T, count>(a, a_stride, reinterpret_cast<const T*>(b), b_stride, terms, columns, c,
                        c_stride);
    });
  });
}

constexpr GemvKernels kTable{kStep, arrange, dots, sums};
const GemvKernels* gemv_table() { return &kTable; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::compiler
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::compiler {

HWY_EXPORT(gemv_table);
const GemvKernels& gemv_kernels() { return *HWY_DYNAMIC_DISPATCH(gemv_table)(); }

}  // namespace assay::compiler
#endif
