// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which rows a word on the command line means.

#include <span>
#include <string>
#include <vector>

#include "lab/decide/selectors.h"
#include "lab/record/row.h"
#include "lab/store/source.h"

namespace assay::cli {

// Prints warnings on standard error. Without sources: results/, and nothing where that is not
// there.
std::vector<lab::Row> read_rows(const std::vector<std::string>& sources,
                                lab::Reading reading = lab::Reading::kWhatIsWhole);
// For decisions: with --strict nothing is decided beside a journal that cannot be read.
inline lab::Reading reading_for(bool strict) {
  return strict ? lab::Reading::kAllOrNothing : lab::Reading::kWhatIsWhole;
}

struct SelectedSide {
  lab::Selector selector;
  std::vector<lab::Row> rows;
};

// The rows a selector means, of `rows` or, for a source, of that source: its newest run of each
// provider at each point, unless they are to be pooled. Throws UserError when there are none.
SelectedSide select_side(const std::string& text, std::span<const lab::Row> rows, bool pool,
                         lab::Reading reading = lab::Reading::kWhatIsWhole);
// The rows of both sides are the same ones: nothing to decide (UserError).
void refuse_equal_sides(const SelectedSide& a, const SelectedSide& b);

}  // namespace assay::cli
