// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "lab/record/row.h"

namespace assay::lab {

// Whether the bytes of a journal line are the very ones that were written: its check holds for the
// text as it stands. row_from_line() checks the *value*, which some changes leave alone (1e-05 and
// 1E-05, a space after a comma); a store, whose truth is the text, must notice those too.
bool line_is_untouched(std::string_view line);

// row_from_line() for text that must be untouched. Throws UserError that starts with `what`.
Row row_from_untouched_line(std::string_view line, std::string_view what);

}  // namespace assay::lab
