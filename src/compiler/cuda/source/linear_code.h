// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loops over rows of W that lie side by side, as text: of these a product is made, and its
// epilogue is written behind them.

#include <cstdint>
#include <string_view>

namespace assay::compiler::cuda {

inline constexpr int kVectorThreads = 128, kVectorWarps = kVectorThreads / 32;
// The warps of a block share the terms of sixteen rows of W.
inline constexpr int kTileThreads = 256, kTileColumns = 16;
inline constexpr int kBlockThreads = 256, kBlockRows = 64, kBlockColumns = 64;

std::string_view matvec_text();     // sum_rows
std::string_view tile_rows_text();  // sum_tiles
std::string_view block_text();      // sum_block

}  // namespace assay::compiler::cuda
