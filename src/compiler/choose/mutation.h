// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Proposals: a genome with one to three of its choices changed.

#include <functional>

#include "compiler/choose/candidate.h"

namespace assay::compiler {

// A number below the bound, by chance.
using Below = std::function<std::size_t(std::size_t bound)>;

// `freedom` is the genome's own.
Genome mutated(Genome genome, const Candidates::Freedom& freedom, const Below& below);

}  // namespace assay::compiler
