// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/source/bundle.h"

namespace assay::compiler::cuda {
namespace {

// The view through which what was stored by `stored` lies where a copy from `from` to `to` brings
// it. An axis of the copy is one of what is stored, or several of constant extent whose steps are
// those of a row-major number.
std::optional<View> through_copy(const View& stored, const View& from, const View& to) {
  if (!stored.offset.is(0) || !from.offset.is(0)) return std::nullopt;
  View out = stored;
  out.offset = to.offset;
  std::vector<bool> is_done(stored.rank());
  for (std::size_t a = 0; a < stored.rank(); ++a) {
    is_done[a] = stored.shape[a].is(1);
    if (is_done[a]) out.strides[a] = 0;
  }
  for (std::size_t c = 0; c < from.rank(); ++c) {
    if (from.shape[c].is(1)) continue;
    std::int64_t reached = 1;
    for (bool is_whole = false; !is_whole;) {
      std::size_t a = 0;
      while (a < stored.rank() &&
             (is_done[a] || !(stored.strides[a] == from.strides[c] * Dim(reached))))
        ++a;
      if (a == stored.rank()) return std::nullopt;
      is_done[a] = true;
      out.strides[a] = to.strides[c] * Dim(reached);
      const auto extent = stored.shape[a].constant();
      is_whole = reached == 1 && stored.shape[a] == from.shape[c];
      if (is_whole) continue;
      if (!extent) return std::nullopt;
      reached *= *extent;
      is_whole = from.shape[c].is(reached);
    }
  }
  for (const bool done : is_done) {
    if (!done) return std::nullopt;
  }
  return out;
}

}  // namespace

std::optional<Attention> attention_as_copied(const Attention& work, const Region& copy) {
  if (copy.values.front().op != Op::kInput || copy.values.front().of_row ||
      copy.stores.size() != 1 || copy.stores.front().value + 1 != copy.values.size())
    return std::nullopt;
  for (std::uint32_t i = 1; i < copy.values.size(); ++i) {
    const auto& value = copy.values[i];
    if (value.op != Op::kCast || value.values != std::vector<std::uint32_t>{i - 1} ||
        value.dtype != copy.values.back().dtype)
      return std::nullopt;
  }
  const auto& value = copy.values.front();
  auto view = through_copy(work.out.view, value.access.view, copy.stores.front().to.view);
  if (!view) return std::nullopt;
  auto moved = work;
  moved.out.view = std::move(*view);
  return moved;
}

}  // namespace assay::compiler::cuda
