// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Characters of UTF-8 text. Whatever comes from outside is checked once (check_utf8); behind that,
// reading a character needs no checks.

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::models {

// What stands at the beginning of some bytes: `length` bytes of a character; or of something that
// can become none (the longest such piece, as Unicode advises to replace it: one U+FFFD for each);
// or the beginning of a character that is not all there.
struct Utf8Piece {
  enum Kind { kCharacter, kInvalid, kUnfinished } kind;
  std::size_t length;
};
Utf8Piece first_piece(std::string_view bytes);  // not of nothing

// The offset of the first byte that is not part of a character; the size where all are.
std::size_t valid_prefix(std::string_view bytes);

// Throws UserError that says where `text`, called `what`, is no UTF-8.
void check_utf8(std::string_view text, std::string_view what);

void append_utf8(std::string& text, char32_t character);
inline constexpr std::string_view kReplacementCharacter = "\xef\xbf\xbd";

// Bytes of the character that begins with this byte, in valid text.
inline std::size_t utf8_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

// The character at `at`, in valid text; `at` moves behind it.
inline char32_t next_character(const char*& at) {
  const auto byte = [&at](int i) {
    return static_cast<char32_t>(static_cast<unsigned char>(at[i]));
  };
  const char32_t lead = byte(0);
  if (lead < 0x80) {
    at += 1;
    return lead;
  }
  if (lead < 0xe0) {
    const char32_t c = (lead & 0x1f) << 6 | (byte(1) & 0x3f);
    at += 2;
    return c;
  }
  if (lead < 0xf0) {
    const char32_t c = (lead & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
    at += 3;
    return c;
  }
  const char32_t c =
      (lead & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f);
  at += 4;
  return c;
}

// The beginning of the character that ends before `at`, in valid text.
inline const char* previous_character(const char* at) {
  do {
    --at;
  } while ((static_cast<unsigned char>(*at) & 0xc0) == 0x80);
  return at;
}

}  // namespace assay::models
