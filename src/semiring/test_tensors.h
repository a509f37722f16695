// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Small tensors for the tests of this engine.

#include <cstring>
#include <initializer_list>
#include <vector>

#include "base/philox.h"
#include "semiring/algebra.h"
#include "tensor/fill.h"
#include "tensor/tensor.h"

namespace assay::semiring {

// A matrix from its rows; f64, then converted.
inline Tensor matrix(std::initializer_list<std::initializer_list<double>> rows,
                     DType dtype = DType::kF64) {
  const auto m = static_cast<std::int64_t>(rows.size());
  const auto n = static_cast<std::int64_t>(rows.begin()->size());
  Tensor t(DType::kF64, Shape{m, n});
  double* next = t.as<double>().data();
  for (const auto& row : rows) {
    for (const double x : row) *next++ = x;
  }
  return Tensor::converted(t.view(), dtype);
}

// Uniform on [−√3, √3): the case's `unit` regime. bool: fair coins.
inline Tensor random_tensor(DType dtype, Shape shape, std::uint64_t seed) {
  Tensor t(dtype, std::move(shape));
  if (dtype == DType::kBool) {
    fill_below(t.mutable_view(), Philox(seed), 2);
  } else {
    fill_uniform(t.mutable_view(), Philox(seed), -1.7320508075688772, 1.7320508075688772);
  }
  return t;
}

// Random indices in [0, sources), every third slot or so absent; row 0 is absent altogether.
inline Tensor random_indices(std::int64_t rows, std::int64_t slots, std::int64_t sources,
                             std::uint64_t seed) {
  Tensor t(DType::kI32, Shape{rows, slots});
  const Philox stream(seed, stream_key("idx"));
  for (std::int64_t i = 0; i < rows * slots; ++i) {
    const std::uint64_t raw = stream[static_cast<std::uint64_t>(i)];
    const bool absent = i < slots || raw % 3 == 0;
    t.as<std::int32_t>()[static_cast<std::size_t>(i)] =
        absent ? -1
               : static_cast<std::int32_t>(uniform_below(raw, static_cast<std::uint64_t>(sources)));
  }
  return t;
}

// The runs of a fixture that takes a Backend, one for each.
#define ASSAY_ON_BACKENDS(Fixture)                                                                \
  INSTANTIATE_TEST_SUITE_P(, Fixture,                                                             \
                           testing::Values(Backend::kReference, Backend::kNaive, Backend::kSimd), \
                           [](const auto& param) {                                                \
                             return param.param == Backend::kReference ? "Reference"              \
                                    : param.param == Backend::kNaive   ? "Naive"                  \
                                                                       : "Simd";                    \
                           })

// The same elements to the last bit.
inline bool bitwise_equal(const TensorView& a, const TensorView& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  const Tensor x = Tensor::copy(a), y = Tensor::copy(b);
  return std::memcmp(x.bytes().data(), y.bytes().data(), x.bytes().size()) == 0;
}

inline std::vector<double> values(const TensorView& view) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < view.element_count(); ++i) {
    result.push_back(value_as_double(view, i));
  }
  return result;
}

// A copy of a matrix with gaps between elements and rows, its first element not aligned beyond its
// size: what a kernel must not assume away. view() has the values of the original.
class Scattered {
 public:
  explicit Scattered(const TensorView& original)
      : storage_(original.dtype(), Shape{original.extent(0) + 1, 2 * original.extent(1) + 3}),
        view_(storage_.mutable_view()
                  .slice(0, 1, original.extent(0) + 1)
                  .slice(1, 1, 2 * original.extent(1) + 1, 2)) {
    for (std::int64_t i = 0; i < original.extent(0); ++i) {
      for (std::int64_t j = 0; j < original.extent(1); ++j) {
        visit_dtype(original.dtype(), [&]<typename T>(std::type_identity<T>) {
          view_.at<T>(i, j) = original.at<T>(i, j);
        });
      }
    }
  }
  TensorView view() const { return view_; }

 private:
  Tensor storage_;
  MutableTensorView view_;
};

// The types an algebra has kernels for.
inline std::vector<DType> dtypes_of(Algebra algebra) {
  if (algebra == Algebra::kBoolean) return {DType::kBool};
  if (algebra == Algebra::kMaxPlus || algebra == Algebra::kMinPlus) {
    return {DType::kF32, DType::kF64};
  }
  return {DType::kF32, DType::kF64, DType::kF16, DType::kBF16};
}

}  // namespace assay::semiring
