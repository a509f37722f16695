// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Text that came from rows, made safe and measurable. Rows may be anyone's: a name may hold escape
// sequences that move the cursor, or marks that turn the reading direction.

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

// The text with everything that is not seen, or that changes how other text is seen, spelled out:
// control characters as \n, \t or \x1b, direction marks and zero-width characters as \u202e.
// Invalid UTF-8 becomes U+FFFD. One line, valid UTF-8.
std::string printable(std::string_view text);

// Columns that a printable() text takes on a terminal: two for East Asian wide characters and
// emoji, none for combining marks.
int display_width(std::string_view text);

// The text, cut to that many columns; a cut is marked by a final "…". width ≥ 1.
std::string fit(std::string_view text, int width);

// "&amp;", "&lt;" or "&gt;"; any other character as it is.
std::string markup_escaped(char c);

// "1 row", "2 rows".
std::string plural(std::int64_t count, std::string_view noun);

// The text with spaces behind it (or before it) up to that many columns.
std::string pad_right(std::string_view text, int width);
std::string pad_left(std::string_view text, int width);

}  // namespace assay
