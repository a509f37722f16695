// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "cases/llm/block_point.h"
#include "cases/llm/oracle/plain_experts.h"

namespace assay::cases::llm {

// What a block computes, by the plain layers of the oracle.
struct BlockAnswer {
  PlainMatrix y;        // the rows asked for; of attention all heads, one after the other
  PlainMatrix k{0, 0};  // the caches afterwards, (kv_heads · keys) × head_width
  PlainMatrix v{0, 0};
};
BlockAnswer block_answer(const BlockPoint& point, const GraphTensors& inputs,
                         std::span<const std::int64_t> rows);

}  // namespace assay::cases::llm
