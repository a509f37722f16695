// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/looked_up.h"

#include <optional>

namespace assay::python {
namespace {

namespace nb = nanobind;

// NumPy's names, which torch and jax have as well.
constexpr std::array<const char*, kDTypes> kNames = {
    "bool",  "uint8",   "int8",     "uint16",  "int16",   "uint32",    "int32",     "uint64",
    "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};

PyObject* held(nb::object object) { return object.release().ptr(); }

Torch looked_up_in(nb::handle torch) {
  const auto tensor = torch.attr("Tensor"), autograd = torch.attr("autograd");
  const auto forward_ad = autograd.attr("forward_ad");
  Torch found{.tensor = held(tensor),
              .empty = held(torch.attr("empty")),
              .from_numpy = held(torch.attr("from_numpy")),
              .to_dlpack = held(torch.attr("to_dlpack")),
              .is_conj = held(tensor.attr("is_conj")),
              .is_neg = held(tensor.attr("is_neg")),
              .data_ptr = held(tensor.attr("data_ptr")),
              .requires_grad = PyUnicode_InternFromString("requires_grad"),
              .is_grad_enabled = held(torch.attr("is_grad_enabled")),
              .increment_version = held(autograd.attr("graph").attr("increment_version")),
              .forward_ad = held(forward_ad),
              .unpack_dual = held(forward_ad.attr("unpack_dual")),
              .current_level = PyUnicode_InternFromString("_current_level"),
              .tangent = PyUnicode_InternFromString("tangent"),
              .cpu = held(torch.attr("device")("cpu")),
              .dtype_and_device = held(nb::make_tuple(nb::str("dtype"), nb::str("device"))),
              .dtypes = {}};
  for (std::size_t i = 0; i < kDTypes; ++i) {
    if (nb::hasattr(torch, kNames[i])) found.dtypes[i] = held(torch.attr(kNames[i]));
  }
  return found;
}

}  // namespace

const Numpy& numpy() {
  static const Numpy module = [] {
    const auto np = nb::module_::import_("numpy");
    Numpy found{held(np.attr("ndarray")), held(np.attr("empty")), {}};
    for (std::size_t i = 0; i < kDTypes; ++i) {
      if (static_cast<DType>(i) == DType::kBF16) continue;
      found.dtypes[i] = held(np.attr("dtype")(kNames[i]));
    }
    return found;
  }();
  return module;
}

const Torch* torch() {
  static std::optional<Torch> module;
  if (module) return &*module;
  const nb::handle loaded = PyDict_GetItemString(PyImport_GetModuleDict(), "torch");
  // What is being imported has no tensors yet; its functions come last.
  if (!loaded.is_valid() || !nb::hasattr(loaded, "to_dlpack")) return nullptr;
  module = looked_up_in(loaded);
  return &*module;
}

}  // namespace assay::python
