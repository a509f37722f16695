// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Which labels of a group can be one index of a matrix: a chain is a run of labels that lie
// together in both tensors that have them, as a row-major array would. Labels outside the chosen
// chains become loops around the matrix product.
#include <climits>
#include <optional>

#include "einsum/lower/gemm_form.h"

namespace assay::einsum {
namespace {

struct Chain {
  std::int64_t extent = 1, sx = 0, sy = 0;  // strides in the two tensors
  LabelSet labels;
};

// All maximal chains of the group; one empty chain for an empty group.
std::vector<Chain> chains(const std::vector<Label>& group, const Layout& x, const Layout& y) {
  if (group.empty()) return {Chain{}};
  std::vector<Chain> found;
  LabelSet not_innermost;
  const auto next = [&](const Chain& chain) -> std::optional<Label> {
    for (const Label l : group) {
      if (!chain.labels.contains(l) && find_mode(x, l)->stride == chain.sx * chain.extent &&
          find_mode(y, l)->stride == chain.sy * chain.extent) {
        return l;
      }
    }
    return std::nullopt;
  };
  for (const Label start : group) {
    const Mode &mx = *find_mode(x, start), &my = *find_mode(y, start);
    Chain chain{mx.extent, mx.stride, my.stride, {}};
    chain.labels.insert(start);
    while (const auto l = next(chain)) {
      chain.labels.insert(*l);
      not_innermost.insert(*l);
      chain.extent *= find_mode(x, *l)->extent;
    }
    found.push_back(chain);
  }
  // A chain that starts inside another is a part of it.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!not_innermost.contains(group[i])) found[kept++] = found[i];
  }
  found.resize(kept);
  return found;
}

// A matrix of `rows` × `columns` with these strides, as BLAS can take it.
struct MatrixForm {
  blas::Op op;
  int ld;
};
std::optional<MatrixForm> matrix_form(std::int64_t rows, std::int64_t row_stride,
                                      std::int64_t columns, std::int64_t column_stride) {
  const auto fits = [](std::int64_t extent, std::int64_t inner, std::int64_t outer_extent,
                       std::int64_t outer) -> std::optional<std::int64_t> {
    if (extent != 1 && inner != 1) return std::nullopt;
    const std::int64_t ld = outer_extent == 1 ? std::max<std::int64_t>(extent, 1) : outer;
    if (ld < std::max<std::int64_t>(extent, 1) || ld > INT_MAX) return std::nullopt;
    return ld;
  };
  if (const auto ld = fits(columns, column_stride, rows, row_stride)) {
    return MatrixForm{blas::Op::kNone, static_cast<int>(*ld)};
  }
  if (const auto ld = fits(rows, row_stride, columns, column_stride)) {
    return MatrixForm{blas::Op::kTranspose, static_cast<int>(*ld)};
  }
  return std::nullopt;
}

void append_loops(std::vector<Loop>& loops, const std::vector<Label>& group, const LabelSet& except,
                  const PairTask& task) {
  for (const Label l : group) {
    if (except.contains(l)) continue;
    const Mode *a = find_mode(task.a, l), *b = find_mode(task.b, l), *c = find_mode(task.c, l);
    loops.push_back({(a != nullptr ? a : b)->extent, a != nullptr ? a->stride : 0,
                     b != nullptr ? b->stride : 0, c != nullptr ? c->stride : 0});
  }
}

bool fits_int(std::int64_t value) { return value <= INT_MAX; }

std::optional<GemmForm> gemm_form(const Chain& m, const Chain& n, const Chain& k) {
  if (!fits_int(m.extent) || !fits_int(n.extent) || !fits_int(k.extent)) return std::nullopt;
  const auto a = matrix_form(m.extent, m.sx, k.extent, k.sx);
  const auto b = matrix_form(k.extent, k.sy, n.extent, n.sx);
  const auto c = matrix_form(m.extent, m.sy, n.extent, n.sy);
  if (!a || !b || !c) return std::nullopt;
  GemmForm form;
  form.m = static_cast<int>(m.extent);
  form.n = static_cast<int>(n.extent);
  form.k = static_cast<int>(k.extent);
  form.op_a = a->op;
  form.op_b = b->op;
  form.lda = a->ld;
  form.ldb = b->ld;
  form.ldc = c->ld;
  if (c->op == blas::Op::kTranspose) {
    const auto other = [](blas::Op op) {
      return op == blas::Op::kNone ? blas::Op::kTranspose : blas::Op::kNone;
    };
    form.swapped = true;
    std::swap(form.m, form.n);
    form.op_a = other(b->op);
    form.op_b = other(a->op);
    form.lda = b->ld;
    form.ldb = a->ld;
  }
  return form;
}

}  // namespace

std::vector<GemmForm> gemm_forms(const PairTask& task, const Groups& groups) {
  std::vector<GemmForm> forms;
  for (const auto& m : chains(groups.m, task.a, task.c)) {
    for (const auto& n : chains(groups.n, task.b, task.c)) {
      for (const auto& k : chains(groups.k, task.a, task.b)) {
        auto form = gemm_form(m, n, k);
        if (!form || (form->m == 1 && form->n == 1)) continue;  // a sum is no matrix product
        append_loops(form->free, groups.batch, {}, task);
        append_loops(form->free, groups.m, m.labels, task);
        append_loops(form->free, groups.n, n.labels, task);
        append_loops(form->summed, groups.k, k.labels, task);
        form->free = fused_loops(std::move(form->free));
        form->summed = fused_loops(std::move(form->summed));
        forms.push_back(std::move(*form));
      }
    }
  }
  return forms;
}

std::vector<GemvForm> gemv_forms(const PairTask& task, const Groups& groups) {
  if (!groups.m.empty() && !groups.n.empty()) return {};
  const bool swapped = groups.m.empty();  // the matrix is B
  const auto& rows = swapped ? groups.n : groups.m;
  const Layout& matrix = swapped ? task.b : task.a;
  const Layout& vector = swapped ? task.a : task.b;
  if (rows.empty() || groups.k.empty()) return {};
  std::vector<GemvForm> forms;
  for (const auto& r : chains(rows, matrix, task.c)) {
    for (const auto& k : chains(groups.k, matrix, vector)) {
      if (!fits_int(r.extent) || !fits_int(k.extent) || !fits_int(r.sy) || !fits_int(k.sy))
        continue;
      // Vectors with gaps are taken element by element: loops do better.
      if ((r.sy != 1 && r.extent > 1) || (k.sy != 1 && k.extent > 1)) continue;
      const auto shape = matrix_form(r.extent, r.sx, k.extent, k.sx);
      if (!shape) continue;
      GemvForm form;
      form.swapped = swapped;
      form.op = shape->op;
      form.rows = static_cast<int>(shape->op == blas::Op::kNone ? r.extent : k.extent);
      form.columns = static_cast<int>(shape->op == blas::Op::kNone ? k.extent : r.extent);
      form.ld = shape->ld;
      form.incx = static_cast<int>(k.sy);
      form.incy = static_cast<int>(r.sy);
      append_loops(form.free, groups.batch, {}, task);
      append_loops(form.free, rows, r.labels, task);
      append_loops(form.summed, groups.k, k.labels, task);
      form.free = fused_loops(std::move(form.free));
      form.summed = fused_loops(std::move(form.summed));
      forms.push_back(std::move(form));
    }
  }
  return forms;
}

}  // namespace assay::einsum
