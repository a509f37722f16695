// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Kernels made ready for this machine's processor: what does not depend on symbols is decided once,
// and a kernel runs many times, with other symbols if need be.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "compiler/program/program.h"

namespace assay::compiler {

class CpuKernel {
 public:
  virtual ~CpuKernel() = default;

  // What run() takes beside the operands, in bytes: memory that threads keep between calls
  // (kernels/memory/scratch.h).
  virtual std::int64_t scratch_bytes(const Bindings& symbols, int threads) = 0;
  // Operands as run_plain() wants them, aligned for their elements. At most `threads` at once;
  // results do not depend on their number. One caller at a time. Throws UserError as run_plain()
  // does, before anything is written.
  virtual void run(const Bindings& symbols, std::span<std::byte* const> operands, int threads) = 0;
  // What multiplies, where it is a product that one of several units could do: "amx", "AVX3".
  virtual std::string unit(const Bindings&) { return {}; }
};

// How many ways there are to run a kernel: variants 0 to that number − 1. 0 is the default, at
// least 1.
std::uint32_t cpu_variants(const Kernel& kernel);
// In the way that kernel.variant says; one that does not exist is an InternalError.
std::unique_ptr<CpuKernel> prepare_cpu_kernel(const Kernel& kernel);

}  // namespace assay::compiler
