// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A template in the subset of Jinja that models' chat templates are written in (docs/llm.md),
// rendered as transformers does: same text, or an error. Time and memory are bounded, whatever the
// template says.

#include <ctime>
#include <string>
#include <string_view>

#include "models/jinja/interpreter.h"
#include "models/jinja/syntax.h"

namespace assay::models::jinja {

class Template {
 public:
  // `what` names the template in errors. Throws UserError, one line with the template's line
  // number: no template, or beyond the subset.
  Template(std::string_view source, std::string what);

  // Throws UserError likewise: what the template itself refuses (raise_exception), what it does
  // with values that cannot be done, names beyond the subset, and too much of anything.
  std::string render(const Variables& variables, std::time_t now) const;

 private:
  std::string what_;
  Body body_;
};

// A JSON text as a value; members keep their order. Throws UserError that names `what`.
Value value_from_json(std::string_view json, const std::string& what);

}  // namespace assay::models::jinja
