// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Primitives on tiles: a few hundred elements at a time, in the elements' own dtypes, of the best
// instruction set of this machine.

#include <cstdint>

#include "compiler/graph/graph.h"

namespace assay::compiler {

// out[i] = op(in[0][i], in[1][i], in[2][i]) for i < count. `out` overlaps nothing.
using TileOp = void (*)(const void* const* in, void* out, std::int64_t count);

struct TileOps {
  // Of operands of dtype `from` to one of dtype `to`. Bit b of `single`: operand b is one element
  // that stands for all. Null where there is no such form: an operand must be filled into a tile
  // first; there always is one for 0.
  TileOp (*find)(Op op, DType from, DType to, unsigned single);
};
const TileOps& tile_ops();

}  // namespace assay::compiler
