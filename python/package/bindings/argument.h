// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Arguments that are no arrays, as what they must be.

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

namespace assay::python {

// Throws TypeError that names the argument.
[[noreturn]] inline void refuse_type(nanobind::handle given, const char* name,
                                     const char* expected) {
  throw nanobind::type_error(fmt::format("{} is {}, not of type {}", name, expected,
                                         nanobind::type_name(given.type()).c_str())
                                 .c_str());
}

template <typename T>
T argument(nanobind::handle given, const char* name, const char* expected) {
  T value{};
  if (!nanobind::try_cast(given, value)) refuse_type(given, name, expected);
  return value;
}

// As Python shows it; some things cannot be, such as a whole number of too many digits.
inline std::string shown(nanobind::handle given) {
  try {
    return nanobind::repr(given).c_str();
  } catch (const nanobind::python_error&) {
    return "what cannot be shown";
  }
}

// A str, valid while it lives. Throws UserError that names the argument for what is no UTF-8, and
// for a NUL character, which would end the text of every message about it.
inline std::string_view text_argument(nanobind::handle given, const char* name) {
  if (!PyUnicode_Check(given.ptr())) refuse_type(given, name, "a str");
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(given.ptr(), &size);
  if (text == nullptr) {
    PyErr_Clear();
    fail("{}: is not UTF-8: {}", name, shown(given));
  }
  const std::string_view whole(text, static_cast<std::size_t>(size));
  if (whole.find('\0') != std::string_view::npos) {
    fail("{}: has a NUL character: '{}'", name, printable(whole));
  }
  return whole;
}

// A class whose objects are not pickled and say so: `why` names them, and what to do instead.
template <typename Class>
void refuse_pickling(Class& bound, const char* why) {
  bound.def("__reduce_ex__",
            [why](nanobind::handle, int) -> nanobind::object { throw nanobind::type_error(why); });
}

}  // namespace assay::python
