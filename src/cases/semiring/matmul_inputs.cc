// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/semiring/matmul_inputs.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "lab/record/case.h"
#include "lab/record/point.h"
#include "tensor/fill.h"

namespace assay::cases::semiring {
namespace {

constexpr double kHoleShare = 0.05;
constexpr double kSpreadHalfWidth = 50;  // a + b then covers 200 nats
constexpr double kDuplicateDistance = 1e-3;
constexpr double kTrueShare = 1.0 / 16;

// Calls f(element, raw) for every element in row-major order.
template <typename T, typename F>
void for_each_raw(Tensor& tensor, const Philox& stream, F f) {
  const auto elements = tensor.as<T>();
  for (std::size_t i = 0; i < elements.size(); i += 4) {
    const auto block = stream.block(i / 4);
    for (std::size_t j = i; j < std::min(i + 4, elements.size()); ++j) f(elements[j], block[j - i]);
  }
}

template <typename T>
void punch_holes(Tensor& tensor, const Philox& stream, T hole) {
  for_each_raw<T>(tensor, stream, [&](T& element, std::uint64_t raw) {
    if (unit_interval(raw) < kHoleShare) element = hole;
  });
}

void punch_holes(Tensor& tensor, const Philox& stream, double sign) {
  const double infinity = sign * std::numeric_limits<double>::infinity();
  tensor.dtype() == DType::kF32 ? punch_holes<float>(tensor, stream, static_cast<float>(infinity))
                                : punch_holes<double>(tensor, stream, infinity);
}

template <typename T>
void near_duplicates(const Tensor& a, Tensor& b, const Philox& stream) {
  const auto rows = a.view();
  const std::int64_t m = rows.extent(0), n = b.view().extent(1);
  std::int64_t index = 0;
  for_each_raw<T>(b, stream, [&](T& element, std::uint64_t raw) {
    const std::int64_t k = index / n, j = index % n;
    const double moved = uniform(raw, -kDuplicateDistance, kDuplicateDistance);
    element = static_cast<T>(static_cast<double>(rows.at<T>(j % m, k)) + moved);
    ++index;
  });
}

void fill_bool(Tensor& tensor, const Philox& stream) {
  for_each_raw<bool>(tensor, stream, [](bool& element, std::uint64_t raw) {
    element = unit_interval(raw) < kTrueShare;
  });
}

}  // namespace

MatmulPoint::MatmulPoint(const Json& point)
    : algebra(point.contains("algebra")
                  ? assay::semiring::algebra_from_name(lab::point_word(point, "algebra"), "point")
                  : Algebra::kReal),
      dtype(dtype_from_name(lab::point_word(point, "dtype"), "point")),
      inputs(point.contains("inputs") ? dtype_from_name(lab::point_word(point, "inputs"), "point")
                                      : dtype),
      spread(point.contains("regime") && lab::point_word(point, "regime") == "spread"),
      m(lab::point_int(point, "m", "n")),
      k(lab::point_int(point, "k", "n")),
      n(lab::point_int(point, "n")),
      seed(lab::point_int(point, "seed")) {}

double MatmulPoint::bytes() const {
  return static_cast<double>(size_of(inputs)) * static_cast<double>(m * k + k * n) +
         static_cast<double>(size_of(dtype)) * static_cast<double>(m * n);
}

MatmulInputs::MatmulInputs(const MatmulPoint& p)
    : a(p.dtype, Shape({p.m, p.k})), b(p.dtype, Shape({p.k, p.n})) {}

namespace {

void fill_unrounded(const MatmulPoint& point, int set, MatmulInputs& inputs) {
  const auto stream = [&](std::string_view name) {
    return lab::input_stream(point.seed, name, set);
  };
  if (point.algebra == Algebra::kBoolean) {
    fill_bool(inputs.a, stream("a"));
    fill_bool(inputs.b, stream("b"));
    return;
  }
  const bool wide = point.spread && point.algebra == Algebra::kLog;
  const double width = wide ? kSpreadHalfWidth : std::sqrt(3.0);
  fill_uniform(inputs.a.mutable_view(), stream("a"), -width, width);
  fill_uniform(inputs.b.mutable_view(), stream("b"), -width, width);
  if (!point.spread) return;
  if (point.algebra == Algebra::kEuclidean) {
    point.dtype == DType::kF32 ? near_duplicates<float>(inputs.a, inputs.b, stream("b"))
                               : near_duplicates<double>(inputs.a, inputs.b, stream("b"));
  } else {
    const double sign = point.algebra == Algebra::kMinPlus ? 1 : -1;
    punch_holes(inputs.a, stream("a_hole"), sign);
    punch_holes(inputs.b, stream("b_hole"), sign);
  }
}

}  // namespace

void fill_inputs(const MatmulPoint& point, int set, MatmulInputs& inputs) {
  fill_unrounded(point, set, inputs);
  if (point.inputs == point.dtype) return;
  for (Tensor* x : {&inputs.a, &inputs.b}) {
    *x = Tensor::converted(Tensor::converted(x->view(), point.inputs).view(), point.dtype);
  }
}

}  // namespace assay::cases::semiring
