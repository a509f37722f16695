// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/utf8.h"

#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace assay::models {

Utf8Piece first_piece(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {Utf8Piece::kCharacter, 1};
  if (lead < 0xc2 || lead > 0xf4) return {Utf8Piece::kInvalid, 1};
  // The second byte's limits keep out overlong forms, surrogates and what is beyond U+10FFFF.
  const unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  const std::size_t length = utf8_length(bytes[0]);
  for (std::size_t i = 1; i < length; ++i) {
    if (i == bytes.size()) return {Utf8Piece::kUnfinished, i};
    if (i == 1 ? byte(1) < low || byte(1) > high : (byte(i) & 0xc0) != 0x80) {
      return {Utf8Piece::kInvalid, i};
    }
  }
  return {Utf8Piece::kCharacter, length};
}

std::size_t valid_prefix(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    std::uint64_t eight = 0;
    while (at + 8 <= bytes.size()) {
      std::memcpy(&eight, bytes.data() + at, 8);
      if ((eight & 0x8080808080808080u) != 0) break;
      at += 8;
    }
    if (at == bytes.size()) break;
    const auto piece = first_piece(bytes.substr(at));
    if (piece.kind != Utf8Piece::kCharacter) return at;
    at += piece.length;
  }
  return bytes.size();
}

void check_utf8(std::string_view text, std::string_view what) {
  const std::size_t valid = valid_prefix(text);
  if (valid == text.size()) return;
  fail("{}: not UTF-8 at byte {}: 0x{:02x}", what, valid, static_cast<unsigned char>(text[valid]));
}

void append_utf8(std::string& text, char32_t c) {
  const auto put = [&text](char32_t byte) { text += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6);
    put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3f));
    put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  }
}

}  // namespace assay::models
