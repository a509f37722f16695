// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Cutting labels into parts, which are done one after the other, so that a plan fits the memory;
// and further, where that makes room for faster kernels.

#include "einsum/plan/draft.h"

namespace assay::einsum {

// Cuts the label whose next smaller part helps most, with the plan's order: the lowest peak, then
// the least extra work. Returns whether there was one.
bool cut_one_more(Draft& draft, const StepsInput& input);

// What came of a plan that was tried: whether it was faster, and whether all its kernels have room,
// so that smaller parts would gain nothing.
struct Trial {
  bool faster = false, roomy = false;
};

// Takes the plan with these parts and this order in place of the one at hand, if it fits and is
// faster as a whole: what is best for one slice need not be, because work that all slices share is
// done once. The plan's memory must be bounded. `method` becomes the name of where the order came
// from.
Trial try_parts(Draft& draft, const Parts& parts, const Tree& order, const char* method);

// The first plan that fits need not be the fastest: kernels that need copies may have no room for
// them beside what is alive already, although smaller parts would leave enough. Cuts labels further
// as long as one of these plans is faster.
void cut_further(Draft& draft);

}  // namespace assay::einsum
