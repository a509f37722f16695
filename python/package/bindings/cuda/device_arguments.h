// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The arrays of a call on a device: those that are given, and the one that it makes.

#include <deque>
#include <optional>
#include <string>

#include "bindings/arrays.h"
#include "einsum/cuda/device_engine.h"

namespace assay::python::cuda {

// All in the memory of one device.
class DeviceArguments {
 public:
  DeviceArguments() = default;
  // Of the device that something was made for.
  DeviceArguments(int device, std::string made_for)
      : first_(std::move(made_for)), device_(device) {}

  // Throws UserError that names the argument: what BorrowedArray refuses, and an array that lies
  // elsewhere than those before it. The reference is valid as long as this object is.
  const BorrowedArray& borrow(nanobind::handle array, ArgumentName name,
                              BorrowedArray::Use use = BorrowedArray::Use::kRead);
  // Throws UserError where there is none: arrays of the processor's memory alone.
  int device() const;

 private:
  std::deque<BorrowedArray> arrays_;
  std::string first_;  // whose place the others share
  std::optional<int> device_;
};

// A view's elements as the engines take them.
einsum::cuda::DeviceTensor device_tensor(const TensorView& view);

// Where a result goes: into `out`, if that is given; into what `empty(shape, dtype, device)` makes,
// a function of Python; or, where that is None, into memory of ours that jax takes over.
class DeviceResult {
 public:
  // Throws UserError for an `out` that cannot be written, or lies elsewhere.
  DeviceResult(DeviceArguments& arguments, nanobind::handle out, nanobind::handle empty,
               ArgumentName name, DType dtype, const Shape& shape);
  const einsum::cuda::DeviceTensor& tensor() const { return *tensor_; }
  TensorView view() const;
  // The array for the caller, once all that it needs is enqueued; jax's once it is done.
  nanobind::object finish() &&;

 private:
  nanobind::object array_;
  std::optional<einsum::cuda::DeviceTensor> tensor_;
  int device_;
};

}  // namespace assay::python::cuda
