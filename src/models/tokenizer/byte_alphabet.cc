// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/byte_alphabet.h"

#include "models/tokenizer/utf8.h"

namespace assay::models {
namespace {

bool stands_for_itself(unsigned byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte != 0xad);
}

constexpr std::size_t kOtherBytes = 68;

}  // namespace

const std::array<std::string, 256>& byte_characters() {
  static const auto kCharacters = [] {
    std::array<std::string, 256> result;
    char32_t next = 0x100;
    for (unsigned byte = 0; byte < 256; ++byte) {
      append_utf8(result[byte], stands_for_itself(byte) ? byte : next++);
    }
    return result;
  }();
  return kCharacters;
}

std::optional<std::string> bytes_of_characters(std::string_view text) {
  static const auto kOthers = [] {
    std::array<char, kOtherBytes> result;
    std::size_t count = 0;
    for (unsigned byte = 0; byte < 256; ++byte) {
      if (!stands_for_itself(byte)) result[count++] = static_cast<char>(byte);
    }
    return result;
  }();
  std::string bytes;
  bytes.reserve(text.size());
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    const char32_t c = next_character(at);
    if (c < 0x100 && stands_for_itself(c)) {
      bytes += static_cast<char>(c);
    } else if (c >= 0x100 && c < 0x100 + kOtherBytes) {
      bytes += kOthers[c - 0x100];
    } else {
      return std::nullopt;
    }
  }
  return bytes;
}

}  // namespace assay::models
