// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the device tests share: matrices on both sides, an oracle of plain f64 loops, and checks
// that print. GoogleTest is not wanted on a machine that only has a GPU.

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "semiring/cuda/matmul.h"

namespace assay::semiring::cuda::testing {

inline std::atomic<int> failures = 0, checks = 0;

inline void expect(bool holds, const std::string& what) {
  ++checks;
  if (holds) return;
  if (++failures <= 40) std::printf("FAILED %s\n", what.c_str());
}

inline void must(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::printf("FAILED %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size) : size_(size) {
    must(cudaMalloc(&data_, std::max<std::size_t>(1, size) * sizeof(T)), "cudaMalloc");
  }
  explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) {
    must(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  DeviceArray(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }
  T* data() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> result(size_);
    must(cudaMemcpy(result.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return result;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

// A matrix of m×n in a larger array, any layout.
template <typename T>
struct HostMatrix {
  std::int64_t rows, columns, row_stride, column_stride, offset;
  std::vector<T> storage;
  T& at(std::int64_t i, std::int64_t j) {
    return storage[static_cast<std::size_t>(offset + i * row_stride + j * column_stride)];
  }
  T at(std::int64_t i, std::int64_t j) const {
    return storage[static_cast<std::size_t>(offset + i * row_stride + j * column_stride)];
  }
};

enum class Layout { kRows, kColumns, kScattered, kReversed };

template <typename T>
HostMatrix<T> make_matrix(std::int64_t rows, std::int64_t columns, Layout layout = Layout::kRows) {
  switch (layout) {
    case Layout::kRows:
      return {rows, columns, columns,
              1,    0,       std::vector<T>(static_cast<std::size_t>(rows * columns))};
    case Layout::kColumns:
      return {rows, columns, 1, rows, 0, std::vector<T>(static_cast<std::size_t>(rows * columns))};
    case Layout::kScattered:
      return {
          rows, columns, 2 * columns + 3,
          2,    1,       std::vector<T>(static_cast<std::size_t>((2 * columns + 3) * (rows + 1)))};
    case Layout::kReversed:
      return {rows,
              columns,
              -columns,
              1,
              rows == 0 ? 0 : (rows - 1) * columns,
              std::vector<T>(static_cast<std::size_t>(rows * columns))};
  }
  return {};
}

inline std::mt19937_64& generator() {
  static std::mt19937_64 g(20261116);
  return g;
}

template <typename T>
HostMatrix<T> random_matrix(std::int64_t rows, std::int64_t columns, double low = -std::sqrt(3.0),
                            double high = std::sqrt(3.0)) {
  HostMatrix<T> m = make_matrix<T>(rows, columns);
  std::uniform_real_distribution<double> d(low, high);
  for (T& x : m.storage) x = static_cast<T>(d(generator()));
  return m;
}

template <typename T>
HostMatrix<T> laid_out(const HostMatrix<T>& m, Layout layout) {
  HostMatrix<T> result = make_matrix<T>(m.rows, m.columns, layout);
  for (std::int64_t i = 0; i < m.rows; ++i)
    for (std::int64_t j = 0; j < m.columns; ++j) result.at(i, j) = m.at(i, j);
  return result;
}

template <typename T>
constexpr Scalar kScalarOf = std::is_same_v<T, float>    ? Scalar::kF32
                             : std::is_same_v<T, double> ? Scalar::kF64
                                                         : Scalar::kBool;

// The product on the device into an output of the given layout, poisoned before; `gaps_kept` says
// whether what lies between its elements is untouched.
template <typename T>
HostMatrix<T> multiply(Algebra algebra, const HostMatrix<T>& a, const HostMatrix<T>& b,
                       Route route = Route::kAuto, Layout layout = Layout::kRows,
                       std::int64_t* refused = nullptr, bool* gaps_kept = nullptr) {
  HostMatrix<T> c = make_matrix<T>(a.rows, b.columns, layout);
  std::memset(c.storage.data(), 0xa5, c.storage.size() * sizeof(T));
  const std::vector<T> poison = c.storage;
  const DeviceArray<T> da(a.storage), db(b.storage), dc(c.storage);
  Matmul q;
  q.algebra = algebra, q.scalar = kScalarOf<T>, q.route = route;
  q.m = a.rows, q.k = a.columns, q.n = b.columns;
  q.a = da.data() + a.offset, q.a_strides = {a.row_stride, a.column_stride};
  q.b = db.data() + b.offset, q.b_strides = {b.row_stride, b.column_stride};
  q.c = dc.data() + c.offset, q.c_strides = {c.row_stride, c.column_stride};
  const DeviceArray<char> workspace(workspace_bytes(q));
  const DeviceArray<std::int64_t> count(1);
  matmul(q, workspace.data(), nullptr, count.data());
  must(cudaDeviceSynchronize(), "matmul");
  c.storage = dc.host();
  if (refused != nullptr) *refused = count.host()[0];
  if (gaps_kept != nullptr) {
    std::vector<bool> is_element(c.storage.size());
    for (std::int64_t i = 0; i < c.rows; ++i)
      for (std::int64_t j = 0; j < c.columns; ++j)
        is_element[static_cast<std::size_t>(c.offset + i * c.row_stride + j * c.column_stride)] =
            true;
    *gaps_kept = true;
    for (std::size_t i = 0; i < c.storage.size(); ++i)
      if (!is_element[i] && std::memcmp(&c.storage[i], &poison[i], sizeof(T)) != 0)
        *gaps_kept = false;
  }
  return c;
}

template <typename T>
bool same_bits(const HostMatrix<T>& x, const HostMatrix<T>& y) {
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j) {
      const T p = x.at(i, j), q = y.at(i, j);
      if (std::memcmp(&p, &q, sizeof(T)) != 0 && !(p != p && q != q)) return false;
    }
  return true;
}

// The oracle: an entry by plain loops in long double, and the bound its error is held to.
struct Expected {
  long double value, bound;
  bool may_overflow = false;  // a part of the sum may be too large for the type
};

template <typename T>
Expected expected(Algebra algebra, const HostMatrix<T>& a, const HostMatrix<T>& b, std::int64_t i,
                  std::int64_t j) {
  const std::int64_t k = a.columns;
  const long double u = std::is_same_v<T, double> ? 0x1p-53L : 0x1p-24L;
  const long double roundings = u * (8 * std::sqrt(static_cast<long double>(k)) + 16);
  const long double inf = std::numeric_limits<long double>::infinity();
  long double sum = 0, absolute = 0, largest = -inf, size = 0;
  bool has_nan = false;
  for (std::int64_t l = 0; l < k; ++l) {
    const long double x = a.at(i, l), y = b.at(l, j);
    if (algebra == Algebra::kReal) {
      sum += x * y;
      absolute += std::fabs(x * y);
    } else if (algebra == Algebra::kEuclidean) {
      sum += (x - y) * (x - y);
    } else {
      const long double term =
          algebra == Algebra::kLog ? x + y
          : algebra == Algebra::kMaxPlus
              ? static_cast<long double>(static_cast<T>(a.at(i, l) + b.at(l, j)))
              : -static_cast<long double>(static_cast<T>(a.at(i, l) + b.at(l, j)));
      has_nan = has_nan || term != term;
      largest = std::max(largest, term);
      if (std::isfinite(term)) size = std::max(size, std::fabs(term));
    }
  }
  if (has_nan) return {std::numeric_limits<long double>::quiet_NaN(), 0};
  switch (algebra) {
    case Algebra::kReal:  // products that are denormal err by half of the smallest one each
      return {
          sum,
          1.01L * (k + 1) * u * absolute + k * (std::is_same_v<T, float> ? 0x1p-149L : 0x1p-1074L),
          absolute > std::numeric_limits<T>::max()};
    case Algebra::kEuclidean: {
      const long double d = std::sqrt(sum);
      return {d, roundings * d + (std::is_same_v<T, double> ? k * u * d + 0x1p-1074L : 0x1p-149L)};
    }
    case Algebra::kLog: {
      if (std::isinf(largest)) return {largest, 0};
      for (std::int64_t l = 0; l < k; ++l)
        sum += std::exp(static_cast<long double>(a.at(i, l)) +
                        static_cast<long double>(b.at(l, j)) - largest);
      const long double value = largest + std::log(sum);
      return {value, roundings + 8 * u * size + 4 * u * std::fabs(value)};
    }
    case Algebra::kMaxPlus:
      return {largest, 0};
    default:
      return {-largest, 0};
  }
}

inline void expect(bool holds, const std::string& what, std::int64_t i, std::int64_t j,
                   long double x, const Expected& e) {
  if (holds) {
    ++checks;
    return;
  }
  char text[160];
  std::snprintf(text, sizeof text, " at %lld,%lld: %.9Lg instead of %.9Lg, bound %.3Lg",
                static_cast<long long>(i), static_cast<long long>(j), x, e.value, e.bound);
  expect(false, what + text);
}

// Every entry against the oracle; returns the worst error as a share of its bound.
template <typename T>
double compare(Algebra algebra, const HostMatrix<T>& a, const HostMatrix<T>& b,
               const HostMatrix<T>& c, const std::string& what, std::int64_t step = 1) {
  // Large products: an odd share of the entries, so that every row and column is looked at.
  step = std::max(step, c.rows * c.columns * a.columns / 4'000'000) | 1;
  const auto look = [&](std::int64_t first, std::int64_t stride, double& worst) {
    for (std::int64_t at = first * step; at < c.rows * c.columns; at += stride * step) {
      const std::int64_t i = at / c.columns, j = at % c.columns;
      const Expected e = expected(algebra, a, b, i, j);
      const long double x = c.at(i, j);
      const T narrowed = static_cast<T>(e.value);
      bool good = e.value != e.value ? x != x : x == static_cast<long double>(narrowed);
      if (!good && std::isfinite(e.value) && std::isfinite(x)) {
        const long double error = std::fabs(x - e.value);
        good = error <= e.bound;
        if (e.bound > 0) worst = std::max(worst, static_cast<double>(error / e.bound));
      }
      expect(good || (e.may_overflow && !std::isfinite(x)), what, i, j, x, e);
    }
  };
  if (c.rows * c.columns * a.columns / step < 100'000) {
    double worst = 0;
    look(0, 1, worst);
    return worst;
  }
  constexpr int kThreads = 14;
  std::vector<double> worst(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] { look(t, kThreads, worst[static_cast<std::size_t>(t)]); });
  for (std::thread& t : threads) t.join();
  return *std::max_element(worst.begin(), worst.end());
}

}  // namespace assay::semiring::cuda::testing
