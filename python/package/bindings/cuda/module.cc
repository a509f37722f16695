// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cuda/module.h"

#include "base/text.h"
#include "bindings/errors.h"
#include "bindings/threads.h"
#include "kernels/cuda/device.h"

namespace assay::python::cuda {
namespace {

namespace nb = nanobind;
using kernels::cuda::DeviceError;
using kernels::cuda::Trouble;

// Held for as long as the interpreter runs, as those of translate_errors() are.
struct DeviceErrors {
  PyObject *environment, *internal;
};

// No device, or one that is lost, is the machine's trouble; no memory is MemoryError; the rest is
// ours.
void translate_device_errors(nb::module_ errors) {
  auto* const classes =
      new DeviceErrors{nb::object(errors.attr("EnvironmentError")).release().ptr(),
                       nb::object(errors.attr("InternalError")).release().ptr()};
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* payload) {
        const auto& to = *static_cast<const DeviceErrors*>(payload);
        try {
          std::rethrow_exception(thrown);
        } catch (const DeviceError& e) {
          const auto text = printable(e.what());
          switch (e.trouble()) {
            case Trouble::kMemory:
              return PyErr_SetString(PyExc_MemoryError, text.c_str());
            case Trouble::kNoDevice:
            case Trouble::kLost:
              return PyErr_SetString(to.environment, ("the arrays' device: " + text).c_str());
            case Trouble::kOther:
              return PyErr_SetString(to.internal, text.c_str());
          }
        }
      },
      classes);
}

}  // namespace
}  // namespace assay::python::cuda

NB_MODULE(_cuda, module) {
  using namespace assay::python;
  nanobind::set_leak_warnings(false);  // as _core has it
  end_work_with_interpreter();
  const auto errors = nanobind::module_::import_("assay._errors");
  translate_errors(errors);
  cuda::translate_device_errors(errors);
  cuda::bind_contraction(module);
  cuda::bind_semiring(module);
}
