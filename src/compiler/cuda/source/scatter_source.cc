// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "compiler/cuda/source/forms.h"

namespace assay::compiler::cuda {
namespace {

constexpr int kScatterThreads = 256;
// So many indices are looked at by every block, which then needs nobody's word.
constexpr std::int64_t kFew = 1 << 12;
constexpr std::uint32_t kLookers = 128;

}  // namespace

// Of several elements that go to one place the last stays. Indices that increase from one to the
// next (rows of a cache) have no such places, and all go at once: whether they do is looked at
// first, by every block, or where they are many by a launch of its own. Else each place belongs to
// one thread, which goes through all indices for those that are its own.
KernelSource scatter_source(const Kernel& kernel, const SourceOptions& options) {
  SourceMaker maker(kernel, options);
  const auto& work = std::get<ScatterInto>(kernel.work);
  const auto& names = maker.names();
  const auto count = product(work.index.view.shape), size = product(work.out.view.shape);
  const auto at = [&](const Access& access, const std::string& flat, const std::string& name) {
    if (access.view.is_contiguous())
      return fmt::format("{}_at = {} + {};\n", name, names.code(access.view.offset), flat);
    std::vector<std::string> indices;
    for (std::size_t i = 0; i < access.view.rank(); ++i)
      indices.push_back(fmt::format("{}{}", name, i));
    return fmt::format("{{ {} {}_at = {}; }}\n", unflattened(names, access.view.shape, flat, name),
                       name, place(names, access.view, indices));
  };
  const bool copies = !work.in_place;
  if (copies) {
    maker.begin_entry("copy", kScatterThreads);
    maker.text(fmt::format(
        "wait_for_others();\nfor (i64 n = blockIdx.x * (i64)blockDim.x + threadIdx.x; n < {}; n += "
        "(i64)gridDim.x * blockDim.x) {{\ni64 f_at, t_at;\n{}{}o{}[t_at] = o{}[f_at];\n}}\n",
        names.code(size), at(work.data, "n", "f"), at(work.out, "n", "t"), work.out.operand,
        work.data.operand));
    maker.end_entry();
  }
  const auto look = [&](const std::string& first, const std::string& step) {
    return fmt::format(
        "bool falls = false;\nfor (i64 n = {}; n + 1 < count; n += {}) {{\ni64 p_at, q_at;\n{}{}"
        "if ((i64)o{}[p_at] >= (i64)o{}[q_at]) falls = true;\n}}\n",
        first, step, at(work.index, "n", "p"), at(work.index, "n + 1", "q"), work.index.operand,
        work.index.operand);
  };
  const auto looker = maker.begin_entry("look", kScatterThreads);
  maker.text(fmt::format(
      "wait_for_others();\nconst i64 count = {};\n{}"
      "const int any = __syncthreads_or(falls);\n"
      "if (threadIdx.x == 0) ((int*)scratch)[blockIdx.x] = any;\n",
      names.code(count),
      look("blockIdx.x * (i64)blockDim.x + threadIdx.x", "(i64)gridDim.x * blockDim.x")));
  maker.end_entry();
  const auto mover = maker.begin_entry("scatter", kScatterThreads);
  maker.text(fmt::format(
      R"cuda(
  wait_for_others();
  const i64 count = {count}, size = {size};
  const i64 first = blockIdx.x * (i64)blockDim.x + threadIdx.x, all = (i64)gridDim.x * blockDim.x;
  int any;
  if (count <= {few}) {{
    {look}
    any = __syncthreads_or(falls);
  }} else {{
    any = __syncthreads_or(threadIdx.x < {lookers} ? ((const int*)scratch)[threadIdx.x] : 0);
  }}
  for (i64 n = any ? 0 : first; n < count; n += any ? 1 : all) {{
    i64 p_at;
    {index}
    const i64 to = (i64)o{io}[p_at];
    if (to < 0 || to >= size || (any && to % all != first)) continue;
    i64 v_at, t_at;
    {value}
    {target}
    o{oo}[t_at] = o{vo}[v_at];
  }}
)cuda",
      fmt::arg("count", names.code(count)), fmt::arg("size", names.code(size)),
      fmt::arg("look", look("threadIdx.x", "blockDim.x")), fmt::arg("few", kFew),
      fmt::arg("lookers", kLookers), fmt::arg("index", at(work.index, "n", "p")),
      fmt::arg("value", at(work.values, "n", "v")), fmt::arg("target", at(work.out, "to", "t")),
      fmt::arg("io", work.index.operand), fmt::arg("oo", work.out.operand),
      fmt::arg("vo", work.values.operand)));
  maker.end_entry();
  return std::move(maker).finish(
      [=](const Bindings& symbols) {
        LaunchPlan plan;
        const auto many = power_above(count.at(symbols));
        if (copies) {
          plan.launches.push_back(
              {0,
               {blocks_for(power_above(size.at(symbols)), kScatterThreads, options), 1, 1},
               kScatterThreads});
        }
        if (many > kFew) {
          plan.launches.push_back({looker, {kLookers, 1, 1}, kScatterThreads});
          plan.scratch_bytes = kLookers * sizeof(int);
        }
        plan.launches.push_back(
            {mover, {blocks_for(many, kScatterThreads, options), 1, 1}, kScatterThreads});
        return plan;
      },
      {count, size});
}

}  // namespace assay::compiler::cuda
