// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/errors.h"

#include "base/error.h"

namespace assay::python {
namespace {

namespace nb = nanobind;

// Held for as long as the interpreter runs: never destroyed, so that nothing is released after it.
struct Classes {
  PyObject *user, *environment, *disk, *internal;
};

}  // namespace

void translate_errors(nb::module_ errors) {
  const auto held = [&](const char* name) { return nb::object(errors.attr(name)).release().ptr(); };
  auto* classes = new Classes{held("UserError"), held("EnvironmentError"), held("DiskError"),
                              held("InternalError")};
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* payload) {
        const auto& to = *static_cast<const Classes*>(payload);
        try {
          std::rethrow_exception(thrown);
        } catch (const EnvironmentError& e) {
          PyErr_SetString(to.environment, e.what());
        } catch (const DiskError& e) {
          PyErr_SetString(to.disk, e.what());
        } catch (const UserError& e) {
          PyErr_SetString(to.user, e.what());
        } catch (const InternalError& e) {
          PyErr_SetString(to.internal, e.what());
        }
      },
      classes);
}

}  // namespace assay::python
