// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <span>
#include <string>
#include <string_view>

namespace assay::python {

// A text that may quote a file, whose bytes need not be UTF-8: what is not becomes U+FFFD, where a
// plain conversion would raise UnicodeDecodeError.
inline nanobind::str quoting_text(std::string_view text) {
  return nanobind::steal<nanobind::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}
inline nanobind::list quoting_texts(std::span<const std::string> texts) {
  nanobind::list list;
  for (const auto& text : texts) list.append(quoting_text(text));
  return list;
}

}  // namespace assay::python
