// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/simd/certified_kernels.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "semiring/algebra.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semiring/simd/certified_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include "kernels/dispatch.h"
#include "semiring/simd/exact-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::semiring::simd {
namespace HWY_NAMESPACE {
namespace {

template <class V>
HWY_INLINE V max_or_nan_of(V x, V y) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenElse(hn::IsNaN(y), y, hn::Max(x, y)));
}

template <typename T>
void maxima(const kernels::PanelSource<T>& x, T* HWY_RESTRICT out) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr T kNone = -std::numeric_limits<T>::infinity();
  const auto none = hn::Set(d, kNone);
  if (x.width_stride == 1) {  // vectors of i
    int i = 0;
    for (; i + lanes <= x.count; i += static_cast<int>(lanes)) {
      auto largest = none;
      auto nan = no_lanes(d);
      for (std::int64_t l = 0; l < x.terms; ++l) {
        const auto value = hn::LoadU(d, x.data + l * x.term_stride + i);
        largest = hn::Max(value, largest);
        nan = hn::Or(nan, hn::IsNaN(value));
      }
      const auto missing = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
      hn::StoreU(hn::IfThenElse(nan, missing, largest), d, out + i);
    }
    for (; i < x.count; ++i) {
      T largest = kNone;
      for (std::int64_t l = 0; l < x.terms; ++l) {
        largest = max_or_nan(largest, x.data[l * x.term_stride + i]);
      }
      out[i] = largest;
    }
    return;
  }
  for (int i = 0; i < x.count; ++i) {  // vectors of terms
    const T* row = x.data + i * x.width_stride;
    T largest = kNone;
    std::int64_t l = 0;
    if (x.term_stride == 1) {
      auto first = none, second = none;
      auto nan = no_lanes(d);
      for (; l + 2 * lanes <= x.terms; l += 2 * lanes) {
        const auto low = hn::LoadU(d, row + l), high = hn::LoadU(d, row + l + lanes);
        first = hn::Max(low, first);
        second = hn::Max(high, second);
        nan = hn::Or(nan, hn::Or(hn::IsNaN(low), hn::IsNaN(high)));
      }
      HWY_ALIGN T parts[hn::MaxLanes(hn::ScalableTag<T>())];
      hn::Store(hn::Max(first, second), d, parts);
      for (std::int64_t s = 0; s < lanes; ++s) largest = std::max(largest, parts[s]);
      if (!hn::AllFalse(d, nan)) largest = std::numeric_limits<T>::quiet_NaN();
    }
    for (; l < x.terms; ++l) largest = max_or_nan(largest, row[l * x.term_stride]);
    out[i] = largest;
  }
}

template <class D, typename T>
HWY_INLINE void norms_of(D d, const T* HWY_RESTRICT panel, int width, std::int64_t terms,
                         bool accumulate, T* HWY_RESTRICT norms) {
  using V = hn::Vec<D>;
  for (int i = 0; i < width; i += static_cast<int>(hn::Lanes(d))) {
    V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    const T* at = panel + i;
    std::int64_t l = 0;
    for (; l + 4 <= terms; l += 4, at += 4 * width) {
      const V x0 = hn::LoadU(d, at), x1 = hn::LoadU(d, at + width);
      const V x2 = hn::LoadU(d, at + 2 * width), x3 = hn::LoadU(d, at + 3 * width);
      s0 = hn::MulAdd(x0, x0, s0);
      s1 = hn::MulAdd(x1, x1, s1);
      s2 = hn::MulAdd(x2, x2, s2);
      s3 = hn::MulAdd(x3, x3, s3);
    }
    for (; l < terms; ++l, at += width) {
      const V x = hn::LoadU(d, at);
      V& chain = l % 4 == 0 ? s0 : l % 4 == 1 ? s1 : s2;
      chain = hn::MulAdd(x, x, chain);
    }
    V sum = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
    if (accumulate) sum = hn::Add(hn::LoadU(d, norms + i), sum);
    hn::StoreU(sum, d, norms + i);
  }
}

template <typename T>
void norms(const T* panel, int width, std::int64_t terms, bool accumulate, T* out) {
  const hn::ScalableTag<T> d;
  // Panels are as wide as whole vectors, or as blocks of 128 bits.
  if (width % static_cast<int>(hn::Lanes(d)) == 0) {
    norms_of(d, panel, width, terms, accumulate, out);
  } else {
    norms_of(hn::CappedTag<T, 2>(), panel, width, terms, accumulate, out);
  }
}

// Applies f to c in vectors: f(row, column, sums, refused) returns the results. The last columns
// of a row go through a buffer, so that nothing beyond them is touched.
template <typename T, class F>
HWY_INLINE void for_each_vector(const F& f, int rows, int columns, T* c, std::int64_t row_stride,
                                RowBits* refused) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<hn::ScalableTag<T>>;
  const int lanes = static_cast<int>(hn::Lanes(d));
  HWY_ALIGN T rest[hn::MaxLanes(hn::ScalableTag<T>())];
  const int whole = columns / lanes * lanes;
  for (int i = 0; i < rows; ++i) {
    T* row = c + i * row_stride;
    RowBits bits = 0;
    const auto apply = [&](int j, V sums) HWY_ATTR {
      auto is_refused = no_lanes(d);
      const V result = f(i, j, sums, is_refused);
      if (!hn::AllFalse(d, is_refused)) {
        std::uint8_t bytes[8] = {};
        hn::StoreMaskBits(d, is_refused, bytes);
        RowBits here;
        std::memcpy(&here, bytes, sizeof here);
        bits |= here << j;
      }
      return result;
    };
    for (int j = 0; j < whole; j += lanes) {
      hn::StoreU(apply(j, hn::LoadU(d, row + j)), d, row + j);
    }
    if (whole < columns) {
      std::fill_n(rest, lanes, T{1});
      std::copy(row + whole, row + columns, rest);
      hn::Store(apply(whole, hn::Load(d, rest)), d, rest);
      std::copy(rest, rest + (columns - whole), row + whole);
      bits &= (RowBits{1} << columns) - 1;  // columns < 64 here
    }
    refused[i] = bits;
  }
}

template <typename T>
void finish_log(const LogFinish<T>& finish, int rows, int columns, T* c, std::int64_t row_stride,
                RowBits* refused) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<hn::ScalableTag<T>>;
  const V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  const V least = hn::Set(d, finish.least), most = hn::Set(d, finish.most);
  const auto one = [&](int i, int j, V sum, hn::Mask<decltype(d)>& is_refused) HWY_ATTR {
    V error, whole, whole_error;
    const V left = hn::Set(d, finish.left_maxima[i]), right = hn::LoadU(d, finish.right_maxima + j);
    const V scale = two_sum(left, right, error);
    const V rest = log_split(d, sum, whole);
    const V high = two_sum(scale, whole, whole_error);
    const V result = hn::Add(high, hn::Add(hn::Add(error, whole_error), rest));
    // NaN and −∞ among the maxima settle the entry: a + b is the result.
    const auto settled = hn::Or(hn::IsNaN(scale), hn::Eq(scale, hn::Neg(infinity)));
    const auto certified =
        hn::And(hn::And(hn::Ge(sum, least), hn::Le(sum, most)), hn::Lt(scale, infinity));
    is_refused = hn::Not(hn::Or(settled, certified));
    return hn::IfThenElse(settled, scale, result);
  };
  for_each_vector(one, rows, columns, c, row_stride, refused);
}

template <typename T>
void finish_euclidean(const EuclideanFinish<T>& finish, int rows, int columns, T* c,
                      std::int64_t row_stride, RowBits* refused) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<hn::ScalableTag<T>>;
  const V share = hn::Set(d, finish.share);
  const V least = hn::Set(d, finish.least), most = hn::Set(d, finish.most);
  const auto one = [&](int i, int j, V product, hn::Mask<decltype(d)>& is_refused) HWY_ATTR {
    const V norms = hn::Add(hn::Set(d, finish.left_norms[i]), hn::LoadU(d, finish.right_norms + j));
    const V square = hn::MulAdd(hn::Set(d, static_cast<T>(-2)), product, norms);
    const auto certified = hn::And(hn::Ge(square, hn::Mul(share, norms)),
                                   hn::And(hn::Ge(square, least), hn::Le(norms, most)));
    is_refused = hn::Not(certified);
    return hn::Sqrt(hn::IfThenElseZero(certified, square));
  };
  for_each_vector(one, rows, columns, c, row_stride, refused);
}

template <typename T>
constexpr CertifiedKernels<T> certified_table() {
  CertifiedKernels<T> kernels;
  kernels.lanes = static_cast<int>(hn::MaxLanes(hn::ScalableTag<T>()));
  kernels.maxima = maxima<T>;
  kernels.norms = norms<T>;
  kernels.finish_log = finish_log<T>;
  kernels.finish_euclidean = finish_euclidean<T>;
  kernels.forms = 1;
  kernels.exact_log[0] = exact_log<T, 4>;
  kernels.exact_squares[0] = exact_squares<T, 4>;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON
  kernels.forms = 3;  // 32 registers hold the sums of twelve rows
  kernels.exact_log[1] = exact_log<T, 8>;
  kernels.exact_log[2] = exact_log<T, 12>;
  kernels.exact_squares[1] = exact_squares<T, 8>;
  kernels.exact_squares[2] = exact_squares<T, 12>;
#endif
  return kernels;
}

const CertifiedKernels<float>* certified_kernels_f32() {
  static constexpr CertifiedKernels<float> kTable = certified_table<float>();
  return &kTable;
}
const CertifiedKernels<double>* certified_kernels_f64() {
  static constexpr CertifiedKernels<double> kTable = certified_table<double>();
  return &kTable;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::semiring::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::semiring::simd {

ASSAY_DISPATCH(CertifiedKernels, certified_kernels);

}  // namespace assay::semiring::simd
#endif
