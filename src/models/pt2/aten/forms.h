// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Forms that several operators are made of.

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "models/pt2/call.h"

namespace assay::models::pt2 {

// f16 and bf16 are computed with in f32 and rounded once, as torch does.
bool is_sixteen_bits(DType dtype);
DType wide_of(DType dtype);
GraphTensor widened(const GraphTensor& x);

// What becomes of a number beside tensors of sixteen bits: it is rounded as they are, or, in
// torch's products and quotients, it is not.
enum class Numbers : std::uint8_t { kRounded, kWide };

// f of the arguments of these names, in the dtype that torch promotes them to.
GraphTensor elementwise(Call& c, const std::vector<std::string_view>& names,
                        const std::function<GraphTensor(const std::vector<GraphTensor>&)>& f,
                        bool in_floating_point = false, Numbers numbers = Numbers::kRounded);

// A function of each element: of numbers as floating point, or of each dtype in its own.
using Unary = GraphTensor (*)(const GraphTensor&);
template <Unary kFunction>
Result floating_unary(Call& c) {
  return elementwise(
      c, {"self"}, [](const auto& x) { return kFunction(x[0]); }, true);
}
template <Unary kFunction>
Result plain_unary(Call& c) {
  return elementwise(c, {"self"}, [](const auto& x) { return kFunction(x[0]); });
}

// x times the number of this name, where the call has it.
GraphTensor times_number(const Call& c, const GraphTensor& x, std::string_view name);

// An axis counted from the end or not. Throws UserError where there is none.
std::size_t axis_in(std::int64_t axis, std::size_t rank);
// The axes of a list without repetition, in order; an empty list is all.
std::vector<std::size_t> axes_in(const std::vector<std::int64_t>& list, std::size_t rank);
int signed_axis(std::size_t axis);

// The shape that all broadcast to.
std::vector<Dim> broadcast_shape(const std::vector<GraphTensor>& tensors);

GraphTensor differs(const GraphTensor& a, const GraphTensor& b);  // true of NaN
GraphTensor is_nan(const GraphTensor& x);
GraphTensor absolute(const GraphTensor& x);
GraphTensor rounded_down(const GraphTensor& x);  // of floating point
GraphTensor rounded_to_zero(const GraphTensor& x);
GraphTensor nonzero(const GraphTensor& x);  // as bool
// a / b of integers, towards minus infinity, exactly. By 0: 0.
GraphTensor integer_quotient(const GraphTensor& a, const GraphTensor& b);

// One place along an axis, which goes; negative ones count from the end.
GraphTensor selected(const GraphTensor& x, std::size_t axis, const Dim& index);
// A place along an axis, from its beginning: negative ones count from the end.
Dim counted_from_begin(const Graph& graph, const Dim& place, const Dim& extent);
// 0 … extent − 1 along one axis of `rank`, so that it broadcasts to it.
GraphTensor along_axis(Graph& graph, const Dim& extent, std::size_t axis, std::size_t rank,
                       DType dtype = DType::kI64);
// Flat places in a tensor of that shape, from a place along each axis (all broadcast).
GraphTensor flat_places(Graph& graph, const std::vector<Dim>& shape,
                        const std::vector<GraphTensor>& along);
// Negative ones count from the end.
GraphTensor wrapped_index(const GraphTensor& index, const Dim& extent);

// Over several axes at once; kept ones have extent 1.
GraphTensor sum_over(const GraphTensor& x, const std::vector<std::size_t>& axes, bool keeps);
GraphTensor max_over(const GraphTensor& x, const std::vector<std::size_t>& axes, bool keeps);
GraphTensor min_over(const GraphTensor& x, const std::vector<std::size_t>& axes, bool keeps);
Dim extent_over(const GraphTensor& x, const std::vector<std::size_t>& axes);
GraphTensor mean_over(const GraphTensor& x, const std::vector<std::size_t>& axes, bool keeps);
GraphTensor variance_over(const GraphTensor& x, const std::vector<std::size_t>& axes,
                          double correction, bool keeps);

// x Wᵀ + b, summed and added in f32 where x has sixteen bits.
GraphTensor linear_of(const GraphTensor& x, const GraphTensor& weight,
                      const std::optional<GraphTensor>& bias);

}  // namespace assay::models::pt2
