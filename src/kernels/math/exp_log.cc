// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/math/exp_log.h"

#include <algorithm>
#include <cstddef>

#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/math/exp_log.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include "kernels/math/exp_log-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace {

struct Exp {
  template <class D, class V>
  static HWY_INLINE V of(D d, V x) {
    return exp(d, x);
  }
};
struct Log {
  template <class D, class V>
  static HWY_INLINE V of(D d, V x) {
    return log(d, x);
  }
};

template <class F, typename T>
void map(const T* x, T* y, std::size_t size) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) hn::StoreU(F::of(d, hn::LoadU(d, x + i)), d, y + i);
  if (i == size) return;
  HWY_ALIGN T rest[hn::MaxLanes(hn::ScalableTag<T>())] = {};
  std::copy(x + i, x + size, rest);
  hn::Store(F::of(d, hn::Load(d, rest)), d, rest);
  std::copy(rest, rest + (size - i), y + i);
}

void exp_f32(const float* x, float* y, std::size_t size) { map<Exp>(x, y, size); }
void exp_f64(const double* x, double* y, std::size_t size) { map<Exp>(x, y, size); }
void log_f32(const float* x, float* y, std::size_t size) { map<Log>(x, y, size); }
void log_f64(const double* x, double* y, std::size_t size) { map<Log>(x, y, size); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(exp_f32);
HWY_EXPORT(exp_f64);
HWY_EXPORT(log_f32);
HWY_EXPORT(log_f64);

void exp(std::span<const float> x, std::span<float> y) {
  check(x.size() == y.size(), "as many results as arguments");
  HWY_DYNAMIC_DISPATCH(exp_f32)(x.data(), y.data(), x.size());
}
void exp(std::span<const double> x, std::span<double> y) {
  check(x.size() == y.size(), "as many results as arguments");
  HWY_DYNAMIC_DISPATCH(exp_f64)(x.data(), y.data(), x.size());
}
void log(std::span<const float> x, std::span<float> y) {
  check(x.size() == y.size(), "as many results as arguments");
  HWY_DYNAMIC_DISPATCH(log_f32)(x.data(), y.data(), x.size());
}
void log(std::span<const double> x, std::span<double> y) {
  check(x.size() == y.size(), "as many results as arguments");
  HWY_DYNAMIC_DISPATCH(log_f64)(x.data(), y.data(), x.size());
}

}  // namespace assay::kernels
#endif
