// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compiler/choose/search.h"

namespace assay::cli {

// A search on this machine, with the families that the environment leaves, whose results are kept
// in the cache folder; what is wrong with that folder is told on stderr.
compiler::SearchOptions kept_search();

}  // namespace assay::cli
