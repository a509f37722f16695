// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/frameworks.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string_view.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bindings/arrays.h"
#include "bindings/looked_up.h"
#include "bindings/module.h"

namespace assay::python {
namespace {

namespace nb = nanobind;

bool is_instance_of(nb::handle object, const char* module, const char* name) {
  const nb::handle loaded = PyDict_GetItemString(PyImport_GetModuleDict(), module);
  // A module that is just being imported may not have the name yet.
  return loaded.is_valid() && nb::hasattr(loaded, name) &&
         nb::isinstance(object, loaded.attr(name));
}

nb::object tuple_of(const Shape& shape) {
  auto extents = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.rank())));
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    PyTuple_SET_ITEM(extents.ptr(), static_cast<Py_ssize_t>(axis),
                     PyLong_FromLongLong(shape[axis]));
  }
  return extents;
}

// np.empty(shape, dtype): what makes arrays that NumPy's own functions would.
nb::object numpy_empty(DType dtype, const Shape& shape) {
  PyObject* const of_dtype = numpy().dtypes[static_cast<std::size_t>(dtype)];
  check(of_dtype != nullptr, "NumPy has all dtypes but bf16");
  return call_of(numpy().empty, nullptr, tuple_of(shape).ptr(), of_dtype);
}

// NumPy's bf16 is that of a package which jax brings along.
nb::object numpys_bfloat16() {
  try {
    return nb::module_::import_("ml_dtypes").attr("bfloat16");
  } catch (const nb::python_error&) {
    fail("NumPy has arrays of bf16 only where the package ml_dtypes is installed");
  }
}

void* address_of(nb::handle numpy_array) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(numpy_array.ptr(), &buffer, PyBUF_WRITABLE) != 0) {
    nb::raise_python_error();
  }
  void* const address = buffer.buf;
  PyBuffer_Release(&buffer);
  return address;
}

// Where there are tensors of torch, or programs of its, it has been imported.
const Torch& imported_torch() {
  const Torch* const found = torch();
  check(found != nullptr, "torch has been imported where its tensors are made");
  return *found;
}

// On the processor, whatever torch.set_default_device() said.
nb::object torch_empty(DType dtype, const Shape& shape) {
  const auto& torch = imported_torch();
  PyObject* const of_dtype = torch.dtypes[static_cast<std::size_t>(dtype)];
  if (of_dtype == nullptr) fail("this torch has no tensors of {}", name_of(dtype));
  return call_of(torch.empty, torch.dtype_and_device, tuple_of(shape).ptr(), of_dtype, torch.cpu);
}

// As an array of NumPy or jax (nb::numpy, nb::jax). jax takes elements over, without a copy, where
// they are aligned as ours are.
template <typename Kind>
nb::object exported(Tensor tensor) {
  auto owned = std::make_unique<Tensor>(std::move(tensor));
  const auto view = owned->mutable_view();
  const std::vector<std::size_t> extents(view.shape().extents().begin(),
                                         view.shape().extents().end());
  nb::capsule owner(owned.get(), [](void* held) noexcept { delete static_cast<Tensor*>(held); });
  owned.release();
  return nb::cast(nb::ndarray<Kind>(view.raw_data(), extents.size(), extents.data(), owner, nullptr,
                                    dlpack_dtype(view.dtype())),
                  nb::rv_policy::reference);
}

// A tensor of a dtype that no framework takes over.
nb::object copied(Framework framework, const Tensor& tensor) {
  NewArray array(framework, tensor.dtype(), tensor.shape());
  std::memcpy(array.view().raw_data(), tensor.bytes().data(), tensor.bytes().size());
  return std::move(array).finish();
}

}  // namespace

Framework framework_of(nb::handle array) {
  if (array.type().ptr() == numpy().array) return Framework::kNumpy;
  if (torch() != nullptr && nb::isinstance(array, torch()->tensor)) return Framework::kTorch;
  if (is_instance_of(array, "jax", "Array")) return Framework::kJax;
  return Framework::kNumpy;
}

nb::object to_numpy(Tensor tensor) {
  if (tensor.dtype() == DType::kBF16) return copied(Framework::kNumpy, tensor);
  return exported<nb::numpy>(std::move(tensor));
}

nb::object to_array(Framework framework, Tensor tensor) {
  switch (framework) {
    case Framework::kNumpy:
      return to_numpy(std::move(tensor));
    case Framework::kTorch: {
      if (tensor.dtype() == DType::kBF16) return copied(framework, tensor);
      return call_of(imported_torch().from_numpy, nullptr, to_numpy(std::move(tensor)).ptr());
    }
    case Framework::kJax:
      return exported<nb::jax>(std::move(tensor));
  }
  throw InternalError("a framework is one of its enumerators");
}

NewArray::NewArray(Framework framework, DType dtype, const Shape& shape)
    : view_(dtype, nullptr, Shape({0})) {
  switch (framework) {
    case Framework::kNumpy: {
      const bool is_bfloat16 = dtype == DType::kBF16;
      array_ = numpy_empty(is_bfloat16 ? DType::kU16 : dtype, shape);
      view_ = MutableTensorView(dtype, address_of(array_), shape);
      if (is_bfloat16) array_ = array_.attr("view")(numpys_bfloat16());
      return;
    }
    case Framework::kTorch:
      array_ = torch_empty(dtype, shape);
      view_ = MutableTensorView(dtype,
                                reinterpret_cast<void*>(nb::cast<std::uintptr_t>(
                                    call_of(imported_torch().data_ptr, nullptr, array_.ptr()))),
                                shape);
      return;
    case Framework::kJax:
      tensor_.emplace(dtype, shape);
      view_ = tensor_->mutable_view();
      return;
  }
  throw InternalError("a framework is one of its enumerators");
}

nb::object NewArray::finish() && {
  return tensor_ ? exported<nb::jax>(*std::move(tensor_)) : std::move(array_);
}

// How arrays are seen and made, for who wants to know that nothing is copied.
void bind_arrays(nb::module_& module) {
  // Address, dtype, shape, and strides in bytes.
  module.def("borrowed", [](nb::handle array) {
    const BorrowedArray borrowed(array, {"array"});
    const auto& view = borrowed.view();
    nb::list shape, strides;
    for (std::size_t axis = 0; axis < view.rank(); ++axis) {
      shape.append(view.extent(axis));
      strides.append(view.stride(axis) * static_cast<std::int64_t>(size_of(view.dtype())));
    }
    return nb::make_tuple(reinterpret_cast<std::uintptr_t>(view.raw_data()),
                          nb::str(std::string(name_of(view.dtype())).c_str()), shape, strides);
  });
  // A new array of `like`'s framework, and the address of its elements when they were written.
  module.def("new_array_of", [](nb::handle like, std::string_view dtype, const nb::list& shape) {
    std::vector<std::int64_t> extents;
    for (const nb::handle extent : shape) extents.push_back(nb::cast<std::int64_t>(extent));
    NewArray array(framework_of(like), dtype_from_name(dtype, "dtype"), Shape(extents));
    const auto address = reinterpret_cast<std::uintptr_t>(array.view().raw_data());
    return nb::make_tuple(std::move(array).finish(), address);
  });
}

}  // namespace assay::python
