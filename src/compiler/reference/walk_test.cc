// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/reference/walk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "tensor/tensor.h"

namespace assay::compiler {
namespace {

// Offsets one by one, with nothing of Walk.
std::vector<std::int64_t> offsets_of(const FixedView& view) {
  std::vector<std::int64_t> all = {view.offset};
  for (std::size_t axis = 0; axis < view.shape.size(); ++axis) {
    std::vector<std::int64_t> next;
    for (const auto offset : all) {
      for (std::int64_t i = 0; i < view.shape[axis]; ++i) {
        next.push_back(offset + i * view.strides[axis]);
      }
    }
    all = std::move(next);
  }
  return all;
}

struct NamedView {
  const char* name;
  FixedView view;
  std::int64_t packed;  // elements, repeated ones once
};
std::vector<NamedView> awkward_views() {
  return {{"columns of a matrix", {{33, 65}, {1, 40}}, 33 * 65},
          {"columns from its middle, backwards", {{33, 65}, {1, -40}, 64 * 40 + 5}, 33 * 65},
          {"repeated rows", {{7, 33, 65}, {0, 1, 40}}, 33 * 65},
          {"columns of several matrices", {{3, 34, 31}, {2000, 1, 50}}, 3 * 34 * 31},
          {"side by side along the outermost axis", {{34, 3, 31}, {1, 2000, 50}}, 3 * 34 * 31},
          {"every third element", {{4, 32}, {100, 3}}, 4 * 32},
          {"one element for a whole row", {{4, 32}, {1, 0}}, 4 * 32},
          {"rows without gaps", {{4, 32}, {32, 1}}, 4 * 32},
          {"one row", {{40}, {7}}, 40},
          {"one element", {{1, 1}, {5, 5}, 3}, 1},
          {"nothing", {{5, 0}, {1, 5}}, 0},
          {"no rows", {{0, 5}, {1, 5}}, 0}};
}

TEST(PackedRows, AreTheElementsOfTheView) {
  std::vector<float> data(20'000);
  std::iota(data.begin(), data.end(), 0.0F);
  for (const auto& [name, view, count] : awkward_views()) {
    SCOPED_TRACE(name);
    EXPECT_EQ(packed_count(view), count);
    auto packed_view = view;
    const auto packed = packed_rows<double>(data.data(), packed_view);
    EXPECT_EQ(packed_view.shape, view.shape);
    EXPECT_EQ(packed_view.strides.back(), 1);
    const auto from = offsets_of(view), to = offsets_of(packed_view);
    ASSERT_EQ(from.size(), to.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      ASSERT_GE(to[i], 0);
      ASSERT_LT(to[i], count);
      ASSERT_EQ(packed[static_cast<std::size_t>(to[i])], data[static_cast<std::size_t>(from[i])])
          << i;
    }
  }
}

TEST(Rows, OfANarrowDTypeAreWidenedHoweverOftenTheyAreAsked) {
  Tensor values(DType::kBF16, Shape({20'000}));
  for (std::size_t i = 0; i < 20'000; ++i) {
    values.as<BFloat16>()[i] = BFloat16(static_cast<float>(i % 251) - 100);
  }
  const auto special = values.as<BFloat16>();
  special[0] = BFloat16(std::numeric_limits<float>::quiet_NaN());
  special[1] = BFloat16(-std::numeric_limits<float>::infinity());
  special[40] = BFloat16(-0.0F);
  for (const auto& [name, once, count] : awkward_views()) {
    for (const std::int64_t often : {1, 9}) {  // on either side of what is widened at once
      SCOPED_TRACE(name);
      auto view = once;
      view.shape.insert(view.shape.begin(), often);
      view.strides.insert(view.strides.begin(), 0);
      const Rows<float> rows(values.view(), view);
      const auto from = offsets_of(view);
      EXPECT_EQ(rows.length(), view.shape.back());
      Walk<1> walk({&rows.view()});
      std::vector<float> room;
      std::size_t at = 0;
      for (std::int64_t row = 0; row < rows.view().element_count(); ++row, walk.next()) {
        const float* got = rows.at(walk[0], 0, rows.length(), room);
        for (std::int64_t k = 0; k < rows.length(); ++k, ++at) {
          const auto expected = static_cast<float>(special[static_cast<std::size_t>(from[at])]);
          if (std::isnan(expected)) {
            ASSERT_TRUE(std::isnan(got[k])) << at;
          } else {
            ASSERT_EQ(got[k], expected) << at;
            ASSERT_EQ(std::signbit(got[k]), std::signbit(expected)) << at;
          }
        }
      }
      EXPECT_EQ(at, from.size());
    }
  }
}

}  // namespace
}  // namespace assay::compiler
