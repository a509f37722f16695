// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "compiler/cuda/source/attention_code.h"

namespace assay::compiler::cuda {
namespace {

constexpr int kQueryThreads = 128;

}  // namespace

// A block takes a query and goes through its keys 128 at a time: a key for each thread, then a
// column of v for each thread. Sums are scaled again where a greater score comes. A score that is
// +∞ or NaN makes the row NaN, as the definition does.
KernelSource plain_attention_source(const Kernel& kernel, const SourceOptions& options) {
  SourceMaker maker(kernel, options);
  const auto& work = std::get<Attention>(kernel.work);
  const AttentionCode code(maker, work);
  const auto type = code.sums();
  maker.begin_entry("attention", kQueryThreads);
  maker.text("wait_for_others();\n" + code.extents());
  maker.text(fmt::format(
      R"cuda(
  __shared__ {type} weights[{threads}];
  for (i64 query = blockIdx.x; query < batches * queries; query += gridDim.x) {{
    const i64 batch = query / queries, i = query % queries;
    (void)batch;
    {batch}
    i64 begin, end;
    {seen}
    {type} best = -INFINITE, whole = 0;
    constexpr int kMostColumns = 8;
    for (i64 column0 = 0; column0 < columns || column0 == 0; column0 += {threads} * kMostColumns) {{
      {type} sums[kMostColumns];
      for (int x = 0; x < kMostColumns; ++x) sums[x] = 0;
      best = -INFINITE; whole = 0;
      for (i64 key0 = begin; key0 < end; key0 += {threads}) {{
        const i64 j = key0 + threadIdx.x;
        {type} score = -INFINITE;
        if (j < end) {{
          score = 0;
          for (i64 l = 0; l < width; ++l) {{
            const {type} x = wide({q}), y = wide({k});
            score = {fma};
          }}
          score = score * ({type}){scale};
          {masked}
        }}
        const {type} greater = greatest(best, together<{threads}, GreatestOf>(score));
        // Nothing seen so far: no weight at all.
        const {type} weight = j < end && !(score == -INFINITE) ? {exp}(score - greater) : ({type})0;
        const {type} factor = best == -INFINITE ? ({type})0 : {exp}(best - greater);
        __syncthreads();
        weights[threadIdx.x] = weight;
        __syncthreads();
        whole = whole * factor + together<{threads}, SumOf>(weight);
        best = greater;
        const i64 some = min_of({threads}, end - key0);
        for (int x = 0; x < kMostColumns; ++x) {{
          const i64 e = column0 + x * {threads} + threadIdx.x;
          sums[x] = sums[x] * factor;
          if (e >= columns) continue;
          for (i64 at = 0; at < some; ++at) {{
            const i64 j = key0 + at;
            const {type} x_ = weights[at], y = wide({v});
            if (x_ != 0) sums[x] = {fma_v};
          }}
        }}
      }}
      for (int x = 0; x < kMostColumns; ++x) {{
        const i64 e = column0 + x * {threads} + threadIdx.x;
        if (e >= columns) continue;
        const {type} total = sums[x] / whole;
        {stored}
      }}
    }}
  }}
)cuda",
      fmt::arg("type", type), fmt::arg("threads", kQueryThreads), fmt::arg("batch", code.batch()),
      fmt::arg("seen", code.seen("i")), fmt::arg("q", code.element(work.q, "i", "l")),
      fmt::arg("k", code.element(work.k, "j", "l")), fmt::arg("v", code.element(work.v, "j", "e")),
      fmt::arg("fma", multiplied(code.accumulate(), "x", "y", "score")),
      fmt::arg("fma_v", multiplied(code.accumulate(), "x_", "y", "sums[x]")),
      fmt::arg("scale", code.scale()), fmt::arg("masked", code.masked("i", "j", "score")),
      fmt::arg("exp", code.exponential()), fmt::arg("stored", code.stored("i", "e"))));
  maker.end_entry();
  const auto queries = code.query_count();
  return std::move(maker).finish(
      [queries, options](const Bindings& symbols) {
        Launch launch{.grid = {blocks_for(power_above(queries.at(symbols)), 1, options), 1, 1},
                      .threads = kQueryThreads};
        return LaunchPlan{{}, {launch}, 0};
      },
      {queries});
}

}  // namespace assay::compiler::cuda
