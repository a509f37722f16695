// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace assay::compiler::cuda {

inline constexpr int kFewThreads = 128, kMostParts = 32;
// Warps of a block of many queries, sixteen each: as many as leave room for the sums of two blocks.
constexpr int many_warps(std::int64_t width) { return width > 128 ? 4 : 6; }

std::string_view attention_text();        // some_queries, and what it keeps
std::string_view attention_tiles_text();  // many_queries, behind tile_loads_text()

}  // namespace assay::compiler::cuda
