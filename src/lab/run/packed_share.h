// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A share of a run as one text, for a node that does not see the run's folder.

#include <string>

namespace assay::lab {

// All that a share begins with: a line with the run's request and the share's record, then the rows
// that are known.
std::string packed_share(const std::string& journal);

// The same as files in another folder; returns the share's journal there. Throws UserError for what
// is no such text.
std::string unpack_share(const std::string& packed, const std::string& folder);

}  // namespace assay::lab
