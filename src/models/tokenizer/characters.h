// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sets of characters, and the classes of Unicode that patterns name. They are those that PyPI's
// tokenizers has, which no library of the system agrees with
// (docs/adr/0048-unicode-of-tokenizers.md).

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::models {

// Code points as sorted ranges that neither overlap nor touch.
class Characters {
 public:
  struct Range {
    char32_t first, last;  // both in it
    bool operator==(const Range&) const = default;
  };

  Characters() = default;
  explicit Characters(std::vector<Range> ranges);  // in any order
  Characters operator|(const Characters& other) const;
  Characters operator~() const;  // of 0 to 0x10ffff
  const std::vector<Range>& ranges() const { return ranges_; }
  bool operator==(const Characters&) const = default;

 private:
  std::vector<Range> ranges_;
};

// A general category ("Lu") or all of one letter ("L"). Empty for any other name.
Characters characters_of_category(std::string_view name);
Characters white_space();      // \s
Characters word_characters();  // \w

// Whether a character is in a set, in two loads: pages of 256 bits, equal ones kept once.
class CharacterTest {
 public:
  explicit CharacterTest(const Characters& set);
  bool operator()(char32_t c) const {
    const auto& page = pages_[page_of_[c >> 8]];
    return (page[c >> 6 & 3] >> (c & 63) & 1) != 0;
  }

 private:
  std::array<std::uint16_t, 0x1100> page_of_;
  std::vector<std::array<std::uint64_t, 4>> pages_;
};

}  // namespace assay::models
