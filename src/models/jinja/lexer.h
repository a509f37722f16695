// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A template in pieces: text between tags, and the words of tags. White space around tags goes as
// models' templates expect it (trim_blocks, lstrip_blocks, and the signs - and + in tags).

#include <string>
#include <string_view>
#include <vector>

#include "models/jinja/work.h"

namespace assay::models::jinja {

struct Token {
  enum Kind {
    kData,        // text to print
    kPrintBegin,  // {{
    kPrintEnd,    // }}
    kBlockBegin,  // {%
    kBlockEnd,    // %}
    kName,        // of a variable, or a word such as `if`
    kText,        // a literal, unescaped
    kInteger,     // digits
    kFloat,       // digits
    kOperator,    // ( ) [ ] { } , : . | = and those of expressions
    kEnd,         // of the template
  } kind;
  std::string text;
  int line;
};

// Throws UserError by `work`. The last token is kEnd.
std::vector<Token> tokens_of(std::string_view source, Work& work);

}  // namespace assay::models::jinja
