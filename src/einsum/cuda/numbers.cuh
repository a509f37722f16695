// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Numbers as kernels compute with them: complex ones are pairs. std::complex has the same layout,
// but its functions are the host's.

#include <complex>

namespace assay::einsum::cuda {

// Aligned as the loads and stores of a pair need it.
template <typename R>
struct alignas(2 * sizeof(R)) Pair {
  R re, im;
};

template <typename R>
__host__ __device__ inline Pair<R> operator+(Pair<R> x, Pair<R> y) {
  return {x.re + y.re, x.im + y.im};
}
template <typename R>
__host__ __device__ inline Pair<R> operator*(Pair<R> x, Pair<R> y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

// The kernels' type for a type of the host's.
template <typename T>
struct OnDevice {
  using Type = T;
};
template <typename R>
struct OnDevice<std::complex<R>> {
  using Type = Pair<R>;
};
template <typename T>
using DeviceNumber = typename OnDevice<T>::Type;

template <typename T>
DeviceNumber<T> device_number(const T& x) {
  if constexpr (sizeof(DeviceNumber<T>) == sizeof(T) && !std::is_floating_point_v<T>) {
    return {x.real(), x.imag()};
  } else {
    return x;
  }
}

__host__ __device__ inline bool is_zero(float x) { return x == 0; }
__host__ __device__ inline bool is_zero(double x) { return x == 0; }
template <typename R>
__host__ __device__ inline bool is_zero(Pair<R> x) {
  return x.re == 0 && x.im == 0;
}
__host__ __device__ inline bool is_one(float x) { return x == 1; }
__host__ __device__ inline bool is_one(double x) { return x == 1; }
template <typename R>
__host__ __device__ inline bool is_one(Pair<R> x) {
  return x.re == 1 && x.im == 0;
}

// What sums are kept in: f64, which costs no more than reading does.
template <typename T>
struct SumOf {
  using Type = double;
};
template <typename R>
struct SumOf<Pair<R>> {
  using Type = Pair<double>;
};
__device__ inline double wide(float x) { return x; }
__device__ inline double wide(double x) { return x; }
template <typename R>
__device__ inline Pair<double> wide(Pair<R> x) {
  return {static_cast<double>(x.re), static_cast<double>(x.im)};
}
template <typename T>
__device__ inline T narrow(double x) {
  return static_cast<T>(x);
}
template <typename T>
__device__ inline T narrow(Pair<double> x) {
  return {static_cast<decltype(T::re)>(x.re), static_cast<decltype(T::im)>(x.im)};
}

}  // namespace assay::einsum::cuda
