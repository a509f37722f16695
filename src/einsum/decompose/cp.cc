// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/decompose/cp.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/names.h"
#include "einsum/decompose/cp_model.h"
#include "einsum/decompose/cp_start.h"
#include "einsum/decompose/cp_tensor.h"
#include "einsum/decompose/matrix.h"
#include "einsum/decompose/mttkrp.h"
#include "einsum/decompose/normalized.h"

namespace assay::einsum {
namespace {

template <typename T>
class HostCpTensor : public CpTensor<T> {
 public:
  HostCpTensor(const TensorView& view, int threads)
      : tensor_(normalized<T>(view, "cp")), threads_(threads) {}
  const std::vector<std::int64_t>& shape() const override { return tensor_.x.shape; }
  double norm() const override { return tensor_.norm; }
  int exponent() const override { return tensor_.exponent; }
  Matrix<T> gram(std::size_t mode) override { return mode_gram(tensor_.x, mode); }
  void begin(const std::vector<Matrix<T>>& factors) override {
    products_.emplace(tensor_.x, factors, threads_);
  }
  Matrix<T> next() override { return products_->next(); }
  double distance(const std::vector<T>& weights, const std::vector<Matrix<T>>& factors) override {
    return distance_to_model(tensor_.x, weights, factors, threads_);
  }

 private:
  Normalized<T> tensor_;
  int threads_;
  std::optional<Mttkrp<T>> products_;
};

template <typename T>
CpResult on_processor(const TensorView& view, const CpOptions& o) {
  HostCpTensor<T> x(view, o.threads);
  return decompose_cp<T>(x, o);
}

template <typename T>
Tensor reconstruct(const CpResult& d) {
  std::vector<std::int64_t> shape;
  std::vector<Matrix<T>> factors;
  for (const auto& f : d.factors) {
    shape.push_back(f.shape()[0]);
    factors.emplace_back(f.shape()[0], f.shape()[1]);
    std::ranges::copy(f.as<T>(), factors.back().data.begin());
  }
  const auto weights = d.weights.as<T>();
  const auto values = model_tensor(std::vector<T>(weights.begin(), weights.end()), factors);
  Tensor result(kDTypeOf<T>, Shape(shape));
  std::ranges::copy(values, result.as<T>().begin());
  return result;
}

}  // namespace

constexpr auto kCpStopNames =
    make_names<CpStop>({{CpStop::kChange, "the fit changed no more"},
                        {CpStop::kTargetFit, "the wanted fit was reached"},
                        {CpStop::kSweeps, "the last sweep that was allowed"}});

std::string_view name_of(CpStop stop) { return kCpStopNames[stop]; }

void check_cp(DType dtype, const Shape& shape, const CpOptions& o) {
  if (is_complex(dtype)) fail("cp: complex tensors are not decomposed, dtype {}", name_of(dtype));
  if (shape.rank() < 2) fail("cp: a tensor has two modes or more, not shape {}", shape.to_string());
  if (shape.element_count() == 0) fail("cp: the tensor is empty, shape {}", shape.to_string());
  if (o.rank < 1) fail("cp: the rank is at least 1, not {}", o.rank);
  if (o.max_sweeps < 1) fail("cp: at least one sweep is made, not {}", o.max_sweeps);
  if (std::isnan(o.change)) fail("cp: the change that ends it is a number, not nan");
  if (o.start != nullptr) check_cp_start(dtype, shape, o);
}

CpResult cp(const TensorView& x, const CpOptions& o) {
  check_cp(x.dtype(), x.shape(), o);
  return x.dtype() == DType::kF32 ? on_processor<float>(x, o) : on_processor<double>(x, o);
}

Tensor cp_reconstruct(const CpResult& d) {
  return d.weights.dtype() == DType::kF32 ? reconstruct<float>(d) : reconstruct<double>(d);
}

}  // namespace assay::einsum
