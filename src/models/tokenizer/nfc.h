// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Unicode's normalisation form C: what can be composed is, marks in canonical order. The Unicode is
// that of PyPI's tokenizers (9.0 here): characters that came later stay as they are, and order
// nothing.

#include <string>
#include <string_view>

namespace assay::models {

// Of valid UTF-8. Linear, but for runs of marks on one character, which are sorted.
std::string nfc(std::string_view text);

}  // namespace assay::models
