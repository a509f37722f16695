// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whose arrays people give, and new ones of the same kind for what they get.

#include <nanobind/nanobind.h>

#include <optional>

#include "tensor/tensor.h"
#include "tensor/view.h"

namespace assay::python {

enum class Framework { kNumpy, kTorch, kJax };

// NumPy's for everything that is neither torch's nor jax's. Asks about a framework only once it has
// been imported.
Framework framework_of(nanobind::handle array);

// A new array whose elements nobody has written yet. The view is valid while the array lives.
class NewArray {
 public:
  // Throws UserError for a dtype that the framework does not have.
  NewArray(Framework framework, DType dtype, const Shape& shape);
  const MutableTensorView& view() const { return view_; }
  // The array for the caller, once it has its values; jax's do not change afterwards.
  nanobind::object finish() &&;

 private:
  nanobind::object array_;
  std::optional<Tensor> tensor_;  // in its place, for jax, whose arrays nobody writes to
  MutableTensorView view_;
};

// A tensor of ours as an array of NumPy that owns it; nothing is copied but bf16.
nanobind::object to_numpy(Tensor tensor);
// The same for a framework.
nanobind::object to_array(Framework framework, Tensor tensor);

}  // namespace assay::python
