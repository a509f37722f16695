// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/compose.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/philox.h"
#include "compiler/reference/reads_through.h"

namespace assay::compiler {
namespace {

const Symbols kSymbols = {{"s", {3, 10}}};

FixedView with(std::int64_t s, const View& view) {
  const Bindings values = {{"s", s}};
  FixedView result{{}, {}, view.offset.at(values)};
  for (const auto& dim : view.shape) result.shape.push_back(dim.at(values));
  for (const auto& dim : view.strides) result.strides.push_back(dim.at(values));
  return result;
}
// The least and the greatest place it reads lie within so many elements.
bool stays_within(const FixedView& view, std::int64_t elements) {
  std::int64_t low = view.offset, high = view.offset;
  for (std::size_t i = 0; i < view.shape.size(); ++i) {
    if (view.shape[i] < 1) return false;
    const auto way = view.strides[i] * (view.shape[i] - 1);
    (way < 0 ? low : high) += way;
  }
  return low >= 0 && high < elements;
}

class RandomViews {
 public:
  explicit RandomViews(std::uint64_t seed) : stream_(seed) {}
  View inner() {
    View view;
    for (auto rank = 1 + below(3); rank > 0; --rank) {
      view.shape.push_back(extent());
      view.strides.push_back(Dim(below(4)) * extent() - Dim(below(3)));
    }
    view.offset = Dim(below(5));
    return view;
  }
  // Steps of the inner view's axes, forwards, backwards and either.
  View outer(const View& inner) {
    std::vector<Dim> places = {1};
    for (std::size_t i = inner.rank(); i-- > 1;) places.push_back(places.back() * inner.shape[i]);
    const Dim steps[] = {1, 1, 1, -1, 2, 0, Dim::symbol("s") - 5, 5 - Dim::symbol("s")};
    View view;
    for (auto rank = 1 + below(3); rank > 0; --rank) {
      view.shape.push_back(extent());
      view.strides.push_back(places[at(places.size())] * steps[at(std::size(steps))]);
      if (below(3) == 0) view.offset += places[at(places.size())] * Dim(below(5));
    }
    return view;
  }

 private:
  std::int64_t below(std::uint64_t bound) {
    return static_cast<std::int64_t>(uniform_below(stream_[drawn_++], bound));
  }
  std::size_t at(std::size_t size) { return static_cast<std::size_t>(below(size)); }
  Dim extent() {
    const Dim all[] = {1, 2, 3, 4, 6, Dim::symbol("s"), 2 * Dim::symbol("s")};
    return all[at(std::size(all))];
  }

  Philox stream_;
  std::uint64_t drawn_ = 0;
};

TEST(Compose, ReadsWhatTheTwoViewsReadOneThroughTheOther) {
  RandomViews views(7);
  int composed = 0, either_way = 0;
  for (int i = 0; i < 30'000; ++i) {
    const auto inner = views.inner();
    const auto outer = views.outer(inner);
    std::vector<std::int64_t> legal;
    for (std::int64_t s = 3; s <= 10; ++s) {
      if (stays_within(with(s, outer), with(s, inner).element_count())) legal.push_back(s);
    }
    if (legal.size() < 8) continue;  // no graph has it
    const auto through = compose(outer, inner, kSymbols);
    const auto is_either = [](const Dim& stride) {
      const auto range = stride.range(kSymbols);
      return range.low < 0 && range.high > 0;
    };
    either_way += std::ranges::any_of(outer.strides, is_either) ? 1 : 0;
    if (!through) continue;
    ++composed;
    for (const auto s : legal) {
      ASSERT_TRUE(reads_through(with(s, *through), with(s, outer), with(s, inner)))
          << outer.to_string() << " through " << inner.to_string() << " is not "
          << through->to_string() << " for s = " << s;
    }
  }
  EXPECT_GT(composed, 2'000);
  EXPECT_GT(either_way, 200);
}

// What the test above asks is able to say no.
TEST(Compose, ACarryIsSeen) {
  const FixedView inner{{4, 4}, {1, 4}, 0}, outer{{8, 2}, {1, 8}, 0};
  EXPECT_FALSE(reads_through({{8, 2}, {4, 32}, 0}, outer, inner));
  const FixedView large{{100, 100}, {1, 100}, 0};
  EXPECT_TRUE(reads_through({{100, 100}, {1, 100}, 0}, {{100, 100}, {100, 1}, 0}, large));
  EXPECT_FALSE(reads_through({{50, 200}, {2, 100}, 0}, {{50, 200}, {200, 1}, 0}, large));
}

}  // namespace
}  // namespace assay::compiler
