// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Units of processors that multiply bf16 by bf16, two terms at a time, onto f32 sums: AMX and
// AVX-512 BF16 of x86, NEON's BF16. Highway 1.0.3 knows none of them; they are chosen here, when
// the program runs.
//
// A term of a tile is a pair: elements 2l and 2l + 1 of a row and of a column. Panels of both
// factors have one layout, with numbers of the unit's own: pair (i, l), of row or column i of a
// panel `width` wide, is at
//
//   (l / group · width + i) · group + l % group
//
// so that `group` pairs of one row or column lie together: all of a row's for x86 (row_group is
// beyond any panel's terms, and not a power of two), one of a column's (what Intel calls VNNI), two
// of either for NEON, whose instruction takes 2 × 4 elements of both.
//
// How they compute. Products of two bf16 are exact in f32. Each addition may be off by one unit in
// the last place: NEON's rounds to odd, and each adds in its own order. Products and sums below the
// least normal f32 may become 0. Elements below the least normal bf16 count as 0: 0 · ∞ would then
// be NaN where it is ∞, and a small number times a large one be lost; so panels that hold such
// elements are multiplied by plain loops (multiply_pairs). Infinities and NaN come out as they do
// in f32.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace assay::kernels {

// Two neighbouring terms, the bits of bf16.
struct alignas(4) Bf16Pair {
  std::uint16_t first, second;
};

// sums[i · sums_stride + j] = [sums +] Σ_l panel(i, l) · x(j, l) for all rows i of a panel and
// columns j < width, a whole number of vectors; `terms` pairs, a multiple of the unit's step.
struct PairTile {
  const Bf16Pair* panel = nullptr;  // of rows, on a cache line
  const Bf16Pair* x = nullptr;      // of columns, likewise
  float* sums = nullptr;
  std::int64_t sums_stride = 0, terms = 0;
  bool accumulate = false;
  // What will be needed next, and is asked for meanwhile: as many terms of so many rows.
  const std::byte* ahead = nullptr;
  std::int64_t ahead_rows = 0, ahead_stride = 0;  // in bytes
};

struct PairUnit {
  static constexpr int kMostVectors = 3, kMostWidth = 48;
  static constexpr std::int64_t kMostTerms = 256;             // of a panel
  static constexpr std::int64_t kWholeRow = kMostTerms + 16;  // 17 cache lines: rows spread well

  std::string_view name;
  int rows = 0;                // of a tile
  int lanes = 0, vectors = 0;  // its columns: up to `vectors` times `lanes`
  int step = 1;                // terms are a multiple of it
  // So few rows times a matrix are better off without it: the matrix is widened as it is read. AMX
  // copies and multiplies 2 KiB of a matrix in a hundred cycles for any number of rows up to 16,
  // and memory is slower than that (counted, not measured).
  int few = 8;
  std::int64_t row_group = 1, column_group = 1;
  // For 1, 2, … vectors; null: plain loops over the same layout.
  std::array<void (*)(const PairTile&), kMostVectors> tile{};
  // Around all tiles of a thread; null where nothing is to be done.
  void (*enter)() = nullptr;
  void (*leave)() = nullptr;
};

// One tile. `exactly`: no element counts as 0 that is not.
void multiply_pairs(const PairUnit& unit, int vectors, const PairTile& tile, bool exactly);

// All that were compiled: this architecture's, the best first, then for each layout of either
// architecture the plain loops (plain-amx, plain-avx512-bf16, plain-neon-bf16), which tests are
// made with everywhere and which nothing chooses by itself.
std::span<const PairUnit* const> pair_units();
// Why a unit cannot be used here, as part of a sentence; empty: it can. Asks the system for leave
// where it must be asked (AMX: its registers are large).
std::string why_not(const PairUnit& unit);

// The unit of that name; null for "none", the best that can be used for "". Throws UserError where
// there is no such unit, or it cannot be used here.
const PairUnit* pair_unit_named(std::string_view name);
// The unit for products of bf16: the one that ASSAY_BF16_UNIT names. Null: there is none, and bf16
// is widened to f32; so it is while kernels are held to a smaller instruction set (targets.h).
const PairUnit* pair_unit();

// For tests: while it lives, it is this unit, or none. It acts on the whole process.
class OnlyPairUnit {
 public:
  explicit OnlyPairUnit(const PairUnit* unit);
  ~OnlyPairUnit();
  OnlyPairUnit(const OnlyPairUnit&) = delete;
  OnlyPairUnit& operator=(const OnlyPairUnit&) = delete;
};

}  // namespace assay::kernels
