// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/bf16/pair_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "kernels/bf16/pair_packing.h"
#include "kernels/bf16/test_trapped_units.h"
#include "kernels/memory/scratch.h"
#include "kernels/test_instruction_sets.h"

namespace assay::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

std::uint16_t bits_of(float x) {  // of what is exact in bf16
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16);
}
double value_of(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(std::uint32_t{bits} << 16));
}
// -1 to 1, eight significant bits.
std::uint16_t drawn(const Philox& stream, std::int64_t at) {
  return bits_of(static_cast<float>(2 * unit_interval(stream[static_cast<std::uint64_t>(at)]) - 1));
}

// How a panel's source lies: terms together, neighbours together, neither.
struct Lie {
  std::int64_t width_stride, term_stride;
};
std::vector<Lie> lies(std::int64_t count, std::int64_t elements) {
  return {{elements, 1}, {elements + 3, 1}, {1, count}, {1, count + 5}, {2 * elements, 2}};
}

class PairPackingTest : public OnInstructionSet {};

TEST_P(PairPackingTest, EveryPairIsWhereTheLayoutHasIt) {
  const Philox stream(1);
  for (const PairUnit* unit : pair_units()) {
    for (const bool is_row : {true, false}) {
      const std::int64_t group = is_row ? unit->row_group : unit->column_group;
      const int width = is_row ? unit->rows : unit->lanes * unit->vectors;
      for (const int count : {1, width - 1, width}) {
        for (const std::int64_t elements : {1, 2, 5, 31, 32, 33, 97, 511, 512}) {
          const std::int64_t terms =
              ((elements + 1) / 2 + unit->step - 1) / unit->step * unit->step;
          for (const auto& [width_stride, term_stride] : lies(count, elements)) {
            std::vector<std::uint16_t> source(static_cast<std::size_t>(
                (count - 1) * width_stride + (elements - 1) * term_stride + 1));
            for (std::size_t i = 0; i < source.size(); ++i)
              source[i] = drawn(stream, static_cast<std::int64_t>(i));
            const AlignedArray<Bf16Pair> panel(width * (PairUnit::kWholeRow + 16));
            const auto pack = [&] {
              return pack_pairs({source.data(), width_stride, term_stride, elements, count}, width,
                                group, terms, panel.data());
            };
            ASSERT_FALSE(pack()) << unit->name;
            for (int i = 0; i < width; ++i) {
              for (std::int64_t l = 0; l < 2 * terms; ++l) {
                const bool is_there = i < count && l < elements;
                const std::size_t from =
                    is_there ? static_cast<std::size_t>(i * width_stride + l * term_stride) : 0;
                const Bf16Pair& pair = panel[(l / 2 / group * width + i) * group + l / 2 % group];
                ASSERT_EQ(l % 2 == 0 ? pair.first : pair.second, is_there ? source[from] : 0)
                    << unit->name << " " << i << " of " << count << ", " << l << " of " << elements
                    << ", strides " << width_stride << " " << term_stride;
              }
            }
            // One element below the least normal number is found wherever it is, and 0 is none.
            auto& last = source[static_cast<std::size_t>((count - 1) * width_stride +
                                                         (elements - 1) * term_stride)];
            for (const int bits : {0x0000, 0x8000, 0x0080, 0x8080, 0x7f80, 0xffff}) {
              last = static_cast<std::uint16_t>(bits);
              ASSERT_FALSE(pack()) << bits;
            }
            for (const int bits : {0x0001, 0x8001, 0x007f, 0x807f}) {
              last = static_cast<std::uint16_t>(bits);
              ASSERT_TRUE(pack()) << bits << " " << unit->name << " " << elements;
            }
          }
        }
      }
    }
  }
}

ASSAY_ON_INSTRUCTION_SETS(PairPackingTest);

// A tile of a unit, its factors as numbers.
class PairTileTest : public testing::TestWithParam<const PairUnit*> {
 protected:
  const PairUnit& unit() const { return *GetParam(); }

  void SetUp() override {
    const auto reason = why_not_even_trapped(unit());
    if (!reason.empty()) GTEST_SKIP() << reason;
  }

  std::vector<float> multiplied(const std::vector<std::uint16_t>& rows,
                                const std::vector<std::uint16_t>& columns, int vectors,
                                std::int64_t elements, bool exactly, float before) const {
    const int width = vectors * unit().lanes;
    const std::int64_t terms = ((elements + 1) / 2 + unit().step - 1) / unit().step * unit().step;
    const AlignedArray<Bf16Pair> panel(unit().rows * PairUnit::kWholeRow), x(width * terms);
    pack_pairs({rows.data(), elements, 1, elements, unit().rows}, unit().rows, unit().row_group,
               terms, panel.data());
    pack_pairs({columns.data(), elements, 1, elements, width}, width, unit().column_group, terms,
               x.data());
    const std::int64_t stride = width + 3;
    std::vector<float> sums(static_cast<std::size_t>(unit().rows * stride), before);
    PairTile tile{.panel = panel.data(), .x = x.data(), .sums = sums.data()};
    tile.sums_stride = stride;
    tile.terms = terms;
    tile.accumulate = before != 0;
    tile.ahead = reinterpret_cast<const std::byte*>(rows.data());
    tile.ahead_rows = 2;
    tile.ahead_stride = elements * 2;
    if (unit().enter != nullptr) unit().enter();
    multiply_pairs(unit(), vectors, tile, exactly);
    if (unit().leave != nullptr) unit().leave();
    for (int i = 0; i < unit().rows; ++i) {
      for (std::int64_t j = width; j < stride; ++j)
        EXPECT_EQ(sums[static_cast<std::size_t>(i * stride + j)], before) << "beside the tile";
      std::copy_n(sums.begin() + i * stride, width, sums.begin() + i * width);
    }
    sums.resize(static_cast<std::size_t>(unit().rows * width));
    return sums;
  }

 private:
  TrappedUnits trapped_;
};

TEST_P(PairTileTest, SumsOfProducts) {
  const Philox stream(2);
  for (int vectors = 1; vectors <= unit().vectors; ++vectors) {
    const int width = vectors * unit().lanes;
    for (const std::int64_t elements : {1, 2, 3, 31, 32, 33, 100, 511, 512}) {
      std::vector<std::uint16_t> rows, columns;
      for (std::int64_t i = 0; i < unit().rows * elements; ++i) rows.push_back(drawn(stream, i));
      for (std::int64_t i = 0; i < width * elements; ++i)
        columns.push_back(drawn(stream, i + 100000));
      for (const float before : {0.0f, 3.0f}) {
        for (const bool exactly : {false, true}) {
          const auto sums = multiplied(rows, columns, vectors, elements, exactly, before);
          for (std::int64_t i = 0; i < unit().rows; ++i) {
            for (std::int64_t j = 0; j < width; ++j) {
              double want = before, size = before;
              for (std::int64_t l = 0; l < elements; ++l) {
                const double term = value_of(rows[static_cast<std::size_t>(i * elements + l)]) *
                                    value_of(columns[static_cast<std::size_t>(j * elements + l)]);
                want += term;
                size += std::abs(term);
              }
              // Each addition is off by one unit in the last place of at most `size`.
              const double bound = 0x1p-23 * static_cast<double>(elements + 1) * size;
              ASSERT_NEAR(sums[static_cast<std::size_t>(i * width + j)], want, bound)
                  << elements << " elements, row " << i << ", column " << j;
            }
          }
        }
      }
    }
  }
}

TEST_P(PairTileTest, InfinitiesAndNanStayInTheirRowsAndColumns) {
  const int width = unit().vectors * unit().lanes;
  constexpr std::int64_t kElements = 7;
  std::vector<std::uint16_t> rows(static_cast<std::size_t>(unit().rows) * kElements, bits_of(1));
  std::vector<std::uint16_t> columns(static_cast<std::size_t>(width) * kElements, bits_of(0.5f));
  rows[0 * kElements + 2] = bits_of(kInf);
  rows[1 * kElements + 6] = bits_of(-kInf);
  rows[2 * kElements + 5] = bits_of(std::nanf(""));
  columns[1 * kElements + 2] = bits_of(0);      // ∞ · 0
  columns[2 * kElements + 2] = bits_of(-1);     // −∞
  columns[3 * kElements + 4] = bits_of(-kInf);  // ∞ − ∞ in row 0, −∞ − ∞ in row 1
  const auto sums = multiplied(rows, columns, unit().vectors, kElements, false, 0);
  const auto at = [&](int i, int j) { return sums[static_cast<std::size_t>(i * width + j)]; };
  EXPECT_EQ(at(0, 0), kInf);
  EXPECT_TRUE(std::isnan(at(0, 1)));
  EXPECT_EQ(at(0, 2), -kInf);
  EXPECT_TRUE(std::isnan(at(0, 3)));
  EXPECT_EQ(at(1, 0), -kInf);
  EXPECT_EQ(at(1, 3), -kInf);
  EXPECT_TRUE(std::isnan(at(2, 0)));
  EXPECT_EQ(at(3, 0), 3.5f);
  EXPECT_EQ(at(3, 3), -kInf);
  EXPECT_EQ(at(unit().rows - 1, width - 1), 3.5f);
}

// 2⁻¹³³ is below the least normal number, and counts for what it is where that is asked for.
TEST_P(PairTileTest, ExactlyMeansThatNothingCountsAsZero) {
  const std::uint16_t least = 0x0001;
  const int width = unit().lanes;
  std::vector<std::uint16_t> rows(static_cast<std::size_t>(unit().rows), least);
  std::vector<std::uint16_t> columns(static_cast<std::size_t>(width), bits_of(0x1p120f));
  columns[1] = bits_of(kInf);
  const auto sums = multiplied(rows, columns, 1, 1, true, 0);
  EXPECT_EQ(sums[0], 0x1p-13f);
  EXPECT_EQ(sums[1], kInf);
  // That it is needed: the plain loops do without it what units do.
  const auto others = multiplied(rows, columns, 1, 1, false, 0);
  EXPECT_EQ(others[0], 0);
  EXPECT_TRUE(std::isnan(others[1]));
}

std::string parameter_name(const testing::TestParamInfo<const PairUnit*>& param) {
  std::string name(param.param->name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(, PairTileTest, testing::ValuesIn(pair_units()), parameter_name);

TEST(PairUnit, TheBestThatCanBeUsedOrTheOneThatIsAskedFor) {
  {
    const OnlyPairUnit none(nullptr);
    EXPECT_EQ(pair_unit(), nullptr);
  }
  for (const PairUnit* unit : pair_units()) {
    const OnlyPairUnit only(unit);
    EXPECT_EQ(pair_unit(), unit);
  }
  const PairUnit* best = nullptr;
  for (const PairUnit* unit : pair_units()) {
    if (best == nullptr && unit->tile[0] != nullptr && why_not(*unit).empty()) best = unit;
  }
  EXPECT_EQ(pair_unit_named(""), best);
  EXPECT_EQ(pair_unit_named("none"), nullptr);
  EXPECT_EQ(pair_unit_named("plain-neon-bf16")->name, "plain-neon-bf16");
}

std::string error_of(std::string_view name) {
  try {
    pair_unit_named(name);
  } catch (const UserError& e) {
    return e.what();
  }
  return {};
}

TEST(PairUnit, OneThatThereIsNotIsAnErrorThatNamesIt) {
  EXPECT_THAT(error_of("abacus"), testing::MatchesRegex(".*expected one of none, .* 'abacus'"));
  for (const PairUnit* unit : pair_units()) {
    const auto reason = why_not(*unit);
    EXPECT_THAT(error_of(unit->name), testing::HasSubstr(reason)) << unit->name;
    EXPECT_EQ(error_of(unit->name).empty(), reason.empty()) << unit->name;
  }
}

}  // namespace
}  // namespace assay::kernels
