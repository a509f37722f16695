// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json.h"
#include "cases/llm/graph_inputs.h"
#include "cases/llm/tolerance.h"

namespace assay::cases::llm {

// A canonical point of graph_fusion, read (docs/methods/graphs.md).
struct FusionPoint : GraphProblem {
  std::string graph;
  std::int64_t n = 0, width = 0;

  explicit FusionPoint(const Json& point);
  std::int64_t rows() const { return n / width; }
  bool is_summed() const { return graph == "chain_sum"; }
  double output_bytes() const;
  Tolerance tolerance() const;
};

}  // namespace assay::cases::llm
