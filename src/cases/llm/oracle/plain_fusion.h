// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tensor/view.h"

namespace assay::cases::llm {

// Rows `rows` of one of the graphs of graph_fusion (docs/methods/graphs.md), one after the other,
// in f64. a, b (rows×width) and w (width) of floating point; those that the graph does not have are
// not read.
std::vector<double> plain_fusion(std::string_view graph, const TensorView& a, const TensorView& b,
                                 const TensorView& w, std::span<const std::int64_t> rows);

inline constexpr double kFusionEpsilon = 1e-5;  // of the norm

}  // namespace assay::cases::llm
