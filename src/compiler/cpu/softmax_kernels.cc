// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/softmax_kernels.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compiler/cpu/softmax_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include "compiler/cpu/element-inl.h"
#include "kernels/dispatch.h"
#include "kernels/math/exp_log-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::compiler {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
T greatest_of_row(const T* x, std::int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto most = hn::Set(d, -std::numeric_limits<T>::infinity());
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) most = greatest(d, most, hn::LoadU(d, x + i));
  HWY_ALIGN T each[hn::MaxLanes(hn::ScalableTag<T>())];
  hn::Store(most, d, each);
  T all = -std::numeric_limits<T>::infinity();
  const auto take = [&](T value) {
    if (!(value <= all) && !std::isnan(all)) all = value;
  };
  for (std::int64_t lane = 0; lane < lanes; ++lane) take(each[lane]);
  for (; i < count; ++i) take(x[i]);
  return all;
}

// eˣ, where hidden scores, −∞, are as fast as others: their way to 0 through numbers below normal
// takes a processor a hundred times as long.
template <class D, class V>
HWY_INLINE V exp_of_score(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr T kZeroBelow = sizeof(T) == 4 ? T{-104} : T{-746};  // half of the least number there is
  const auto is_zero = hn::Lt(x, hn::Set(d, kZeroBelow));
  return hn::IfThenZeroElse(is_zero,
                            kernels::HWY_NAMESPACE::exp(d, hn::IfThenZeroElse(is_zero, x)));
}

template <typename T>
T exponentials(T* x, std::int64_t count, T shift) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto sum = hn::Zero(d), other = hn::Zero(d);
  const auto by = hn::Set(d, shift);
  std::int64_t i = 0;
  const auto one = [&](std::int64_t at) HWY_ATTR {
    const auto value = exp_of_score(d, hn::Sub(hn::LoadU(d, x + at), by));
    hn::StoreU(value, d, x + at);
    return value;
  };
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    sum = hn::Add(sum, one(i));
    other = hn::Add(other, one(i + lanes));
  }
  T total = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, other)));
  const hn::CappedTag<T, 1> single;
  for (; i < count; ++i) {
    const auto value =
        exp_of_score(single, hn::Sub(hn::LoadU(single, x + i), hn::Set(single, shift)));
    hn::StoreU(value, single, x + i);
    total += x[i];
  }
  return total;
}

template <typename T>
void scale_and_add(T* sums, T factor, const T* more, std::int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto by = hn::Set(d, factor);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::MulAdd(hn::LoadU(d, sums + i), by, hn::LoadU(d, more + i)), d, sums + i);
  for (; i < count; ++i) sums[i] = sums[i] * factor + more[i];
}

using D32 = hn::ScalableTag<float>;
constexpr auto kWide = static_cast<std::int64_t>(hn::MaxLanes(D32()));

void hide_columns(float* scores, std::int64_t keys, std::int64_t width, const std::int32_t* begin,
                  const std::int32_t* end) {
  const D32 d;
  const hn::RebindToSigned<D32> di;
  const auto hidden = hn::Set(d, -std::numeric_limits<float>::infinity());
  for (std::int64_t t = 0; t < width; t += kWide) {
    const auto first = hn::LoadU(di, begin + t), last = hn::LoadU(di, end + t);
    for (std::int64_t l = 0; l < keys; ++l) {
      const auto key = hn::Set(di, static_cast<std::int32_t>(l));
      const auto outside = hn::Or(hn::Lt(key, first), hn::Not(hn::Lt(key, last)));
      float* at = scores + l * width + t;
      hn::StoreU(hn::IfThenElse(hn::RebindMask(d, outside), hidden, hn::LoadU(d, at)), d, at);
    }
  }
}

void advance_columns(float* scores, std::int64_t keys, std::int64_t width, float* most,
                     float* total, float* factor) {
  const D32 d;
  const auto nothing = hn::Set(d, -std::numeric_limits<float>::infinity());
  for (std::int64_t t = 0; t < width; t += kWide) {
    const auto before = hn::LoadU(d, most + t);
    auto now = before, other = nothing;
    std::int64_t l = 0;
    for (; l + 2 <= keys; l += 2) {
      now = greatest(d, now, hn::LoadU(d, scores + l * width + t));
      other = greatest(d, other, hn::LoadU(d, scores + (l + 1) * width + t));
    }
    if (l < keys) now = greatest(d, now, hn::LoadU(d, scores + l * width + t));
    now = greatest(d, now, other);
    const auto shift = hn::IfThenElseZero(hn::Ne(now, nothing), now);
    auto sum = hn::Zero(d);
    for (l = 0; l < keys; ++l) {
      float* at = scores + l * width + t;
      const auto value = exp_of_score(d, hn::Sub(hn::LoadU(d, at), shift));
      hn::StoreU(value, d, at);
      sum = hn::Add(sum, value);
    }
    const auto by = exp_of_score(d, hn::Sub(before, shift));
    hn::StoreU(by, d, factor + t);
    hn::StoreU(hn::MulAdd(hn::LoadU(d, total + t), by, sum), d, total + t);
    hn::StoreU(now, d, most + t);
  }
}

template <bool kDivides>
void scale_columns(float* x, std::int64_t rows, std::int64_t width, const float* factor) {
  const D32 d;
  for (std::int64_t t = 0; t < width; t += kWide) {
    const auto by = hn::LoadU(d, factor + t);
    for (std::int64_t l = 0; l < rows; ++l) {
      float* at = x + l * width + t;
      const auto value = hn::LoadU(d, at);
      hn::StoreU(kDivides ? hn::Div(value, by) : hn::Mul(value, by), d, at);
    }
  }
}

constexpr ColumnSoftmax kColumns{hide_columns, advance_columns, scale_columns<false>,
                                 scale_columns<true>};
const ColumnSoftmax* column_table() { return &kColumns; }

template <typename T>
constexpr SoftmaxKernels<T> kSoftmax{greatest_of_row<T>, exponentials<T>, scale_and_add<T>};

const SoftmaxKernels<float>* softmax_kernels_f32() { return &kSoftmax<float>; }
const SoftmaxKernels<double>* softmax_kernels_f64() { return &kSoftmax<double>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::compiler
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::compiler {

ASSAY_DISPATCH(SoftmaxKernels, softmax_kernels);
HWY_EXPORT(column_table);
const ColumnSoftmax& column_softmax() { return *HWY_DYNAMIC_DISPATCH(column_table)(); }

}  // namespace assay::compiler
#endif
