// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text_pieces.h"

namespace assay {

// SHA-256 as 64 lower-case hex digits. For identities: attempts, machines, binaries, inputs.
std::string sha256_hex(std::string_view bytes);
std::string sha256_hex(const TextPieces& bytes);

// The first 16 hex digits of SHA-256 of the text: enough for the ids of a laboratory's lifetime
// (64 bits: a billion ids collide with probability 3 %).
std::string short_hash(std::string_view text);

// SHA-256 of a file's content. Throws UserError that names the path.
std::string sha256_file(const std::string& path);

// CRC-32C (Castagnoli), the check of a journal line: finds every flipped byte and torn line.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);
// The same on every processor: what crc32c() does where there is no instruction for it.
std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t before = 0);

}  // namespace assay
