// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "compiler/cuda/source/bundle.h"
#include "compiler/cuda/source/device_text.h"
#include "compiler/cuda/source/names.h"

namespace assay::compiler::cuda {

KernelSource bundle_source(const std::vector<Kernel>& parts, const std::vector<Launch>& like,
                           bool in_turn, const SourceOptions& options) {
  auto part_options = options;
  part_options.is_part = true;
  std::set<std::string> symbols;
  for (const auto& part : parts) {
    const SymbolNames names(part);
    symbols.insert(names.symbols().begin(), names.symbols().end());
  }
  part_options.symbols.assign(symbols.begin(), symbols.end());

  const auto common = std::string(scalar_text()) + std::string(collective_text());
  KernelSource source;
  source.is_bundle = true;
  source.entries = {"bundle"};
  source.symbols = part_options.symbols;
  source.code = common + fmt::format(
                             "struct Place {{ u32 x, y, z; }};\n"
                             "struct Begins {{ u32 of[{}]; }};\n",
                             kMostOfBundle + 1);
  std::vector<std::function<LaunchPlan(const Bindings&)>> plans;
  std::set<std::string> launch_symbols;
  std::uint32_t threads = 0;
  std::string operands, body;
  auto all = parts.front();
  for (std::size_t i = 0; i < all.operands.size(); ++i) operands += fmt::format(", o{}", i);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto part = source_of(parts[i], part_options);
    check(part.code.starts_with(common), "all sources begin alike");
    source.code += fmt::format("namespace part{} {{\n{}}}\n", i, part.code.substr(common.size()));
    launch_symbols.insert(part.launch_symbols.begin(), part.launch_symbols.end());
    body += fmt::format(
        "if (blockIdx.x >= begins.of[{0}] && blockIdx.x < begins.of[{1}] && threadIdx.x < {2}) {{\n"
        "const Place block = {{blockIdx.x - begins.of[{0}], 0, 0}}, grid = {{begins.of[{1}] - "
        "begins.of[{0}], 1, 1}}, size = {{{2}, 1, 1}};\n"
        "part{5}::{3}(block, grid, size, symbols, scratch, constant{4});\n}}\n",
        in_turn ? 0 : i, in_turn ? 1 : i + 1, like[i].threads, part.entries.at(like[i].entry),
        operands, i);
    threads = std::max(threads, like[i].threads);
    plans.push_back(std::move(part.plan));
    for (std::size_t o = 0; o < all.operands.size(); ++o)
      all.operands[o].is_written = all.operands[o].is_written || parts[i].operands[o].is_written;
  }
  source.code += entry_head(all, SymbolNames(parts.front(), part_options.symbols), "bundle",
                            static_cast<int>(threads), 1, ", const Begins begins") +
                 body + "}\n";
  source.launch_symbols.assign(launch_symbols.begin(), launch_symbols.end());
  source.plan = [plans, like, threads, in_turn](const Bindings& values) {
    Launch both{.threads = threads};
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const auto plan = plans[i](values);
      if (plan.product || plan.scratch_bytes > 0 || plan.launches.size() != 1) return LaunchPlan{};
      auto launch = plan.launches.front();
      if (in_turn && i > 0 && launch.grid[0] != both.begins[1]) return LaunchPlan{};
      both.begins[i + 1] = (in_turn ? 0 : both.begins[i]) + launch.grid[0];
      launch.grid[0] = like[i].grid[0];
      if (launch != like[i]) return LaunchPlan{};
    }
    both.grid[0] = both.begins[plans.size()];
    return LaunchPlan{{}, {both}, 0};
  };
  return source;
}

}  // namespace assay::compiler::cuda
