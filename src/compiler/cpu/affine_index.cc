// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/affine_index.h"

#include <algorithm>
#include <cmath>

namespace assay::compiler {
namespace {

// Neither it nor what it is a part of wraps around.
bool is_small(const AffineIndex& index, const std::vector<std::int64_t>& shape) {
  auto most = std::abs(static_cast<double>(index.offset));
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    most += std::abs(static_cast<double>(index.strides[axis])) * static_cast<double>(shape[axis]);
  return most < 0x1p40;
}

bool is_constant(const AffineIndex& index) {
  return std::ranges::all_of(index.strides, [](std::int64_t stride) { return stride == 0; });
}

AffineIndex sum_of(AffineIndex a, const AffineIndex& b) {
  a.offset += b.offset;
  for (std::size_t axis = 0; axis < a.strides.size(); ++axis) a.strides[axis] += b.strides[axis];
  return a;
}

std::optional<AffineIndex> product_of(AffineIndex a, AffineIndex b) {
  if (is_constant(a)) std::swap(a, b);
  constexpr std::int64_t kMostFactor = std::int64_t{1} << 20;
  if (!is_constant(b) || std::abs(b.offset) > kMostFactor) return std::nullopt;
  a.offset *= b.offset;
  for (auto& stride : a.strides) stride *= b.offset;
  return a;
}

// `left`: how many values may still be looked at. What is computed of itself again and again is
// visited as often as it is written out.
std::optional<AffineIndex> affine_index(const Region& region, std::uint32_t id,
                                        const std::vector<std::int64_t>& shape,
                                        const Bindings& symbols, int& left) {
  const auto& value = region.values[id];
  if (value.dtype != DType::kI64 || --left < 0) return std::nullopt;
  const auto operand = [&](std::size_t o) {
    return affine_index(region, value.values[o], shape, symbols, left);
  };
  std::optional<AffineIndex> index;
  if (value.op == Op::kConst) {
    index =
        AffineIndex{static_cast<std::int64_t>(value.bits), std::vector<std::int64_t>(shape.size())};
  } else if (value.op == Op::kIota) {
    index = AffineIndex{value.access.view.offset.at(symbols), {}};
    for (const auto& stride : value.access.view.strides)
      index->strides.push_back(stride.at(symbols));
    index->strides.resize(shape.size());  // of a row's value: 0 along it
  } else if (value.op == Op::kAdd || value.op == Op::kMul) {
    const auto a = operand(0), b = operand(1);
    if (a && b) index = value.op == Op::kAdd ? sum_of(*a, *b) : product_of(*a, *b);
  }
  return index && is_small(*index, shape) ? index : std::nullopt;
}

}  // namespace

std::optional<AffineIndex> affine_index(const Region& region, std::uint32_t id,
                                        const std::vector<std::int64_t>& shape,
                                        const Bindings& symbols) {
  int left = 64;
  return affine_index(region, id, shape, symbols, left);
}

}  // namespace assay::compiler
