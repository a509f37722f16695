// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A permuting copy cut into boxes for a GPU's blocks of threads.
//
// A box goes through the block's own memory: read in the order in which it lies in the source,
// written in that of the copy, so that neighbours read and write neighbours on both sides. It has
// whole runs of both orders as far as they fit, and so at most two of its loops are cut, one for
// each order. Where each element of a box lies relative to its first is the same for all boxes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "einsum/labels/loop.h"

namespace assay::einsum {

// Plain arrays, since a kernel takes it by value.
struct PermuteBoxes {
  static constexpr int kMaxLoops = 24;
  int loops = 0;
  std::int32_t extent[kMaxLoops] = {}, box[kMaxLoops] = {}, parts[kMaxLoops] = {};
  std::int64_t a[kMaxLoops] = {}, c[kMaxLoops] = {};  // strides in elements
  // The box's own loops, fastest first, as each side has them.
  int in_box = 0;
  int order_a[kMaxLoops] = {}, order_c[kMaxLoops] = {};
  std::int32_t stride_a[kMaxLoops] = {};  // of each loop in the box as it was read
  int elements = 1;                       // of a box
  std::int32_t boxes = 1;
  int pad_shift = 31;  // element e of a box lies at e + (e >> pad_shift)
  // The loops that are cut unevenly: the last box along them ends before it is full. Element number
  // e of an order has the coordinate (e / stride) mod box along them.
  int cuts = 0;
  int cut[2] = {};
  std::int32_t cut_in_a[2] = {}, cut_in_c[2] = {};

  constexpr int padded_elements() const { return elements + (elements >> pad_shift) + 1; }
};

// Loops with their strides a and c, fused. Nothing where an extent, an offset inside a box or the
// number of boxes has more than 31 bits, or there are too many loops.
std::optional<PermuteBoxes> permute_boxes(std::span<const Loop> loops, std::size_t element_size);

}  // namespace assay::einsum
