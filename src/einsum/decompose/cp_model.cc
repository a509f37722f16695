// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/decompose/cp_model.h"

#include <algorithm>
#include <cmath>

#include "base/attend.h"
#include "base/error.h"
#include "einsum/kernels/parallel.h"
#include "kernels/blas/blas.h"

namespace assay::einsum {
namespace {

constexpr std::int64_t kBlockElements = 32 << 10;  // a block and its part of X fit the second cache

// Rows of the model, row-major over all modes but the last, each as long as the last one.
template <typename T>
class Rows {
 public:
  Rows(const std::vector<T>& weights, const std::vector<Matrix<T>>& factors)
      : weights_(weights), factors_(factors), last_(transposed(factors.back())) {
    for (std::size_t m = 0; m + 1 < factors.size(); ++m) count_ *= factors[m].rows;
    step_ = std::max<std::int64_t>(1, kBlockElements / std::max<std::int64_t>(1, last_.columns));
  }
  std::int64_t width() const { return last_.columns; }
  std::int64_t blocks() const { return (count_ + step_ - 1) / step_; }
  std::int64_t begin(std::int64_t block) const { return block * step_; }
  std::int64_t size(std::int64_t block) const { return std::min(step_, count_ - block * step_); }

  // Block `block` into `to`, size(block) × width().
  void make(std::int64_t block, Matrix<T>& scratch, T* to) const {
    const auto rank = static_cast<std::int64_t>(weights_.size());
    const std::int64_t rows = size(block);
    if (scratch.rows < rows) scratch = Matrix<T>(rows, rank);
    for (std::int64_t i = 0; i < rows; ++i) {
      T* row = &scratch(i, 0);
      std::ranges::copy(weights_, row);
      std::int64_t index = begin(block) + i;
      for (std::size_t m = factors_.size() - 1; m-- > 0;) {
        const T* u = &factors_[m](index % factors_[m].rows, 0);
        for (std::int64_t r = 0; r < rank; ++r) row[r] *= u[r];
        index /= factors_[m].rows;
      }
    }
    const int width = static_cast<int>(this->width());
    blas::gemm<T>(blas::Op::kNone, blas::Op::kNone, static_cast<int>(rows), width,
                  static_cast<int>(rank), T(1), scratch.data.data(), static_cast<int>(rank),
                  last_.data.data(), width, T(0), to, width);
  }

 private:
  const std::vector<T>& weights_;
  const std::vector<Matrix<T>>& factors_;
  Matrix<T> last_;
  std::int64_t count_ = 1, step_ = 1;
};

}  // namespace

template <typename T>
std::vector<T> model_tensor(const std::vector<T>& weights, const std::vector<Matrix<T>>& factors) {
  const Rows<T> rows(weights, factors);
  std::vector<T> all(static_cast<std::size_t>(
      rows.blocks() == 0
          ? 0
          : (rows.begin(rows.blocks() - 1) + rows.size(rows.blocks() - 1)) * rows.width()));
  Matrix<T> scratch;
  for (std::int64_t b = 0; b < rows.blocks(); ++b) {
    rows.make(b, scratch, all.data() + rows.begin(b) * rows.width());
  }
  return all;
}

template <typename T>
double distance_to_model(const DenseTensor<T>& x, const std::vector<T>& weights,
                         const std::vector<Matrix<T>>& factors, int threads) {
  const Rows<T> rows(weights, factors);
  check(rows.blocks() > 0 && rows.width() == x.shape.back(), "a model of the tensor's shape");
  std::vector<double> parts(static_cast<std::size_t>(rows.blocks()));
  parallel_parts(threads, rows.blocks(), [&](std::int64_t begin, std::int64_t end) {
    Matrix<T> scratch;
    std::vector<T> block(static_cast<std::size_t>(rows.size(0) * rows.width()));
    for (std::int64_t b = begin; b < end && still_wanted(); ++b) {
      rows.make(b, scratch, block.data());
      const auto count = static_cast<std::size_t>(rows.size(b) * rows.width());
      const double d = distance<T>(
          x.elements().subspan(static_cast<std::size_t>(rows.begin(b) * rows.width()), count),
          std::span(block).first(count));
      parts[static_cast<std::size_t>(b)] = d * d;
    }
  });
  double sum = 0;
  for (const double part : parts) sum += part;
  return std::sqrt(sum);
}

#define ASSAY_INSTANTIATE(T)                                                                  \
  template std::vector<T> model_tensor(const std::vector<T>&, const std::vector<Matrix<T>>&); \
  template double distance_to_model(const DenseTensor<T>&, const std::vector<T>&,             \
                                    const std::vector<Matrix<T>>&, int);
ASSAY_INSTANTIATE(float)
ASSAY_INSTANTIATE(double)
#undef ASSAY_INSTANTIATE

}  // namespace assay::einsum
