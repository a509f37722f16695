// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lab/record/case.h"
#include "tensor/dtype.h"

namespace assay::cases::llm {

// Who computes the graphs: our compiler, and the frameworks beside it.
std::vector<lab::Provider> graph_providers();
std::optional<lab::Skip> why_no_graph(std::string_view provider, DType dtype, bool has_products);
// A worker before it has inputs, with what a framework takes.
std::uint64_t graph_worker_bytes(std::string_view provider);
// Multiply-adds or bytes, whichever takes longer.
std::optional<lab::Limit> graph_limit(double multiply_adds, double bytes, int cores,
                                      const lab::Ceilings& ceilings);

}  // namespace assay::cases::llm
