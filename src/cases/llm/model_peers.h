// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cases/llm/model_point.h"
#include "lab/record/case.h"

namespace assay::cases::llm {

// Who runs whole models: our compiler, and what people use today.
std::vector<lab::Provider> model_providers();
std::optional<lab::Skip> why_no_model(std::string_view provider, const ModelPoint& point);
std::uint64_t model_worker_bytes(std::string_view provider, const ModelPoint& point);

}  // namespace assay::cases::llm
