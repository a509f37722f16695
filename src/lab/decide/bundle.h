// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "base/json.h"
#include "lab/record/row.h"

namespace assay::lab {

struct BundleOptions {
  std::string case_name;
  Json point;  // complete, as rows have it
};

// The evidence for a decision at one point of a case, for people and programs: for each machine,
// platform and number of cores every provider with its status, time, ratio with interval, fidelity,
// memory, fraction of the limit, versions, caveats, and how it went over the runs. The figures are
// those of `latest` (see latest_rows()), the trends those of `all`. `recommendation` is null on
// purpose: whoever decides knows more than the rows. Throws UserError when there is no row of it.
Json evidence_bundle(std::span<const Row> all, std::span<const Row> latest,
                     const BundleOptions& options);

// The same to be read: markdown, in which text from rows can form no markup.
std::string bundle_markdown(const Json& bundle);

}  // namespace assay::lab
