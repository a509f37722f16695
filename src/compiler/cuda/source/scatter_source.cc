// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "compiler/cuda/source/forms.h"

namespace assay::compiler::cuda {
namespace {

constexpr int kScatterThreads = 256;
// So many indices are looked at by every block, which then needs nobody's word.
constexpr std::int64_t kFew = 1 << 12;
// Neighbours that a thread takes of many, where their indices lie side by side.
constexpr int kNeighbours = 8;

}  // namespace

// Of several elements that go to one place the last stays. Indices that increase from one to the
// next (rows of a cache) have no such places, and all go at once. Of few that is looked at first,
// by every block. Of many each block looks at its own while it moves them, and where any do not
// increase, the block that is done last moves all once more: then each place belongs to one thread,
// which goes through all indices for those that are its own.
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
  const auto mover = maker.begin_entry("scatter", kScatterThreads);
  maker.text(fmt::format(
      R"cuda(
  wait_for_others();
  const i64 count = {count}, size = {size};
  const i64 first = blockIdx.x * (i64)blockDim.x + threadIdx.x, all = (i64)gridDim.x * blockDim.x;
  {look}
  const int any = __syncthreads_or(falls);
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
      fmt::arg("look", look("threadIdx.x", "blockDim.x")),
      fmt::arg("index", at(work.index, "n", "p")), fmt::arg("value", at(work.values, "n", "v")),
      fmt::arg("target", at(work.out, "to", "t")), fmt::arg("io", work.index.operand),
      fmt::arg("oo", work.out.operand), fmt::arg("vo", work.values.operand)));
  maker.end_entry();
  // Neighbours whose numbers rise by one, in values and in the result, go at once.
  const auto& last = work.values.view;
  const bool side_by_side = work.index.view.is_contiguous() && work.out.view.is_contiguous() &&
                            last.strides.back().is(1) && last.shape.back().constant() &&
                            *last.shape.back().constant() % kNeighbours == 0;
  const auto many_mover = maker.begin_entry("scatter_many", kScatterThreads);
  maker.text(fmt::format(
      R"cuda(
  wait_for_others();
  const i64 count = {count}, size = {size};
  const i64 thread = blockIdx.x * (i64)blockDim.x + threadIdx.x, all = (i64)gridDim.x * blockDim.x;
  bool falls = false;
  for (i64 first = thread * {each}; first < count; first += all * {each}) {{
    i64 places[{each} + 1];
    const bool is_whole = {side_by_side} && first + {each} <= count;
    if (is_whole) {{
      const i64 n = first;
      i64 p_at;
      {index}
      __align__(16) {index_type} some[{each}];
      load<{each}>(some, o{io} + p_at);
      _Pragma("unroll") for (int e = 0; e < {each}; ++e) places[e] = some[e];
    }}
    _Pragma("unroll") for (int e = 0; e <= {each}; ++e) {{
      const i64 n = first + e;
      if (is_whole && e < {each}) continue;
      if (n < count) {{
        i64 p_at;
        {index}
        places[e] = (i64)o{io}[p_at];
      }} else {{
        places[e] = 0x7fffffffffffffffll;
      }}
    }}
    bool follow = true;
    _Pragma("unroll") for (int e = 0; e < {each}; ++e) {{
      if (first + e + 1 < count && places[e] >= places[e + 1]) falls = true;
      if (places[e] != places[0] + e) follow = false;
    }}
    if ({side_by_side} && follow && places[0] >= 0 && places[0] + {each} <= size) {{
      const i64 n = first, to = places[0];
      i64 v_at, t_at;
      {value}
      {target}
      __align__(16) {type} some[{each}];
      load<{each}>(some, o{vo} + v_at);
      store<{each}>(o{oo} + t_at, some);
    }} else {{
      _Pragma("unroll") for (int e = 0; e < {each}; ++e) {{
        const i64 n = first + e, to = places[e];
        if (n >= count || to < 0 || to >= size) continue;
        i64 v_at, t_at;
        {value}
        {target}
        o{oo}[t_at] = o{vo}[v_at];
      }}
    }}
  }}
  int* counters = (int*)scratch - {counters};
  if (__syncthreads_or(falls) && threadIdx.x == 0) atomicAdd(counters + 1, 1);
  if (!is_last(counters, gridDim.x)) return;
  const bool any = *(volatile int*)(counters + 1) != 0;
  __syncthreads();
  if (threadIdx.x == 0) counters[1] = 0;
  for (i64 n = 0; any && n < count; ++n) {{
    i64 p_at;
    {index}
    const i64 to = (i64)o{io}[p_at];
    if (to < 0 || to >= size || to % blockDim.x != threadIdx.x) continue;
    i64 v_at, t_at;
    {value}
    {target}
    o{oo}[t_at] = o{vo}[v_at];
  }}
)cuda",
      fmt::arg("count", names.code(count)), fmt::arg("size", names.code(size)),
      fmt::arg("each", kNeighbours), fmt::arg("index", at(work.index, "n", "p")),
      fmt::arg("value", at(work.values, "n", "v")), fmt::arg("target", at(work.out, "to", "t")),
      fmt::arg("index_type", storage_type(kernel.operands[work.index.operand].dtype)),
      fmt::arg("type", storage_type(kernel.operands[work.out.operand].dtype)),
      fmt::arg("side_by_side", side_by_side), fmt::arg("counters", kCounters),
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
          // Counters lie in front of the scratch; nobody else may use them meanwhile.
          plan.scratch_bytes = 16;
          plan.launches.push_back({many_mover,
                                   {blocks_for(many, kScatterThreads * kNeighbours, options), 1, 1},
                                   kScatterThreads});
        } else {
          plan.launches.push_back(
              {mover, {blocks_for(many, kScatterThreads, options), 1, 1}, kScatterThreads});
        }
        return plan;
      },
      {count, size});
}

}  // namespace assay::compiler::cuda
