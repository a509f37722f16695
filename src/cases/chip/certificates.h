// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds what an attempt left behind against the oracle, which knows no engine. Nothing: the oracle
// cannot judge this provider at this point.

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "lab/record/case.h"

namespace assay::cases::chip {

std::optional<lab::Certificate> certify_product(const Json& point, std::string_view provider,
                                                const std::string& file);
std::optional<lab::Certificate> certify_all_reduce(const Json& point, int set,
                                                   std::string_view provider,
                                                   const std::string& file);

}  // namespace assay::cases::chip
