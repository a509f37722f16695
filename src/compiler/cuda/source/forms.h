// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The forms that kernels are generated in, a file each. Every one that answers `nothing` for what
// it cannot compute says so before a device is asked; the plain ones answer always.

#include <optional>

#include "compiler/cuda/source/kernel_source.h"
#include "compiler/cuda/source/names.h"

namespace assay::compiler::cuda {

// A kernel's text so far: what all begin with, then entries.
class SourceMaker {
 public:
  SourceMaker(const Kernel& kernel, const SourceOptions& options);
  const Kernel& kernel() const { return kernel_; }
  const SymbolNames& names() const { return names_; }
  const SourceOptions& options() const { return options_; }
  void text(std::string_view more) { source_.code += more; }
  // The head of a further entry and a line that lets others begin; returns its number.
  std::uint32_t begin_entry(const std::string& name, int most_threads, int least_blocks = 0);
  void end_entry() { source_.code += "}\n"; }
  std::uint32_t entries() const { return static_cast<std::uint32_t>(source_.entries.size()); }
  // `depends_on`: dimensions that the plan is made of.
  KernelSource finish(std::function<LaunchPlan(const Bindings&)> plan,
                      const std::vector<Dim>& depends_on) &&;

 private:
  const Kernel& kernel_;
  SourceOptions options_;
  SymbolNames names_;
  KernelSource source_;
};

KernelSource region_source(const Kernel& kernel, const SourceOptions& options);
KernelSource plain_matmul_source(const Kernel& kernel, const SourceOptions& options);
// x Wᵀ, with W by rows: a few rows of x at the speed of memory, more of them by tensor cores or by
// cuBLAS.
std::optional<KernelSource> linear_source(const Kernel& kernel, const SourceOptions& options);
KernelSource plain_grouped_source(const Kernel& kernel, const SourceOptions& options);
std::optional<KernelSource> grouped_rows_source(const Kernel& kernel, const SourceOptions& options);
KernelSource plain_attention_source(const Kernel& kernel, const SourceOptions& options);
std::optional<KernelSource> attention_source(const Kernel& kernel, const SourceOptions& options);
KernelSource scatter_source(const Kernel& kernel, const SourceOptions& options);

// Blocks for `items` that a block takes `each` of, no more than keep the device busy: kernels go
// on in steps of the whole grid.
std::uint32_t blocks_for(std::int64_t items, std::int64_t each, const SourceOptions& options);
// The next power of two, so that a graph that is captured serves many values of a symbol.
std::int64_t power_above(std::int64_t value);

}  // namespace assay::compiler::cuda
