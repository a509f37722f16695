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

template <typename T>
T exponentials(T* x, std::int64_t count, T shift) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto sum = hn::Zero(d), other = hn::Zero(d);
  const auto by = hn::Set(d, shift);
  std::int64_t i = 0;
  const auto one = [&](std::int64_t at) HWY_ATTR {
    const auto value = kernels::HWY_NAMESPACE::exp(d, hn::Sub(hn::LoadU(d, x + at), by));
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
    const auto value = kernels::HWY_NAMESPACE::exp(
        single, hn::Sub(hn::LoadU(single, x + i), hn::Set(single, shift)));
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

}  // namespace assay::compiler
#endif
