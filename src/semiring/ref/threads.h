// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

namespace assay::semiring {

// Whether a loop of `steps` steps of `terms` terms each is worth starting threads for. They cost
// about ten microseconds, and milliseconds where the cores are busy: as much as 2^16 terms.
constexpr bool worth_threads(std::integral auto steps, std::integral auto terms) {
  return static_cast<double>(steps) * static_cast<double>(terms) > 0x1p16;
}

}  // namespace assay::semiring
