// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far a right answer may be from the interpreter's: each operation is allowed its own rounding,
// sums any order, exp2 and its like a few last places; and what that does to all that follows is
// worked out element by element beside the interpretation (element_bound.h). Where a comparison
// could go either way, or an overflow come or not, nothing is asked of what depends on it. Sums of
// products of bf16 are allowed what processors' units for them do, and no more (SumsOf).

#include <map>
#include <string>
#include <vector>

#include "compiler/reference/interpret.h"
#include "compiler/verify/element_bound.h"

namespace assay::compiler {

struct BoundedTensor {
  Tensor value;
  std::vector<double> bounds;  // of each element: how far off it may be; infinite: anything goes
};
// By the outputs' names. Throws what interpret() throws.
std::map<std::string, BoundedTensor> interpret_with_bounds(const Graph& graph,
                                                           const InputViews& inputs,
                                                           const Bindings& symbols,
                                                           const NodeObserver& observer = {});

// The same in parts: errors of inputs that are results of something else, by name, and errors of
// outputs with their deviations.
struct TensorWithErrors {
  Tensor value;
  std::vector<Error> errors;  // of each element; none where all are exact
};
std::map<std::string, TensorWithErrors> interpret_with_errors(
    const Graph& graph, const InputViews& inputs, const Bindings& symbols,
    const std::map<std::string, const std::vector<Error>*>& of_inputs = {},
    const NodeObserver& observer = {});
std::map<std::string, BoundedTensor> bounded(std::map<std::string, TensorWithErrors> outputs);

// "element 17 is 0.5, expected 0.25 ± 1e-7", or nothing where all are within their bounds. A NaN is
// expected where a NaN is, an infinity where that infinity is.
std::string difference(const BoundedTensor& expected, const TensorView& got);

// Of what no bound says anything about, both computed in f64 from the same numbers: what is the
// same by another way differs in the last places, what is something else by more. Something is
// wrong where a tenth of those elements, or most of a row of them, is off by 10⁻⁶ of their root
// mean square; one choice that went the other way is not.
std::string difference_in_the_open(const BoundedTensor& expected, const TensorView& got);

}  // namespace assay::compiler
