// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A program as text, for people and to tell programs apart: equal programs have equal text.

#include "base/json.h"
#include "compiler/program/program.h"

namespace assay::compiler {

Json kernel_to_json(const Kernel& kernel);
Json program_to_json(const Program& program);

}  // namespace assay::compiler
