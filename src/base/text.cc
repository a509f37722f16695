// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace assay {
namespace {

struct Range {
  char32_t first, last;
};

constexpr std::array<Range, 15> kCombining = {{{0x0300, 0x036f},
                                               {0x0483, 0x0489},
                                               {0x0591, 0x05bd},
                                               {0x0610, 0x061a},
                                               {0x064b, 0x065f},
                                               {0x06d6, 0x06dc},
                                               {0x0900, 0x0902},
                                               {0x0e34, 0x0e3a},
                                               {0x0e47, 0x0e4e},
                                               {0x1ab0, 0x1aff},
                                               {0x1dc0, 0x1dff},
                                               {0x20d0, 0x20ff},
                                               {0xfe00, 0xfe0f},
                                               {0xfe20, 0xfe2f},
                                               {0xe0100, 0xe01ef}}};

constexpr std::array<Range, 13> kWide = {{{0x1100, 0x115f},
                                          {0x2e80, 0x303e},
                                          {0x3041, 0x33ff},
                                          {0x3400, 0x4dbf},
                                          {0x4e00, 0x9fff},
                                          {0xa000, 0xa4cf},
                                          {0xac00, 0xd7a3},
                                          {0xf900, 0xfaff},
                                          {0xfe30, 0xfe6f},
                                          {0xff00, 0xff60},
                                          {0xffe0, 0xffe6},
                                          {0x1f300, 0x1faff},
                                          {0x20000, 0x3fffd}}};

// Marks that are not seen themselves but reorder, join or hide what is.
constexpr std::array<Range, 10> kInvisible = {{{0x00ad, 0x00ad},
                                               {0x061c, 0x061c},
                                               {0x115f, 0x1160},
                                               {0x180e, 0x180e},
                                               {0x200b, 0x200f},
                                               {0x2028, 0x202e},
                                               {0x2060, 0x206f},
                                               {0xfeff, 0xfeff},
                                               {0xfff9, 0xfffb},
                                               {0xe0000, 0xe007f}}};

bool in_any(std::span<const Range> ranges, char32_t c) {
  return std::ranges::any_of(ranges, [c](Range r) { return r.first <= c && c <= r.last; });
}

constexpr char32_t kInvalid = 0xffffffff;

// Takes one character off the front; kInvalid (and one byte) where there is none.
char32_t next_character(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const int length = lead < 0x80       ? 1
                     : lead >> 5 == 6  ? 2
                     : lead >> 4 == 14 ? 3
                     : lead >> 3 == 30 ? 4
                                       : 0;
  const auto bad = [&] {
    text.remove_prefix(1);
    return kInvalid;
  };
  if (length == 0 || static_cast<std::size_t>(length) > text.size()) return bad();
  char32_t c = length == 1 ? lead : lead & (0xffu >> (length + 1));
  for (int i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[static_cast<std::size_t>(i)]);
    if (byte >> 6 != 2) return bad();
    c = c << 6 | (byte & 0x3fu);
  }
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = c >= 0xd800 && c <= 0xdfff;
  if (c < kLeast[static_cast<std::size_t>(length)] || surrogate || c > 0x10ffff) return bad();
  text.remove_prefix(static_cast<std::size_t>(length));
  return c;
}

int width_of(char32_t c) {
  if (in_any(kCombining, c)) return 0;
  return in_any(kWide, c) ? 2 : 1;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::string_view before = text;
    const char32_t c = next_character(text);
    if (c == kInvalid) {
      result += "\uFFFD";
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (c < 0x20 || (c >= 0x7f && c < 0xa0)) {
      result += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(c));
    } else if (in_any(kInvisible, c)) {
      result += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c));
    } else {
      result += before.substr(0, before.size() - text.size());
    }
  }
  return result;
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) width += width_of(next_character(text));
  return width;
}

std::string fit(std::string_view text, int width) {
  std::string_view rest = text;
  int used = 0;
  std::size_t cut = 0;  // bytes that leave room for the ellipsis
  while (!rest.empty()) {
    used += width_of(next_character(rest));
    if (used > width) return fmt::format("{}…", text.substr(0, cut));
    if (used <= width - 1) cut = text.size() - rest.size();
  }
  return std::string(text);
}

std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string markup_escaped(char c) {
  return c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
}

std::string pad_right(std::string_view text, int width) {
  const auto spaces = static_cast<std::size_t>(std::max(0, width - display_width(text)));
  return std::string(text) + std::string(spaces, ' ');
}

std::string pad_left(std::string_view text, int width) {
  const auto spaces = static_cast<std::size_t>(std::max(0, width - display_width(text)));
  return std::string(spaces, ' ') + std::string(text);
}

}  // namespace assay
