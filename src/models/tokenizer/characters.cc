// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/characters.h"

#include <algorithm>
#include <map>

namespace assay::models {
namespace {

constexpr char32_t kLastCharacter = 0x10ffff;
constexpr std::string_view kCategories =
    "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn";

struct CategoryRun {
  char32_t first;
  std::uint32_t category;  // its place in kCategories
};
constexpr CategoryRun kCategoryRuns[] = {
#include "models/tokenizer/unicode_categories.inc"
};

std::string_view category_name(const CategoryRun& run) {
  return kCategories.substr(run.category * 3, 2);
}

}  // namespace

Characters::Characters(std::vector<Range> ranges) {
  std::ranges::sort(ranges, {}, &Range::first);
  for (const auto& range : ranges) {
    if (!ranges_.empty() && range.first <= ranges_.back().last + 1) {
      ranges_.back().last = std::max(ranges_.back().last, range.last);
    } else {
      ranges_.push_back(range);
    }
  }
}

Characters Characters::operator|(const Characters& other) const {
  auto both = ranges_;
  both.insert(both.end(), other.ranges_.begin(), other.ranges_.end());
  return Characters(std::move(both));
}

Characters Characters::operator~() const {
  Characters result;
  char32_t next = 0;
  for (const auto& range : ranges_) {
    if (range.first > next) result.ranges_.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLastCharacter) result.ranges_.push_back({next, kLastCharacter});
  return result;
}

Characters characters_of_category(std::string_view name) {
  if (name.empty() || name.size() > 2) return {};
  std::vector<Characters::Range> ranges;
  for (std::size_t i = 0; i < std::size(kCategoryRuns); ++i) {
    if (!category_name(kCategoryRuns[i]).starts_with(name)) continue;
    const bool is_last = i + 1 == std::size(kCategoryRuns);
    ranges.push_back(
        {kCategoryRuns[i].first, is_last ? kLastCharacter : kCategoryRuns[i + 1].first - 1});
  }
  return Characters(std::move(ranges));
}

Characters white_space() {
  return Characters({{0x09, 0x0d},
                     {0x20, 0x20},
                     {0x85, 0x85},
                     {0xa0, 0xa0},
                     {0x1680, 0x1680},
                     {0x2000, 0x200a},
                     {0x2028, 0x2029},
                     {0x202f, 0x202f},
                     {0x205f, 0x205f},
                     {0x3000, 0x3000}});
}

Characters word_characters() {
  // Beside the categories, letters in circles and squares.
  Characters result({{0x24b6, 0x24e9}, {0x1f130, 0x1f149}, {0x1f150, 0x1f169}, {0x1f170, 0x1f189}});
  for (const auto* name : {"L", "M", "Nd", "Nl", "Pc"})
    result = result | characters_of_category(name);
  return result;
}

CharacterTest::CharacterTest(const Characters& set) {
  using Page = std::array<std::uint64_t, 4>;
  std::map<Page, std::uint16_t> known;
  auto range = set.ranges().begin();
  for (std::size_t page = 0; page < page_of_.size(); ++page) {
    Page bits{};
    const auto begin = static_cast<char32_t>(page << 8);
    const char32_t end = begin + 0xff;
    while (range != set.ranges().end() && range->first <= end) {
      const char32_t first = std::max(begin, range->first),
                     last = std::min<char32_t>(end, range->last);
      for (char32_t word = first >> 6 & 3; word <= (last >> 6 & 3); ++word) {
        const char32_t low = word == (first >> 6 & 3) ? first & 63 : 0;
        const char32_t high = word == (last >> 6 & 3) ? last & 63 : 63;
        bits[word] |= ~std::uint64_t{0} << low & ~std::uint64_t{0} >> (63 - high);
      }
      if (range->last > end) break;  // it goes on in the next page
      ++range;
    }
    if (page > 0 && pages_[page_of_[page - 1]] == bits) {  // as most are
      page_of_[page] = page_of_[page - 1];
      continue;
    }
    const auto [found, is_new] = known.emplace(bits, static_cast<std::uint16_t>(pages_.size()));
    if (is_new) pages_.push_back(bits);
    page_of_[page] = found->second;
  }
}

}  // namespace assay::models
