// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/nfc.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "models/tokenizer/characters.h"
#include "models/tokenizer/utf8.h"

namespace assay::models {
namespace {

struct CombiningRun {
  char32_t first;
  std::uint32_t combining_class;
};
constexpr CombiningRun kCombiningRuns[] = {
#include "models/tokenizer/unicode_combining.inc"
};
struct Decomposition {
  char32_t whole, first, second;  // second: 0 where there is but one
  bool composes;
};
constexpr Decomposition kDecompositions[] = {
#include "models/tokenizer/unicode_decompositions.inc"
};

// Hangul syllables are composed by arithmetic.
constexpr char32_t kSyllables = 0xac00, kLeads = 0x1100, kVowels = 0x1161, kTrails = 0x11a7;
constexpr char32_t kLeadCount = 19, kVowelCount = 21, kTrailCount = 28;

std::uint32_t combining_class(char32_t c) {
  if (c < 0x300) return 0;
  const auto after = std::ranges::upper_bound(kCombiningRuns, c, {}, &CombiningRun::first);
  return std::prev(after)->combining_class;
}

void append_decomposed(std::vector<char32_t>& out, char32_t c) {
  if (c >= kSyllables && c < kSyllables + kLeadCount * kVowelCount * kTrailCount) {
    const char32_t index = c - kSyllables;
    out.push_back(kLeads + index / (kVowelCount * kTrailCount));
    out.push_back(kVowels + index / kTrailCount % kVowelCount);
    if (index % kTrailCount != 0) out.push_back(kTrails + index % kTrailCount);
    return;
  }
  const auto* found = std::ranges::lower_bound(kDecompositions, c, {}, &Decomposition::whole);
  if (c < 0xc0 || found == std::end(kDecompositions) || found->whole != c) {
    out.push_back(c);
    return;
  }
  append_decomposed(out, found->first);
  if (found->second != 0) append_decomposed(out, found->second);
}

std::uint64_t pair_of(char32_t first, char32_t second) {
  return std::uint64_t{first} << 32 | second;
}

// 0 where the two compose to nothing.
char32_t composed(char32_t first, char32_t second) {
  static const auto kCompositions = [] {
    std::unordered_map<std::uint64_t, char32_t> result;
    for (const auto& d : kDecompositions) {
      if (d.composes) result.emplace(pair_of(d.first, d.second), d.whole);
    }
    return result;
  }();
  if (first >= kLeads && first < kLeads + kLeadCount && second >= kVowels &&
      second < kVowels + kVowelCount) {
    return kSyllables + ((first - kLeads) * kVowelCount + second - kVowels) * kTrailCount;
  }
  if (first >= kSyllables && first < kSyllables + kLeadCount * kVowelCount * kTrailCount &&
      (first - kSyllables) % kTrailCount == 0 && second > kTrails &&
      second < kTrails + kTrailCount) {
    return first + second - kTrails;
  }
  const auto found = kCompositions.find(pair_of(first, second));
  return found == kCompositions.end() ? 0 : found->second;
}

// Marks by their class, those of one class as they came.
void order_marks(std::vector<char32_t>& text) {
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && combining_class(text[end]) != 0) ++end;
    std::stable_sort(text.begin() + static_cast<std::ptrdiff_t>(i),
                     text.begin() + static_cast<std::ptrdiff_t>(end), [](char32_t a, char32_t b) {
                       return combining_class(a) < combining_class(b);
                     });
    i = end + 1;
  }
}

void compose(std::vector<char32_t>& text) {
  std::size_t kept = 0;
  std::ptrdiff_t starter = -1;     // where the last character of class 0 is
  std::uint32_t class_before = 0;  // of what was kept last behind it
  for (const char32_t c : text) {
    const std::uint32_t own = combining_class(c);
    const bool adjacent = starter >= 0 && static_cast<std::size_t>(starter) + 1 == kept;
    if (starter >= 0 && (adjacent || class_before < own)) {
      const char32_t whole = composed(text[static_cast<std::size_t>(starter)], c);
      if (whole != 0) {
        text[static_cast<std::size_t>(starter)] = whole;
        continue;
      }
    }
    if (own == 0) starter = static_cast<std::ptrdiff_t>(kept);
    class_before = own;
    text[kept++] = c;
  }
  text.resize(kept);
}

// What may be other in form C, or make the character before it so: all else begins anew.
Characters unsettled() {
  std::vector<Characters::Range> ranges = {{kVowels, kVowels + kVowelCount - 1},
                                           {kTrails + 1, kTrails + kTrailCount - 1}};
  for (const auto& d : kDecompositions) {
    const char32_t c = d.composes ? d.second : d.whole;
    ranges.push_back({c, c});
  }
  for (std::size_t i = 0; i + 1 < std::size(kCombiningRuns); ++i) {
    if (kCombiningRuns[i].combining_class == 0) continue;
    ranges.push_back({kCombiningRuns[i].first, kCombiningRuns[i + 1].first - 1});
  }
  return Characters(std::move(ranges));
}

void append_normalized(std::string& out, const char* at, const char* end) {
  std::vector<char32_t> characters;
  while (at != end) append_decomposed(characters, next_character(at));
  order_marks(characters);
  compose(characters);
  for (const char32_t c : characters) append_utf8(out, c);
}

}  // namespace

std::string nfc(std::string_view text) {
  static const CharacterTest kUnsettled(unsettled());
  std::string result;
  result.reserve(text.size());
  const char* const end = text.data() + text.size();
  const char* copied = text.data();  // all before it is in the result
  const char* settled = copied;      // the last character that nothing before it can change
  for (const char* at = copied; at != end;) {
    const char* const here = at;
    const char32_t c = next_character(at);
    if (c < 0x300 || !kUnsettled(c)) {
      settled = here;
      continue;
    }
    while (at != end) {
      const char* const next = at;
      if (!kUnsettled(next_character(at))) {
        at = next;
        break;
      }
    }
    result.append(copied, settled);
    append_normalized(result, settled, at);
    copied = settled = at;
  }
  result.append(copied, end);
  return result;
}

}  // namespace assay::models
