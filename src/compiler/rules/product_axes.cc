// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/rules/product_axes.h"

namespace assay::compiler {
namespace {

// The three views' strides along one axis.
struct ProductAxis {
  Dim extent = 1, a = 0, b = 0, out = 0;
};

// Axes that one stride can serve, as one; the others come out in front.
ProductAxis merged(std::vector<ProductAxis>& axes, std::vector<ProductAxis>& batch) {
  if (axes.empty()) return {};
  auto last = axes.back();
  axes.pop_back();
  while (!axes.empty()) {
    const auto& next = axes.back();
    const bool fits = next.a == last.a * last.extent && next.b == last.b * last.extent &&
                      next.out == last.out * last.extent;
    if (!fits) break;
    last.extent *= next.extent;
    axes.pop_back();
  }
  batch.insert(batch.end(), axes.begin(), axes.end());
  return last;
}

}  // namespace

std::optional<Matmul> matmul_of(const View& a, const View& b, DType accumulate) {
  const auto rank = a.rank();
  if (a.strides.back().is(0) || b.strides.back().is(0)) return std::nullopt;
  auto shape = a.shape;
  shape.pop_back();
  const auto whole = View::contiguous(shape);
  std::vector<ProductAxis> rows, columns, batch;
  for (std::size_t i = 0; i + 1 < rank; ++i) {
    if (shape[i].is(1)) continue;
    ProductAxis axis{shape[i], a.strides[i], b.strides[i], whole.strides[i]};
    const bool has_a = !axis.a.is(0), has_b = !axis.b.is(0);
    (has_a == has_b ? batch : has_a ? rows : columns).push_back(std::move(axis));
  }
  if (rows.empty() && columns.empty()) return std::nullopt;
  const auto m = merged(rows, batch), n = merged(columns, batch);
  const auto& k = a.shape.back();
  Matmul matmul;
  matmul.accumulate = accumulate;
  const auto add = [](View& view, const Dim& extent, const Dim& stride) {
    view.shape.push_back(extent);
    view.strides.push_back(stride);
  };
  matmul.a.operand = 0;
  matmul.b.operand = 1;
  matmul.out.operand = 2;
  auto &x = matmul.a.view, &y = matmul.b.view, &z = matmul.out.view;
  x.offset = a.offset;
  y.offset = b.offset;
  for (const auto& axis : batch) {
    add(x, axis.extent, axis.a);
    add(y, axis.extent, axis.b);
    add(z, axis.extent, axis.out);
  }
  add(x, m.extent, m.a);
  add(x, k, a.strides.back());
  add(y, k, b.strides.back());
  add(y, n.extent, n.b);
  add(z, m.extent, m.out);
  add(z, n.extent, n.out);
  return matmul;
}

}  // namespace assay::compiler
