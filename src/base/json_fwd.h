// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The name alone, for headers that declare a to_json(): nlohmann/json.hpp costs seconds in every
// file that reads it. Whoever uses such a value includes base/json.h.

#include <nlohmann/json_fwd.hpp>

namespace assay {

using Json = nlohmann::json;

}  // namespace assay
