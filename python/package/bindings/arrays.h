// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Arrays of Python as views, without copies: by the buffer protocol where the array has it, else by
// DLPack.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <optional>
#include <string>

#include "tensor/view.h"

namespace assay::python {

struct Torch;

// What an argument is called in errors: "einsum: operand 0", or without a number "einsum: out".
struct ArgumentName {
  const char* text;
  int number = -1;
  std::string to_string() const;
};

// Somebody's array, which cannot be freed or resized before this object dies; or what NumPy makes
// of a number or a list. Needs the GIL to be made and destroyed.
class BorrowedArray {
 public:
  enum class Use { kRead, kWrite };
  // kHost: on the processor, by a call that can be made on a device as well; kHostAlone: by one
  // that cannot; kDevice: on an NVIDIA GPU.
  enum class Where { kHost, kHostAlone, kDevice };
  // Throws UserError that names the argument: no array, a dtype that tensors do not have, strides
  // that are no multiple of an element, misaligned elements, a tensor of torch that wants a
  // gradient or carries a tangent, one that may not be written, elements in the memory of a device.
  // Those of an NVIDIA GPU are OnDevice for kHost, and there for kDevice: nothing has been done
  // then to have them ready.
  BorrowedArray(nanobind::handle array, ArgumentName name, Use use = Use::kRead,
                Where where = Where::kHost);
  // Of elements that the processor may look at only where there is no device().
  const TensorView& view() const { return view_; }
  // The number of the GPU whose memory it lies in.
  std::optional<int> device() const { return device_; }
  // Of an array that was borrowed to be written, which is now: torch is told, so that a way back
  // that needs what was there before is refused. Needs the GIL.
  MutableTensorView mutable_view() const;

 private:
  struct Release {
    void operator()(Py_buffer* buffer) const;
  };
  TensorView borrow(nanobind::handle array, ArgumentName name, Use use);
  template <typename Array>
  TensorView view_of(const Array& array, ArgumentName name);
  TensorView borrow_dlpack(nanobind::handle array, ArgumentName name, Use use);
  TensorView borrow_torch(const Torch& torch, nanobind::handle tensor, ArgumentName name, Use use);

  Where where_;
  std::optional<int> device_;
  nanobind::object made_;
  nanobind::object written_;  // a tensor of torch
  std::unique_ptr<Py_buffer, Release> buffer_;
  nanobind::ndarray<> writable_;
  nanobind::ndarray<nanobind::ro> readable_;
  TensorView view_;
};

// As DLPack names it.
nanobind::dlpack::dtype dlpack_dtype(DType dtype);

// Whole numbers of Python, alone or in lists, as an array of f64, which floating ones are anyway;
// whatever else is given as it is.
nanobind::object as_real(nanobind::handle given);

}  // namespace assay::python
