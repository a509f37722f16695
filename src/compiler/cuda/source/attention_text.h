// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace assay::compiler::cuda {

inline constexpr int kFewThreads = 128, kMostParts = 32;
inline constexpr int kManyThreads = 128, kManyQueries = 64;

// some_queries and many_queries, and what they keep.
std::string_view attention_text();

}  // namespace assay::compiler::cuda
