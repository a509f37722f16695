// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>

#include "base/json_fwd.h"

namespace assay {

// An order of all values: null, booleans, numbers, objects, arrays, texts. Numbers count by what
// they are, whatever they are kept as: the library's own order takes -1 for 2⁶⁴ − 1, and is none
// where large numbers of several kinds meet.
std::weak_ordering json_order(const Json& a, const Json& b);

}  // namespace assay
