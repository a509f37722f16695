// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Steps of a program in one launch: a kernel that takes a few microseconds is mostly its beginning
// and its end, and one of few blocks leaves the device idle.
//
//  - Steps that do not need one another, side by side: the products of one x, norms of queries and
//    of keys.
//  - A product and one of the same x that takes its result in, element for element (a gate): each
//    warp computes the one, then the other.
//  - Attention and a copy of what it computed, in another order and dtype: it is stored like that.
//
// Which steps these are is seen at a token, each symbol at its least; the launch serves all values
// for which each part is one launch of the same entry. For others its steps go one by one.

#include "compiler/cuda/source/kernel_source.h"

namespace assay::compiler::cuda {

// What is launched at once.
struct Unit {
  std::vector<std::size_t> steps;       // in order
  std::optional<std::size_t> bundle{};  // a source; none: one step
  std::vector<BufferId> buffers{};      // of that source's operands
};
struct Bundles {
  std::vector<Unit> units;
  std::vector<KernelSource> sources;
  // A step for each unit, with all its buffers: what memory is planned for.
  Program grouped;
};
// `sources`: of the program's kernels.
Bundles bundles_of(const Program& program, const std::vector<KernelSource>& sources,
                   const SourceOptions& options);

// The parts, which have all operands of the bundle, as one launch where they are launched like
// this; its plan has no launches where they are not. `in_turn`: by the same blocks, of which there
// are as many for each part, one part after the other.
KernelSource bundle_source(const std::vector<Kernel>& parts, const std::vector<Launch>& like,
                           bool in_turn, const SourceOptions& options);

// Attention that stores where `copy`, a region that only copies what attention stored, or casts it,
// would: the copy's output is its output now. None: it does more, or another order.
std::optional<Attention> attention_as_copied(const Attention& work, const Region& copy);

}  // namespace assay::compiler::cuda
