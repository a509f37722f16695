// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What of NumPy and torch every call needs, looked up once: to find a thing by its names takes as
// long as a small product. It is never given back, as nothing of Python may be after its end.

#include <nanobind/nanobind.h>

#include <array>

#include "tensor/dtype.h"

namespace assay::python {

inline constexpr std::size_t kDTypes = static_cast<std::size_t>(DType::kC128) + 1;

// In the order of DType; null where the framework has none.
using DTypes = std::array<PyObject*, kDTypes>;

struct Numpy {
  PyObject *array, *empty;
  DTypes dtypes;
};
const Numpy& numpy();

struct Torch {
  PyObject *tensor, *empty, *from_numpy, *to_dlpack;
  PyObject *is_conj, *is_neg, *data_ptr;  // methods, to be called with the tensor
  PyObject* requires_grad;                // an attribute's name
  PyObject *is_grad_enabled, *increment_version;
  PyObject *forward_ad, *unpack_dual;  // the module, and what gives a tensor's tangent
  PyObject *current_level, *tangent;   // attributes' names: the level is −1 where there is none
  PyObject *cpu, *dtype_and_device;    // a device, and names of arguments
  DTypes dtypes;
};
// Null as long as nobody has imported torch, and while it is being imported.
const Torch* torch();

// function(arguments…), where the last of them have the names in the tuple `names`, if that is not
// null. Throws what the function raises.
template <typename... Arguments>
nanobind::object call_of(PyObject* function, PyObject* names, Arguments... arguments) {
  PyObject* given[] = {arguments..., nullptr};  // an array is never empty
  const auto named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  const std::size_t by_place = sizeof...(arguments) - static_cast<std::size_t>(named);
  auto result = nanobind::steal(PyObject_Vectorcall(function, given, by_place, names));
  if (!result.is_valid()) nanobind::raise_python_error();
  return result;
}

}  // namespace assay::python
