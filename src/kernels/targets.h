// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The instruction sets that this backend is compiled for, seen from outside the kernels.

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace assay::kernels {

struct InstructionSet {
  std::int64_t id;   // Highway's bit
  std::string name;  // "AVX3" (AVX-512), "AVX2", "SSE4", "NEON", "SCALAR"

  friend std::ostream& operator<<(std::ostream& out, const InstructionSet& set) {
    return out << set.name;
  }
};

// Those that this machine can run, the one in use first.
std::vector<InstructionSet> instruction_sets();

// For tests: while it lives, kernels are chosen as if the machine had this set alone. It acts on
// the whole process; kernels that are running elsewhere meanwhile are not disturbed.
class OnlyInstructionSet {
 public:
  explicit OnlyInstructionSet(const InstructionSet& set);
  ~OnlyInstructionSet();
  OnlyInstructionSet(const OnlyInstructionSet&) = delete;
  OnlyInstructionSet& operator=(const OnlyInstructionSet&) = delete;
};

}  // namespace assay::kernels
