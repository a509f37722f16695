// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Byte-level vocabularies write bytes as characters that are seen: most of Latin-1 as itself, the
// others from U+0100 on, in order (a space is U+0120). GPT-2 began it; every such tokenizer.json
// has it.

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace assay::models {

// The character for each byte, as UTF-8.
const std::array<std::string, 256>& byte_characters();

// The bytes that this text stands for; nothing where a character stands for none.
std::optional<std::string> bytes_of_characters(std::string_view text);

}  // namespace assay::models
