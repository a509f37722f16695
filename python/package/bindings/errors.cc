// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/errors.h"

#include <filesystem>

#include "base/error.h"
#include "base/text.h"

namespace assay::python {
namespace {

namespace nb = nanobind;

// Held for as long as the interpreter runs: never destroyed, so that nothing is released after it.
struct Classes {
  PyObject *on_device, *user, *environment, *disk, *internal;
};

}  // namespace

void translate_errors(nb::module_ errors) {
  const auto held = [&](const char* name) { return nb::object(errors.attr(name)).release().ptr(); };
  auto* classes = new Classes{held("OnDevice"), held("UserError"), held("EnvironmentError"),
                              held("DiskError"), held("InternalError")};
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* payload) {
        const auto& to = *static_cast<const Classes*>(payload);
        // A message may quote a file, whose bytes need not be UTF-8.
        const auto raise = [](PyObject* type, const std::exception& e) {
          PyErr_SetString(type, printable(e.what()).c_str());
        };
        try {
          std::rethrow_exception(thrown);
        } catch (const OnDevice& e) {
          raise(to.on_device, e);
        } catch (const EnvironmentError& e) {
          raise(to.environment, e);
        } catch (const DiskError& e) {
          raise(to.disk, e);
        } catch (const UserError& e) {
          raise(to.user, e);
        } catch (const std::filesystem::filesystem_error& e) {
          // A path that cannot be looked at: too long, in a folder that may not be entered.
          raise(to.user, UserError(fmt::format("cannot look at '{}': {}", e.path1().string(),
                                               e.code().message())));
        } catch (const InternalError& e) {
          raise(to.internal, e);
        }
      },
      classes);
}

}  // namespace assay::python
