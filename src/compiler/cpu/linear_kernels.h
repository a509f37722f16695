// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tiles of x Wᵀ whose matrix W, terms next to each other, is the left factor: a row of W times a
// vector of tokens. So the larger factor need not be transposed on its way: a panel of it is a few
// rows as they lie, f32. What is transposed is x, which is used by every panel. Of the best
// instruction set of this machine.

#include <array>
#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace assay::compiler {

// sums[i · sums_stride + t] = [sums +] Σ_l panel(i, l) · x[l · width + t] for all rows i of a panel
// and t < width, which is a whole number of vectors.
struct LinearTile {
  const float* panel = nullptr;
  std::int64_t panel_stride = 0;  // of `across` only
  const float* x = nullptr;       // on a cache line
  float* sums = nullptr;
  std::int64_t sums_stride = 0, terms = 0;
  bool accumulate = false;
  // What will be needed next: rows of `ahead_size` bytes an element, as many terms, which are asked
  // for meanwhile. Multiplying leaves memory idle, and the next panel is about to come from there.
  const std::byte* ahead = nullptr;
  std::int64_t ahead_rows = 0, ahead_stride = 0, ahead_size = 0;  // stride in bytes
};

struct LinearKernels {
  static constexpr std::int64_t kMostTerms = 512;  // of a panel: that is nearly all of an L1
  static constexpr int kMostVectors = 3;

  int rows = 0;  // of a panel
  int lanes = 0, vectors = 0;
  // How a panel lies: element (i, l) at i · pitch + l, or at l · rows + i where pitch is 0
  // (processors that multiply by a lane of a register).
  std::int64_t pitch = 0;
  // The panel of `count` rows, those beyond are 0; null where pitch is 0.
  void (*copy_rows)(DType dtype, const std::byte* from, std::int64_t row_stride, int count,
                    std::int64_t terms, float* panel) = nullptr;
  // panel[l · width + i] = from[l · term_stride + i] as f32 for i < count, 0 for the others.
  void (*copy_terms)(DType dtype, const std::byte* from, std::int64_t term_stride, int count,
                     std::int64_t terms, int width, float* panel) = nullptr;
  // For 1, 2, … vectors of tokens.
  std::array<void (*)(const LinearTile&), kMostVectors> tile{};
  // The same with element (i, l) at panel[l · panel_stride + i]: a matrix whose columns are the
  // terms, all of its rows' elements there.
  std::array<void (*)(const LinearTile&), kMostVectors> across{};

  std::int64_t panel_elements() const { return rows * (pitch > 0 ? pitch : kMostTerms); }
};
const LinearKernels& linear_kernels();

}  // namespace assay::compiler
