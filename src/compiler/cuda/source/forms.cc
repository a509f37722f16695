// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/source/forms.h"

#include <algorithm>
#include <bit>
#include <set>

#include "base/error.h"
#include "compiler/cuda/source/device_text.h"

namespace assay::compiler::cuda {

SourceMaker::SourceMaker(const Kernel& kernel, const SourceOptions& options)
    : kernel_(kernel), options_(options), names_(kernel, options.symbols) {
  source_.code = std::string(scalar_text()) + std::string(collective_text());
  source_.symbols = names_.symbols();
}

std::uint32_t SourceMaker::begin_entry(const std::string& name, int most_threads,
                                       int least_blocks) {
  source_.entries.push_back(name);
  source_.code += options_.is_part ? part_head(kernel_, names_, name)
                                   : entry_head(kernel_, names_, name, most_threads, least_blocks);
  source_.code += "  let_others_begin();\n";
  return entries() - 1;
}

KernelSource SourceMaker::finish(std::function<LaunchPlan(const Bindings&)> plan,
                                 const std::vector<Dim>& depends_on) && {
  std::set<std::string> symbols;
  for (const auto& dim : depends_on) dim.add_symbols(symbols);
  source_.launch_symbols.assign(symbols.begin(), symbols.end());
  source_.plan = std::move(plan);
  return std::move(source_);
}

std::uint32_t blocks_for(std::int64_t items, std::int64_t each, const SourceOptions& options) {
  const std::int64_t most = std::int64_t{options.multiprocessors} * 16;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>((items + each - 1) / each, 1, most));
}

std::int64_t power_above(std::int64_t value) {
  return static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 1))));
}

std::uint32_t variants_of(const Kernel& kernel) {
  // Regions and scatters have one form.
  return kernel.work.index() == 0 || kernel.work.index() == 4 ? 1 : 2;
}

KernelSource source_of(const Kernel& kernel, const SourceOptions& options) {
  const bool is_plain = kernel.variant == 1;
  const auto best = [&](auto fast, auto plain) {
    if (!is_plain) {
      if (auto source = fast(kernel, options)) return std::move(*source);
    }
    return plain(kernel, options);
  };
  switch (kernel.work.index()) {
    case 0:
      return region_source(kernel, options);
    case 1:
      return best(linear_source, plain_matmul_source);
    case 2:
      return best(grouped_rows_source, plain_grouped_source);
    case 3:
      return best(attention_source, plain_attention_source);
    case 4:
      return scatter_source(kernel, options);
    default:
      throw InternalError("a kernel is of one of five kinds");
  }
}

}  // namespace assay::compiler::cuda
