// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the layers of a language model compute, from their definitions (docs/methods/graphs.md) and
// nothing else: plain loops in f64, no compiler.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tensor/view.h"

namespace assay::cases::llm {

// Row-major, `columns` wide.
struct PlainMatrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> values;

  PlainMatrix(std::int64_t m, std::int64_t n)
      : rows(m), columns(n), values(static_cast<std::size_t>(m * n)) {}
  // All axes but the last are rows.
  explicit PlainMatrix(const TensorView& view);

  double* row(std::int64_t i) { return values.data() + i * columns; }
  const double* row(std::int64_t i) const { return values.data() + i * columns; }
  PlainMatrix chosen(std::span<const std::int64_t> rows) const;
};

// x / √(mean x² + ε) along rows, and that times g + `added`.
PlainMatrix plain_levelled(const PlainMatrix& x, double epsilon);
PlainMatrix plain_rms_norm(const PlainMatrix& x, const TensorView& g, double epsilon,
                           double added = 0);
// x Wᵀ for W (n×k).
PlainMatrix plain_linear(const PlainMatrix& x, const TensorView& w);
// x W for W (k×n).
PlainMatrix plain_product(const PlainMatrix& x, const TensorView& w);
// silu(g) · u, element by element; silu(z) = z / (1 + e⁻ᶻ). Or with gelu, by tanh.
PlainMatrix plain_gate(const PlainMatrix& g, const PlainMatrix& u, bool by_gelu = false);
// Each head of `head_width` elements of row i turned by the angles of row i of the tables: the
// first half's element l and the second half's as a pair.
void plain_rotary(PlainMatrix& x, const PlainMatrix& cos, const PlainMatrix& sin,
                  std::int64_t head_width);
// softmax(q kᵀ · scale) v of one head, scale 1/√d where none is given; query i sees keys up to
// number i + offset: all of them, or with a window that many.
PlainMatrix plain_attention(const PlainMatrix& q, const PlainMatrix& k, const PlainMatrix& v,
                            std::int64_t offset, std::optional<double> scale = {},
                            std::int64_t window = 0);

}  // namespace assay::cases::llm
