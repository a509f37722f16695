// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Markdown that says what it is told and nothing else: text from rows can form no markup, no HTML,
// no link, no new table cell, no line of its own.

#include <string>
#include <string_view>
#include <vector>

namespace assay::lab {

// Text as it is to be read, in one line; what is longer than `width` columns is cut with a "…". To
// be put after something else on its line, never first.
std::string markdown_text(std::string_view text, int width = 120);

// One line of a table; the cells are markdown already.
std::string markdown_row(const std::vector<std::string>& cells);
// A table: titles, the alignment of each column ('l' or 'r'), rows. The cells are markdown already.
std::string markdown_table(const std::vector<std::string>& titles, std::string_view alignment,
                           const std::vector<std::vector<std::string>>& rows);

// Lines as a block of code, fenced so that nothing in them can end it. Lines are made printable().
std::string markdown_code(const std::vector<std::string>& lines);

// One word for a POSIX shell. The text must be printable() as it is.
std::string shell_word(std::string_view text);

}  // namespace assay::lab
