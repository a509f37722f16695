// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/show/kernel_cost.h"

#include <algorithm>

namespace assay::compiler {
namespace {

double elements(const std::vector<Dim>& shape, const Bindings& symbols) {
  return static_cast<double>(product(shape).at(symbols));
}

double region_operations(const Region& region, const Bindings& symbols) {
  const double all = elements(region.shape, symbols);
  const double rows =
      all / std::max<double>(1, static_cast<double>(region.shape.back().at(symbols)));
  double sum = 0;
  for (const auto& value : region.values) {
    const bool is_free = value.op == Op::kInput || value.op == Op::kConst || value.op == Op::kIota;
    const bool reduces = value.op == Op::kSum || value.op == Op::kMaxReduce;
    if (!is_free) sum += value.of_row && !reduces ? rows : all;
  }
  return sum;
}

// Of i + first for i from 0 to rows − 1, none below 0 and none above `most`.
double sum_of_clamped(double rows, double first, double most) {
  const double rises = std::clamp(-first, 0.0, rows);
  const double full = std::clamp(most - first, rises, rows);
  return (full - rises) * (rises + full - 1 + 2 * first) / 2 + (rows - full) * most;
}

// Pairs of a query and a key that it sees; those that a mask among the operands hides are computed.
double visible_pairs(const Attention& attention, const Bindings& symbols) {
  const auto extent_of = [&](const Access& access) {
    return static_cast<double>(access.view.shape.end()[-2].at(symbols));
  };
  const double queries = extent_of(attention.q), keys = extent_of(attention.k);
  const double first = static_cast<double>(attention.offset.at(symbols)) + 1;
  const double all = attention.causal ? sum_of_clamped(queries, first, keys) : queries * keys;
  if (!attention.window) return all;
  const double window = static_cast<double>(attention.window->at(symbols));
  return std::max(0.0, all - sum_of_clamped(queries, first - window, keys));
}

struct Operations {
  const Bindings& symbols;
  double of(const View& view) const { return elements(view.shape, symbols); }
  double operator()(const Region& region) const { return region_operations(region, symbols); }
  double operator()(const Matmul& matmul) const {
    const double n = static_cast<double>(matmul.b.view.shape.back().at(symbols));
    return 2 * of(matmul.a.view) * n +
           (matmul.epilogue ? region_operations(*matmul.epilogue, symbols) : 0);
  }
  double operator()(const GroupedMatmul& grouped) const {
    return 2 * of(grouped.a.view) * static_cast<double>(grouped.out.view.shape[1].at(symbols));
  }
  double operator()(const Attention& attention) const {
    // For each pair as many multiplications and additions as a query and a result have elements.
    const double rows = static_cast<double>(attention.q.view.shape.end()[-2].at(symbols));
    const double of_row = (of(attention.q.view) + of(attention.out.view)) / std::max(1.0, rows);
    return 2 * of_row * visible_pairs(attention, symbols);
  }
  double operator()(const ScatterInto&) const { return 0; }
};

}  // namespace

KernelCost cost_of(const Kernel& kernel, const Bindings& symbols) {
  KernelCost cost;
  cost.operations = std::visit(Operations{symbols}, kernel.work);
  for (const auto& formal : kernel.operands) {
    cost.bytes += elements(formal.shape, symbols) * static_cast<double>(size_of(formal.dtype));
  }
  const auto forget = [&](const Access& access, double kept) {
    const auto& formal = kernel.operands[access.operand];
    const double whole = elements(formal.shape, symbols);
    cost.bytes -= std::max(0.0, whole - kept) * static_cast<double>(size_of(formal.dtype));
  };
  if (const auto* scatter = std::get_if<ScatterInto>(&kernel.work); scatter && scatter->in_place) {
    forget(scatter->out, elements(scatter->index.view.shape, symbols));
  }
  if (const auto* grouped = std::get_if<GroupedMatmul>(&kernel.work)) {
    // At most one matrix for each row.
    const auto& shape = grouped->weights.view.shape;
    const double rows = elements(grouped->expert.view.shape, symbols);
    forget(grouped->weights, rows * elements({shape[1], shape[2]}, symbols));
  }
  if (const auto* region = std::get_if<Region>(&kernel.work)) {
    for (const auto& value : region->values) {
      if (value.op != Op::kGather) continue;
      forget(value.access, elements(region->shape, symbols));
    }
  }
  return cost;
}

}  // namespace assay::compiler
