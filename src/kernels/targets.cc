// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/targets.h"

#include <hwy/highway.h>

namespace assay::kernels {

std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets;
  for (const std::int64_t id : hwy::SupportedAndGeneratedTargets()) {
    sets.push_back({id, hwy::TargetName(id)});
  }
  return sets;
}

OnlyInstructionSet::OnlyInstructionSet(const InstructionSet& set) {
  hwy::SetSupportedTargetsForTest(set.id);
  hwy::GetChosenTarget().Update(set.id);
}

OnlyInstructionSet::~OnlyInstructionSet() {
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace assay::kernels
