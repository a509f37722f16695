// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "cases/einsum/contractions.h"
#include "lab/record/case.h"

namespace assay::cases::einsum {

// The parts of a result that are judged, as indices along each of its axes; a letter that is not
// named has all of them. One part, the whole, where the oracle can afford it. Otherwise two: some
// whole rows, among them the first, the last and one that `draw` chose; and some places in every
// row, which are drawn along each of the other axes, ends included. So no row goes unjudged, and no
// place of a row for good.
std::vector<PlainPart> judged_parts(const ContractionPoint& point, std::int64_t draw);

// What those parts must be: by plain loops along the table's path.
std::vector<lab::Expectation> expectations(const ContractionPoint& point, int set,
                                           std::int64_t draw);

}  // namespace assay::cases::einsum
