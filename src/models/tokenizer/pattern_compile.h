// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "models/tokenizer/pattern_program.h"
#include "models/tokenizer/pattern_syntax.h"

namespace assay::models {

// Instructions for each of the alternatives. Throws UserError that names `what` where they are too
// many.
PatternProgram compile_pattern(std::span<const PatternNode> alternatives, std::string_view what);

}  // namespace assay::models
