// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/show/kernel_cost.h"

#include <algorithm>
#include <vector>

namespace assay::compiler {
namespace {

double elements(const std::vector<Dim>& shape, const Bindings& symbols) {
  return static_cast<double>(product(shape).at(symbols));
}

// How often a value of a region is computed: for each element, or once a row.
double times_of(const Region::Value& value, const Region& region, const Bindings& symbols) {
  const double all = elements(region.shape, symbols);
  if (!value.of_row) return all;
  return all / std::max<double>(1, static_cast<double>(region.shape.back().at(symbols)));
}

double region_operations(const Region& region, const Bindings& symbols) {
  double sum = 0;
  for (const auto& value : region.values) {
    const bool is_free = value.op == Op::kInput || value.op == Op::kConst || value.op == Op::kIota;
    const bool reduces = value.op == Op::kSum || value.op == Op::kMaxReduce;
    if (is_free) continue;
    sum += reduces ? elements(region.shape, symbols) : times_of(value, region, symbols);
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

// The share of the keys that any query sees.
double seen_keys(const Attention& attention, const Bindings& symbols) {
  const auto queries = static_cast<double>(attention.q.view.shape.end()[-2].at(symbols));
  const auto keys = static_cast<double>(attention.k.view.shape.end()[-2].at(symbols));
  const auto offset = static_cast<double>(attention.offset.at(symbols));
  if (queries == 0 || keys == 0) return 0;
  const double end = attention.causal ? std::clamp(queries + offset, 0.0, keys) : keys;
  double begin = 0;
  if (attention.window) {
    begin = std::max(0.0, offset - static_cast<double>(attention.window->at(symbols)) + 1);
  }
  return std::max(0.0, end - begin) / keys;
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

// How much of each operand a kernel reaches, each element once.
class Reach {
 public:
  Reach(const Kernel& kernel, const Bindings& symbols)
      : kernel_(kernel), symbols_(symbols), of_operand_(kernel.operands.size()) {
    std::visit([this](const auto& work) { add_work(work); }, kernel.work);
  }

  double bytes() const {
    double sum = 0;
    for (std::size_t i = 0; i < of_operand_.size(); ++i) {
      const auto& formal = kernel_.operands[i];
      const auto& reached = of_operand_[i];
      // Views that differ may overlap; together they reach no more than what lies between the first
      // element and the last.
      const double viewed = std::min(reached.viewed, reached.end - reached.begin);
      const double elements_reached =
          std::min(viewed + reached.anywhere, elements(formal.shape, symbols_));
      sum += elements_reached * static_cast<double>(size_of(formal.dtype));
    }
    return sum;
  }

 private:
  struct Reached {
    std::vector<const View*> views;
    double viewed = 0, begin = 0, end = 0;  // of the views
    double anywhere = 0;                    // by indices
  };

  // `share`: of the view's elements.
  void add(const Access& access, double share = 1) {
    auto& reached = of_operand_[access.operand];
    const auto& view = access.view;
    if (std::ranges::any_of(reached.views, [&](const View* known) { return *known == view; })) {
      return;
    }
    double count = 1;
    double begin = static_cast<double>(view.offset.at(symbols_)), end = begin + 1;
    for (std::size_t axis = 0; axis < view.rank(); ++axis) {
      const auto extent = static_cast<double>(view.shape[axis].at(symbols_));
      const auto stride = static_cast<double>(view.strides[axis].at(symbols_));
      if (extent == 0) return;
      if (stride != 0) count *= extent;
      (stride < 0 ? begin : end) += (extent - 1) * stride;
    }
    const bool is_first = reached.views.empty();
    reached.begin = is_first ? begin : std::min(reached.begin, begin);
    reached.end = is_first ? end : std::max(reached.end, end);
    reached.viewed += count * share;
    reached.views.push_back(&view);
  }
  void add_anywhere(const Access& access, double count) {
    of_operand_[access.operand].anywhere += count;
  }

  // The first value of an epilogue is the product's sum.
  void add_region(const Region& region, bool is_epilogue) {
    for (std::size_t i = is_epilogue ? 1 : 0; i < region.values.size(); ++i) {
      const auto& value = region.values[i];
      if (value.op == Op::kInput) add(value.access);
      if (value.op == Op::kGather) add_anywhere(value.access, times_of(value, region, symbols_));
    }
    for (const auto& store : region.stores) add(store.to);
  }

  void add_work(const Region& region) { add_region(region, false); }
  void add_work(const Matmul& matmul) {
    add(matmul.a);
    add(matmul.b);
    matmul.epilogue ? add_region(*matmul.epilogue, true) : add(matmul.out);
  }
  void add_work(const GroupedMatmul& grouped) {
    for (const auto* access : {&grouped.a, &grouped.expert, &grouped.out}) add(*access);
    // At most one matrix for each row.
    const auto& shape = grouped.weights.view.shape;
    const double rows = elements(grouped.expert.view.shape, symbols_);
    add_anywhere(grouped.weights, rows * elements({shape[1], shape[2]}, symbols_));
  }
  void add_work(const Attention& attention) {
    const double share = seen_keys(attention, symbols_);
    add(attention.q);
    add(attention.k, share);
    add(attention.v, share);
    if (attention.mask) add(*attention.mask);
    add(attention.out);
  }
  void add_work(const ScatterInto& scatter) {
    add(scatter.index);
    add(scatter.values);
    if (scatter.in_place) {
      add_anywhere(scatter.out, elements(scatter.index.view.shape, symbols_));
    } else {
      add(scatter.data);
      add(scatter.out);
    }
  }

  const Kernel& kernel_;
  const Bindings& symbols_;
  std::vector<Reached> of_operand_;
};

}  // namespace

KernelCost cost_of(const Kernel& kernel, const Bindings& symbols) {
  return {.bytes = Reach(kernel, symbols).bytes(),
          .operations = std::visit(Operations{symbols}, kernel.work)};
}

}  // namespace assay::compiler
