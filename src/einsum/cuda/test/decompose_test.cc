// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/cuda/test/decompose_test.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "einsum/cuda/decompose.h"
#include "einsum/cuda/test/random_tensor.h"
#include "tensor/convert.h"

namespace assay::einsum::cuda {
namespace {

using Expect = std::function<void(bool, const std::string&)>;

// The largest difference of two tensors, as a share of the largest element.
double apart(const Tensor& x, const Tensor& y) {
  double most = 0, size = std::numeric_limits<double>::min();
  for (std::int64_t i = 0; i < x.element_count(); ++i) {
    const double a = value_as_double(x.view(), i), b = value_as_double(y.view(), i);
    const double d = std::abs(a - b);
    most = std::isnan(d) ? INFINITY : std::max(most, d);
    size = std::max(size, std::abs(a));
  }
  return most / size;
}

// A tensor of that rank and a little noise, and a start near its factors.
struct Given {
  Tensor x;
  std::vector<Tensor> start;
};
Given given(DType dtype, const std::vector<std::int64_t>& shape, std::int64_t rank, double scale) {
  Given made{random_tensor(DType::kF64, Shape(shape), 7, 0.01 * scale), {}};
  std::vector<Tensor> factors;
  for (std::size_t m = 0; m < shape.size(); ++m) {
    factors.push_back(random_tensor(DType::kF64, Shape({shape[m], rank}), 11 + m));
    Tensor near = Tensor::converted(factors.back().view(), DType::kF64);
    const auto away = random_tensor(DType::kF64, near.shape(), 31 + m, 0.1);
    for (std::size_t i = 0; i < near.as<double>().size(); ++i) {
      near.as<double>()[i] += away.as<double>()[i];
      if (m == 0) near.as<double>()[i] *= scale;
    }
    made.start.push_back(Tensor::converted(near.view(), dtype));
  }
  for (std::int64_t at = 0; at < made.x.element_count(); ++at) {
    for (std::int64_t r = 0; r < rank; ++r) {
      double term = scale;
      std::int64_t rest = at;
      for (std::size_t m = shape.size(); m-- > 0; rest /= shape[m]) {
        term *= factors[m].as<double>()[static_cast<std::size_t>(rest % shape[m] * rank + r)];
      }
      made.x.as<double>()[static_cast<std::size_t>(at)] += term;
    }
  }
  made.x = Tensor::converted(made.x.view(), dtype);
  return made;
}

void test_cp(DeviceEngine& engine, DType dtype, const std::vector<std::int64_t>& shape,
             std::int64_t rank, const CpOptions& of, double scale, const Expect& expect) {
  const auto [x, start] = given(dtype, shape, rank, scale);
  CpOptions o = of;
  o.rank = rank;
  o.max_sweeps = 6;
  o.change = -1;
  o.target_fit = 2;
  if (o.init == CpInit::kSvd) o.start = &start;
  const auto right = cp(x.view(), o);
  const auto found = device_cp(engine, engine.to_device(x.view()), o);
  const double apart_allowed = dtype == DType::kF32 ? 2e-3 : 1e-8;
  const auto what = fmt::format("cp {} of {} in {}, scale {:g}", rank, x.shape().to_string(),
                                name_of(dtype), scale);
  expect(std::abs(found.fit - right.fit) <= apart_allowed,
         fmt::format("{}: fit {:.9f} instead of {:.9f}", what, found.fit, right.fit));
  const double off = apart(cp_reconstruct(right), cp_reconstruct(found));
  expect(off <= apart_allowed, fmt::format("{}: models differ by {:.2e}", what, off));
  expect(found.sweeps == right.sweeps, what + ": other sweeps");
}

void test_tucker(DeviceEngine& engine, DType dtype, const std::vector<std::int64_t>& shape,
                 const TuckerOptions& options, double scale, const Expect& expect) {
  const Tensor x = given(dtype, shape, 3, scale).x;
  const auto right = tucker(x.view(), options);
  const auto found = device_tucker(engine, engine.to_device(x.view()), options);
  const double allowed = dtype == DType::kF32 ? 1e-4 : 1e-9;
  const auto what = fmt::format("tucker of {} in {}, method {}, scale {:g}", x.shape().to_string(),
                                name_of(dtype), static_cast<int>(options.method), scale);
  expect(std::abs(found.relative_error - right.relative_error) <= allowed,
         fmt::format("{}: error {:.9e} instead of {:.9e}", what, found.relative_error,
                     right.relative_error));
  expect(found.core.shape() == right.core.shape(), what + ": another core");
  const double off = apart(tucker_reconstruct(right), tucker_reconstruct(found));
  expect(off <= allowed, fmt::format("{}: models differ by {:.2e}", what, off));
}

void test_refused(DeviceEngine& engine, const Expect& expect) {
  const auto refused = [&](const char* what, const Tensor& x, std::int64_t rank) {
    int told = 0;
    try {
      device_cp(engine, engine.to_device(x.view()), {.rank = rank});
    } catch (const UserError&) {
      ++told;
    }
    try {
      device_tucker(engine, engine.to_device(x.view()), {.ranks = {rank, rank, rank}});
    } catch (const UserError&) {
      ++told;
    }
    expect(told == 2, fmt::format("{} is refused", what));
  };
  Tensor x = random_tensor(DType::kF64, Shape({4, 3, 5}), 1);
  refused("a rank of 0", x, 0);
  refused("an empty tensor", Tensor(DType::kF64, Shape({4, 0, 5})), 1);
  refused("a complex tensor", Tensor(DType::kC128, Shape({4, 3, 5})), 1);
  x.as<double>()[7] = std::numeric_limits<double>::quiet_NaN();
  refused("NaN", x, 2);
  x.as<double>()[7] = INFINITY;
  refused("an infinity", x, 2);
}

}  // namespace

void test_decompositions(DeviceEngine& engine, bool small, const Expect& expect) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    test_cp(engine, dtype, {9, 8, 11}, 3, {}, 1, expect);
    test_cp(engine, dtype, {9, 8, 11}, 1, {}, 1, expect);
    test_cp(engine, dtype, {6, 5, 7, 8}, 3, {}, 1, expect);
    test_cp(engine, dtype, {20, 13}, 2, {.exact_fit = false}, 1, expect);
    // Squares of the elements leave the range of their dtype.
    test_cp(engine, dtype, {9, 8, 11}, 3, {}, dtype == DType::kF32 ? 1e25 : 1e200, expect);
    test_cp(engine, dtype, {9, 8, 11}, 3, {}, dtype == DType::kF32 ? 1e-25 : 1e-200, expect);
    for (const auto method : {TuckerMethod::kHosvd, TuckerMethod::kStHosvd, TuckerMethod::kHooi}) {
      test_tucker(engine, dtype, {9, 8, 11}, {.method = method, .ranks = {3, 3, 3}}, 1, expect);
      test_tucker(engine, dtype, {6, 5, 7, 8}, {.method = method, .ranks = {3, 2, 3, 3}}, 1,
                  expect);
      test_tucker(engine, dtype, {9, 8, 11}, {.method = method, .tolerance = 0.1}, 1e-25, expect);
    }
    test_tucker(engine, dtype, {12, 3, 1}, {.ranks = {5, 3, 1}, .finder = RangeFinder::kSvd}, 1,
                expect);
    if (small) continue;
    test_cp(engine, dtype, {65, 64, 63}, 16, {}, 1, expect);
    test_cp(engine, dtype, {33, 31, 17, 9}, 5, {.nonnegative = true}, 1, expect);
    test_tucker(engine, dtype, {65, 64, 63}, {.ranks = {3, 3, 3}}, 1, expect);
  }
  // The start by eigenvectors, and what is in neither dtype.
  const auto x = given(DType::kF64, {10, 9, 8}, 2, 1).x;
  const CpOptions by_vectors{.rank = 2, .max_sweeps = 30};
  const auto right = cp(x.view(), by_vectors);
  const auto found = device_cp(engine, engine.to_device(x.view()), by_vectors);
  expect(std::abs(found.fit - right.fit) <= 1e-8, "cp from eigenvectors");
  const Tensor half = Tensor::converted(x.view(), DType::kBF16);
  const auto of_half = device_tucker(engine, engine.to_device(half.view()), {.ranks = {2, 2, 2}});
  expect(std::abs(of_half.relative_error -
                  tucker(half.view(), {.ranks = {2, 2, 2}}).relative_error) <= 1e-9,
         "tucker of bf16");
  test_refused(engine, expect);
}

}  // namespace assay::einsum::cuda
