// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/region_phases.h"

#include <algorithm>

namespace assay::compiler {

RegionPhases::RegionPhases(const Region& region)
    : of(region.values.size()), last_use(region.values.size()) {
  for (std::size_t i = 0; i < region.values.size(); ++i) {
    const auto& value = region.values[i];
    for (const auto v : value.values) of[i] = std::max(of[i], of[v]);
    for (const auto v : value.values) last_use[v] = std::max(last_use[v], of[i]);
    if (is_reduction(value.op)) ++of[i];
    count = std::max(count, of[i] + 1);
  }
}

}  // namespace assay::compiler
