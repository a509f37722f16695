// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Texts as Python has them: in characters, not in bytes. All texts are valid UTF-8.

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::models::jinja {

// What Python's isspace() says.
bool is_white_space(char32_t c);
std::string_view without_space_before(std::string_view text);
std::string_view without_space_behind(std::string_view text);
// The same with the characters of a set.
std::string_view without_before(std::string_view text, std::u32string_view set);
std::string_view without_behind(std::string_view text, std::u32string_view set);

std::u32string characters_of(std::string_view text);
std::string text_of(std::u32string_view characters);
std::size_t character_count(std::string_view text);

}  // namespace assay::models::jinja
