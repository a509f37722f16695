// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/einsum/written_pair.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.h"
#include "cases/einsum/draws.h"

namespace assay::cases::einsum {
namespace {

constexpr std::int64_t kLargestTensor = 1 << 21, kFewestProducts = 1 << 10, kMostProducts = 1 << 26;
constexpr double kMostElements = 0x1p31;  // of a tensor that somebody asks for

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

void check_labels(const std::string& expression, const std::string& labels) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (!is_letter(labels[i])) {
      fail("point: 'expression' has letters as labels, got '{}'", expression);
    }
    if (labels.find(labels[i], i + 1) != std::string::npos) {
      fail("point: 'expression' has '{}' twice in '{}'", labels[i], labels);
    }
  }
}

std::vector<std::int64_t> read_extents(const std::string& text) {
  std::vector<std::int64_t> extents;
  const char *at = text.data(), *end = at + text.size();
  while (true) {
    std::int64_t extent = 0;
    const auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc() || extent < 1 || extent > 1 << 24) {
      fail("point: 'extents' are numbers from 1 to {} like 512x64, got '{}'", 1 << 24, text);
    }
    extents.push_back(extent);
    if (next == end) return extents;
    if (*next != 'x') fail("point: 'extents' are numbers like 512x64, got '{}'", text);
    at = next + 1;
  }
}

double product(const std::string& labels, const std::map<char, std::int64_t>& extents) {
  double all = 1;
  for (const char label : labels) all *= static_cast<double>(extents.at(label));
  return all;
}

}  // namespace

Contraction written_pair(const std::string& expression, const std::string& extents) {
  Contraction pair{expression, expression, read_extents(extents), 2, {{0, 1}}};
  const auto arrow = expression.find("->");
  if (arrow == std::string::npos) fail("point: 'expression' has no ->: '{}'", expression);
  const auto terms = pair.terms();
  if (terms.size() != 2) fail("point: 'expression' is of two terms, got '{}'", expression);
  std::string labels;  // in order of appearance
  for (const auto& term : terms) {
    check_labels(expression, term);
    for (const char label : term) {
      if (labels.find(label) == std::string::npos) labels += label;
    }
  }
  check_labels(expression, pair.output());
  for (const char label : pair.output()) {
    if (labels.find(label) == std::string::npos) {
      fail("point: 'expression' has '{}' in its output alone: '{}'", label, expression);
    }
  }
  if (labels.size() != pair.extents.size()) {
    fail("point: {} labels need as many extents, got '{}'", labels.size(), extents);
  }
  const auto extent_of = pair.extent_of();
  for (const auto& tensor : {terms[0], terms[1], pair.output()}) {
    if (product(tensor, extent_of) > kMostElements) {
      fail("point: a tensor of more than 2^31 elements: '{}'", tensor);
    }
  }
  pair.flop = flop_of_pair(pair);
  return pair;
}

std::vector<Contraction> random_pairs(int count, std::uint64_t seed) {
  constexpr auto kExtents = std::to_array({2, 3, 4, 5, 8, 12, 16, 24, 32, 50, 64, 100});
  Draws draws(seed);
  std::vector<Contraction> pairs;
  while (static_cast<int>(pairs.size()) < count) {
    const std::size_t labels = 2 + draws.below(5);
    std::map<char, std::int64_t> extents;
    std::string all, left, right, output;
    for (std::size_t i = 0; i < labels; ++i) {
      const char label = static_cast<char>('a' + i);
      extents[label] = kExtents[draws.below(kExtents.size())];
      const auto group = draws.below(4);  // batched, of the left, of the right, summed
      all += label;
      if (group != 2) left += label;
      if (group != 1) right += label;
      if (group != 3) output += label;
    }
    for (auto* order : {&left, &right, &output}) draws.shuffle(*order);
    const double products = product(all, extents);
    const double largest =
        std::max({product(left, extents), product(right, extents), product(output, extents)});
    if (left.empty() || right.empty() || largest > static_cast<double>(kLargestTensor) ||
        products < static_cast<double>(kFewestProducts) ||
        products > static_cast<double>(kMostProducts)) {
      continue;
    }
    std::vector<std::int64_t> in_order;
    std::string seen;
    for (const char label : left + right) {
      if (seen.find(label) != std::string::npos) continue;
      seen += label;
      in_order.push_back(extents.at(label));
    }
    pairs.push_back(written_pair(left + "," + right + "->" + output,
                                 fmt::format("{}", fmt::join(in_order, "x"))));
  }
  return pairs;
}

std::string extents_text(const Contraction& contraction) {
  return fmt::format("{}", fmt::join(contraction.extents, "x"));
}

}  // namespace assay::cases::einsum
