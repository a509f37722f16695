// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Comparisons, logic, and choosing by them.
#include <array>
#include <cmath>

#include "base/error.h"
#include "models/pt2/aten/forms.h"
#include "models/pt2/operators.h"

namespace assay::models::pt2 {
namespace {

using namespace assay::compiler;  // NOLINT: the front end's words are this file's

using Comparison = GraphTensor (*)(const GraphTensor&, const GraphTensor&);

template <Comparison kFunction>
Result compared(Call& c) {
  return elementwise(c, {"self", "other"}, [](const auto& x) {
    const bool is_bool = x[0].dtype() == DType::kBool;
    return is_bool ? kFunction(x[0].cast(DType::kI32), x[1].cast(DType::kI32))
                   : kFunction(x[0], x[1]);
  });
}
GraphTensor greater(const GraphTensor& a, const GraphTensor& b) { return less(b, a); }
GraphTensor greater_equal(const GraphTensor& a, const GraphTensor& b) { return less_equal(b, a); }

GraphTensor both(const GraphTensor& a, const GraphTensor& b) { return a * b; }
GraphTensor either(const GraphTensor& a, const GraphTensor& b) { return a + b; }
GraphTensor one_of(const GraphTensor& a, const GraphTensor& b) {
  return (a + b) * logical_not(a * b);
}
template <Comparison kFunction>
Result logical(Call& c) {
  return kFunction(nonzero(c.tensor("self")), nonzero(c.tensor("other")));
}
// Bits of integers are no primitive.
template <Comparison kFunction>
Result bitwise(Call& c) {
  const auto dtype = c.result_dtype({"self", "other"});
  if (dtype != DType::kBool) fail("bits of {} are not covered, only of bool", name_of(dtype));
  return kFunction(c.operand("self", dtype), c.operand("other", dtype));
}
Result bitwise_not(Call& c) {
  const auto x = c.tensor("self");
  return x.dtype() == DType::kBool ? logical_not(x) : (-x) - 1.0;
}

template <typename F>
Result asked(Call& c, F&& f) {
  const auto x = c.tensor("self");
  if (is_floating(x.dtype())) return f(x);
  return GraphTensor::constant(c.graph(), DType::kBool, 0).broadcast_to(x.shape());
}
Result is_nan_of(Call& c) {
  return asked(c, [](const GraphTensor& x) { return is_nan(x); });
}
Result is_infinite(Call& c) {
  return asked(c, [](const GraphTensor& x) {
    return equal(x, x.like(INFINITY)) + equal(x, x.like(-INFINITY));
  });
}
Result is_finite(Call& c) {
  const auto x = c.tensor("self");
  if (is_floating(x.dtype())) return less(x, x.like(INFINITY)) * less(x.like(-INFINITY), x);
  return GraphTensor::constant(c.graph(), DType::kBool, 1).broadcast_to(x.shape());
}

Result where(Call& c) {
  const auto condition = nonzero(c.tensor("condition"));
  return elementwise(c, {"self", "other"},
                     [&](const auto& x) { return select(condition, x[0], x[1]); });
}
Result masked_fill(Call& c) {
  const auto x = c.tensor("self");
  return select(c.tensor("mask"), c.operand("value", x.dtype()), x);
}

constexpr auto kComparisons = std::to_array<Operator>({
    {"aten.bitwise_and.Scalar", bitwise<both>, "of bool"},
    {"aten.bitwise_and.Tensor", bitwise<both>, "of bool"},
    {"aten.bitwise_not.default", bitwise_not},
    {"aten.bitwise_or.Scalar", bitwise<either>, "of bool"},
    {"aten.bitwise_or.Tensor", bitwise<either>, "of bool"},
    {"aten.bitwise_xor.Tensor", bitwise<one_of>, "of bool"},
    {"aten.__and__.Tensor", bitwise<both>, "of bool"},
    {"aten.__or__.Tensor", bitwise<either>, "of bool"},
    {"aten.__xor__.Tensor", bitwise<one_of>, "of bool"},
    {"aten.eq.Scalar", compared<equal>},
    {"aten.eq.Tensor", compared<equal>},
    {"aten.ge.Scalar", compared<greater_equal>},
    {"aten.ge.Tensor", compared<greater_equal>},
    {"aten.gt.Scalar", compared<greater>},
    {"aten.gt.Tensor", compared<greater>},
    {"aten.isfinite.default", is_finite},
    {"aten.isinf.default", is_infinite},
    {"aten.isnan.default", is_nan_of},
    {"aten.le.Scalar", compared<less_equal>},
    {"aten.le.Tensor", compared<less_equal>},
    {"aten.logical_and.default", logical<both>},
    {"aten.logical_not.default",
     [](Call& c) -> Result { return logical_not(nonzero(c.tensor("self"))); }},
    {"aten.logical_or.default", logical<either>},
    {"aten.logical_xor.default", logical<one_of>},
    {"aten.lt.Scalar", compared<less>},
    {"aten.lt.Tensor", compared<less>},
    {"aten.masked_fill.Scalar", masked_fill},
    {"aten.masked_fill.Tensor", masked_fill},
    {"aten.ne.Scalar", compared<differs>},
    {"aten.ne.Tensor", compared<differs>},
    {"aten.where.Scalar", where},
    {"aten.where.ScalarOther", where},
    {"aten.where.ScalarSelf", where},
    {"aten.where.self", where},
});

}  // namespace

std::span<const Operator> comparison_operators() { return kComparisons; }

}  // namespace assay::models::pt2
