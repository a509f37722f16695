// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/thinned_kernel.h"

#include <algorithm>

namespace assay::compiler {
namespace {

// Where a product has its rows: an axis of what it reads first, and of what it writes.
std::optional<std::size_t> row_axis(const Kernel& kernel) {
  if (const auto* matmul = std::get_if<Matmul>(&kernel.work)) return matmul->a.view.rank() - 2;
  if (std::holds_alternative<GroupedMatmul>(kernel.work)) return 0;
  return std::nullopt;
}
const Access& rows_read_by(const Kernel& kernel) {
  const auto* grouped = std::get_if<GroupedMatmul>(&kernel.work);
  return grouped != nullptr ? grouped->a : std::get<Matmul>(kernel.work).a;
}

void pick(Access& access, std::size_t axis, std::int64_t step, const Dim& from = 0) {
  access.view = access.view.slice(axis, from, access.view.shape[axis], step);
}
// What is one for each row has no columns. What an epilogue is given first is a product's sum.
void pick(Region& region, std::size_t axis, std::int64_t step, bool is_epilogue) {
  const bool is_column = axis + 1 == region.shape.size();
  const auto length = region.shape[axis];
  region.shape[axis] = View::contiguous({length}).slice(0, 0, length, step).shape[0];
  for (std::size_t i = is_epilogue ? 1 : 0; i < region.values.size(); ++i) {
    auto& value = region.values[i];
    const bool is_read = value.op == Op::kInput || value.op == Op::kIota;
    if (is_read && !(is_column && value.of_row)) pick(value.access, axis, step);
  }
  for (auto& store : region.stores) {
    if (!(is_column && region.values[store.value].of_row)) pick(store.to, axis, step);
  }
}

// `from`: the first of so many along an axis.
template <class From>
void pick_heads(Attention& attention, const From& from, std::int64_t step) {
  for (std::size_t axis = 0; axis + 2 < attention.q.view.rank(); ++axis) {
    const auto first = from(attention.q.view.shape[axis]);
    for (auto* access : {&attention.q, &attention.k, &attention.v, &attention.out}) {
      pick(*access, axis, step, first);
    }
    if (attention.mask) pick(*attention.mask, axis, step, first);
  }
}

bool has_reductions(const Region& region) {
  return std::ranges::any_of(region.values, [](const auto& value) {
    return value.op == Op::kSum || value.op == Op::kMaxReduce;
  });
}

Kernel with_few_rows(Kernel kernel, std::size_t axis, std::int64_t step) {
  if (auto* matmul = std::get_if<Matmul>(&kernel.work)) {
    pick(matmul->a, axis, step);
    matmul->epilogue ? pick(*matmul->epilogue, axis, step, true) : pick(matmul->out, axis, step);
  } else if (auto* grouped = std::get_if<GroupedMatmul>(&kernel.work)) {
    pick(grouped->a, axis, step);
    pick(grouped->expert, axis, step);
    pick(grouped->out, axis, step);
  }
  return kernel;
}
// Columns lie behind rows.
Kernel with_few_columns(Kernel kernel, std::size_t row_axis, std::int64_t step) {
  const auto axis = row_axis + 1;
  if (auto* grouped = std::get_if<GroupedMatmul>(&kernel.work)) {
    pick(grouped->weights, 2, step);
    pick(grouped->out, axis, step);
  } else if (auto* matmul = std::get_if<Matmul>(&kernel.work)) {
    pick(matmul->b, axis, step);
    matmul->epilogue ? pick(*matmul->epilogue, axis, step, true) : pick(matmul->out, axis, step);
  }
  return kernel;
}

}  // namespace

std::optional<Dim> rows_of(const Kernel& kernel) {
  const auto axis = row_axis(kernel);
  if (!axis) return std::nullopt;
  return rows_read_by(kernel).view.shape[*axis];
}

double products_of(const Kernel& kernel, const Bindings& symbols) {
  const auto* grouped = std::get_if<GroupedMatmul>(&kernel.work);
  const auto& b = grouped != nullptr ? grouped->weights : std::get<Matmul>(kernel.work).b;
  return static_cast<double>(product(rows_read_by(kernel).view.shape).at(symbols)) *
         static_cast<double>(b.view.shape.back().at(symbols));
}

std::vector<Kernel> thinned(const Kernel& kernel, const Bindings& symbols, std::int64_t step) {
  if (const auto axis = row_axis(kernel)) {
    std::vector<Kernel> parts = {with_few_columns(kernel, *axis, step)};
    // The first row, the last, and one between.
    constexpr std::int64_t kLeast = 131;
    if (rows_of(kernel)->at(symbols) >= kLeast) {
      parts.push_back(with_few_rows(kernel, *axis, step));
    }
    return parts;
  }
  auto part = kernel;
  if (auto* attention = std::get_if<Attention>(&part.work)) {
    auto last = part;
    pick_heads(
        *attention, [](const Dim&) { return Dim(0); }, step);
    pick_heads(
        std::get<Attention>(last.work), [](const Dim& heads) { return heads - 1; }, step);
    return {part, last};
  }
  if (auto* region = std::get_if<Region>(&part.work)) {
    std::int64_t rows = 1;
    for (std::size_t axis = 0; axis + 1 < region->shape.size(); ++axis) {
      rows *= region->shape[axis].at(symbols);
    }
    const auto column = region->shape.size() - 1;
    const bool picks_columns = rows < step && !has_reductions(*region);
    if (picks_columns) pick(*region, column, step, false);
    for (std::size_t axis = 0; !picks_columns && axis < column; ++axis) {
      pick(*region, axis, step, false);
    }
    return {part};
  }
  return {};
}

namespace {

// In one place for reading and writing.
template <class K, class F>
void for_written(K& kernel, const F& f) {
  const auto of_region = [&](auto& region) {
    for (auto& store : region.stores) f(store.to);
  };
  if (auto* grouped = std::get_if<GroupedMatmul>(&kernel.work)) return f(grouped->out);
  if (auto* attention = std::get_if<Attention>(&kernel.work)) return f(attention->out);
  if (auto* region = std::get_if<Region>(&kernel.work)) return of_region(*region);
  auto& matmul = std::get<Matmul>(kernel.work);
  matmul.epilogue ? of_region(*matmul.epilogue) : f(matmul.out);
}

}  // namespace

std::vector<Access> written_by(const Kernel& kernel) {
  std::vector<Access> all;
  for_written(kernel, [&](const Access& access) { all.push_back(access); });
  return all;
}

Kernel with_dense_results(Kernel kernel) {
  for_written(kernel, [&](Access& access) {
    kernel.operands[access.operand].shape = access.view.shape;
    access.view = View::contiguous(access.view.shape);
  });
  return kernel;
}

}  // namespace assay::compiler
