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
    const auto& keys = attention.k.view.shape;
    const double t = static_cast<double>(keys[keys.size() - 2].at(symbols));
    return 2 * t * (of(attention.q.view) + of(attention.out.view));
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
