// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/error.h"
#include "compiler/cpu/affine_index.h"
#include "compiler/cpu/region_tiles.h"

namespace assay::compiler {
namespace {

std::int64_t count_of(const std::vector<Dim>& shape, const Bindings& symbols) {
  std::int64_t count = 1;
  for (const auto& dim : shape) count *= dim.at(symbols);
  return count;
}

// Whether elements `step` apart follow each other through all axes.
bool follows(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides,
             std::int64_t step) {
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] != 1 && strides[axis] != step) return false;
    step *= shape[axis];
  }
  return true;
}

// Axes of one element go, and those along which it goes on evenly are one: an element is found with
// a division for each that is left.
void join_axes(FixedView& view) {
  for (std::size_t axis = view.shape.size(); axis-- > 0;) {
    const bool is_joined = axis + 1 < view.shape.size() &&
                           view.strides[axis] == view.strides[axis + 1] * view.shape[axis + 1];
    if (view.shape[axis] != 1 && !is_joined) continue;
    const auto at = static_cast<std::ptrdiff_t>(axis);
    if (is_joined) view.shape[axis + 1] *= view.shape[axis];
    view.shape.erase(view.shape.begin() + at);
    view.strides.erase(view.strides.begin() + at);
  }
}

}  // namespace

// Symbols get values; axes along which everything goes on evenly become one.
void RegionTiles::walk(const Bindings& symbols) {
  std::vector<std::int64_t> shape;
  for (const auto& dim : region_.shape) shape.push_back(dim.at(symbols));
  const auto original = shape;
  walked_.assign(region_.values.size() + region_.stores.size(), {});
  gathered_.assign(region_.values.size(), {});
  std::vector<std::vector<std::int64_t>*> strides;
  const auto add = [&](Walked& walked, const Access& access, bool of_row, bool is_number) {
    const auto& view = access.view;
    FixedView seen;
    if (is_number) {
      seen.offset = view.offset.at(symbols);
      for (const auto& stride : view.strides) seen.strides.push_back(stride.at(symbols));
    } else {
      const auto& formal = formals_.at(access.operand);
      seen = fixed(view, symbols, count_of(formal.shape, symbols));
      walked.size = size_of(formal.dtype);
    }
    walked.operand = access.operand;
    walked.of_row = of_row;
    walked.offset = seen.offset;
    walked.strides = std::move(seen.strides);
    if (of_row) walked.strides.push_back(0);
    check(walked.strides.size() == shape.size(), "a view has the rank of its region");
    strides.push_back(&walked.strides);
  };
  for (std::size_t i = 0; i < region_.values.size(); ++i) {
    const auto& value = region_.values[i];
    if (value.op == Op::kInput && !(i == 0 && first_is_given_))
      add(walked_[i], value.access, value.of_row, false);
    if (value.op == Op::kIota) {
      add(walked_[i], value.access, value.of_row, true);
      walked_[i].size = size_of(value.dtype);
    }
    if (value.op == Op::kGather) {
      const auto& formal = formals_.at(value.access.operand);
      auto& source = gathered_[i];
      source.view = fixed(value.access.view, symbols, count_of(formal.shape, symbols));
      source.count = source.view.element_count();
      check(source.count > 0, "what is gathered from is not empty");
      source.is_contiguous = follows(source.view.shape, source.view.strides, 1);
      join_axes(source.view);
      walked_[i].operand = value.access.operand;
      if (auto index = affine_index(region_, value.values[0], original, symbols);
          index && !value.of_row) {
        walked_[i].is_gathered = true;
        walked_[i].size = size_of(formal.dtype);
        walked_[i].offset = index->offset;
        walked_[i].strides = std::move(index->strides);
        strides.push_back(&walked_[i].strides);
      }
    }
  }
  find_used();
  for (std::size_t i = 0; i < region_.stores.size(); ++i) {
    const auto& store = region_.stores[i];
    add(walked_[region_.values.size() + i], store.to, region_.values[store.value].of_row, false);
  }

  // Axis by axis from the last: dropped where its extent is 1, joined to the one behind it where
  // all strides allow.
  const bool keeps_last = has_row_values_ || needs_whole_rows() || first_is_given_;
  const auto drop = [&](std::size_t axis) {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    for (auto* s : strides) s->erase(s->begin() + static_cast<std::ptrdiff_t>(axis));
  };
  for (std::size_t axis = shape.size() - (keeps_last ? 1 : 0); axis-- > 0;) {
    if (shape[axis] == 1 && shape.size() > 1) {
      drop(axis);
    } else if (axis + 1 < shape.size() - (keeps_last ? 1 : 0) &&
               std::ranges::all_of(strides, [&](const auto* s) {
                 return (*s)[axis] == (*s)[axis + 1] * shape[axis + 1];
               })) {
      const auto inner = shape[axis + 1];
      for (auto* s : strides) (*s)[axis] = (*s)[axis + 1];
      shape[axis] *= inner;
      drop(axis + 1);
    }
  }
  columns_ = shape.back();
  shape.pop_back();
  outer_ = std::move(shape);
  rows_ = 1;
  for (const auto extent : outer_) rows_ *= extent;
  for (auto& walked : walked_) {
    if (walked.strides.empty()) continue;
    walked.column = walked.strides.back();
    walked.strides.pop_back();
  }
}

// Values that stores depend on, but by indices that are not computed.
void RegionTiles::find_used() {
  is_used_.assign(region_.values.size(), false);
  for (const auto& store : region_.stores) is_used_[store.value] = true;
  for (std::size_t i = region_.values.size(); i-- > 0;) {
    if (!is_used_[i] || walked_[i].is_gathered) continue;
    for (const auto v : region_.values[i].values) is_used_[v] = true;
  }
}

}  // namespace assay::compiler
