// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The names of the algebras alone, for what is compiled without the rest (algebra.h).

#include <cstdint>

namespace assay::semiring {

enum class Algebra : std::uint8_t { kReal, kLog, kMaxPlus, kMinPlus, kEuclidean, kBoolean };

}  // namespace assay::semiring
