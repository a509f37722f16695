// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/cuda/device_program.h"

namespace assay::compiler::cuda {

// Where copies of a process's operands lie in the block for them.
struct DeviceProgram::Staged {
  struct Operand {
    std::int64_t begin = 0, bytes = 0;
    Buffer::Kind kind = Buffer::Kind::kInput;
  };
  std::vector<Operand> operands;
};

}  // namespace assay::compiler::cuda
