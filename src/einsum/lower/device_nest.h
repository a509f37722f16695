// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How the loops of a step are dealt out to the threads of a GPU.
//
// Threads beside each other should read and write addresses beside each other: a request of 32
// threads that are far apart moves a sector of 32 bytes for each of them. Either each element of
// the result has a thread of its own, and the fastest of the result's loops decides who is beside
// whom; or several threads share the sum of an element, and the fastest of the summed loops does.

#include <cstddef>
#include <span>
#include <vector>

#include "einsum/kernels/time_model.h"
#include "einsum/labels/layout.h"

namespace assay::einsum {

struct DeviceNest {
  // Loops of the result first, then the summed ones (c = 0), the fastest of each last.
  std::vector<Loop> loops;
  int lanes = 1;  // threads beside each other that share an element: 1, a warp's or a block's
  Work work;      // bytes are those of sectors
};
inline constexpr int kWarpLanes = 32, kBlockLanes = 256;

// The dealing that moves the fewest bytes.
DeviceNest device_nest(std::vector<Loop> loops, std::size_t element_size);

// What a permuting copy moves: whole sectors on either side. Strides a and c.
Work device_permute_work(std::span<const Loop> loops, std::size_t element_size);

}  // namespace assay::einsum
