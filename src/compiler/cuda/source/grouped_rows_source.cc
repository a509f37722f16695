// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "compiler/cuda/source/linear_code.h"
#include "compiler/cuda/source/product_code.h"

namespace assay::compiler::cuda {

// A warp takes a row of the expert's matrix for one row of x. Which expert that is, the device
// reads by itself.
std::optional<KernelSource> grouped_rows_source(const Kernel& kernel,
                                                const SourceOptions& options) {
  const auto& work = std::get<GroupedMatmul>(kernel.work);
  const auto &x = work.a.view, &w = work.weights.view;
  const auto x_type = kernel.operands[work.a.operand].dtype,
             w_type = kernel.operands[work.weights.operand].dtype;
  const auto is_narrow = [](DType dtype) { return is_floating(dtype) && dtype != DType::kF64; };
  if (work.accumulate != DType::kF32 || !is_narrow(x_type) || !is_narrow(w_type))
    return std::nullopt;
  const auto k = x.shape[1].constant(), n = w.shape[2].constant(), experts = w.shape[0].constant(),
             x_step = x.strides[0].constant(), expert_step = w.strides[0].constant(),
             w_step = w.strides[2].constant(), w_at = w.offset.constant();
  if (!k || !n || !experts || !x_step || !expert_step || !w_step || !w_at) return std::nullopt;
  if (*k == 0 || *k > (1 << 30) || *n == 0 || *experts == 0 || !x.strides[1].is(1) ||
      !w.strides[1].is(1))
    return std::nullopt;
  const auto lanes = static_cast<std::int64_t>(16 / size_of(w_type));
  for (const auto number : {*k, *expert_step, *w_step, *w_at}) {
    if (number % lanes != 0) return std::nullopt;
  }
  SourceMaker maker(kernel, options);
  maker.text(matvec_text());
  maker.begin_entry("rows", kVectorThreads, 1);
  const auto rows = x.shape[0];
  maker.text(fmt::format(
      "wait_for_others();\nconst i64 rows = {rows};\n"
      "const i64 column0 = (blockIdx.x * (i64){warps} + threadIdx.x / 32);\n"
      "for (i64 t = blockIdx.y; t < rows; t += gridDim.y) {{\n"
      "const i64 expert = min_of(max_of((i64)o{e}[{e_at}], 0), {experts} - 1);\n"
      "float sums[1][1];\n"
      "sum_rows<1, 1, 1, {k}, {k}ll, {w_step}ll>(sums, o{x} + ({x_at}), 1, o{w} + {w_at} + expert "
      "* "
      "{expert_step}ll, column0, {n}, false);\n"
      "const i64 j = column0;\nconst float total = sums[0][0];\n"
      "if (threadIdx.x % 32 == 0 && j < {n}) {{\n",
      fmt::arg("rows", maker.names().code(rows)), fmt::arg("warps", kVectorWarps),
      fmt::arg("n", *n), fmt::arg("e", work.expert.operand),
      fmt::arg("e_at", place(maker.names(), work.expert.view, {"t"})),
      fmt::arg("experts", *experts), fmt::arg("k", *k), fmt::arg("w_step", *w_step),
      fmt::arg("x", work.a.operand), fmt::arg("x_at", place(maker.names(), x, {"t", "0"})),
      fmt::arg("w", work.weights.operand), fmt::arg("w_at", *w_at),
      fmt::arg("expert_step", *expert_step)));
  maker.text(stored_sum(maker, work.out, work.accumulate, {"t", "j"}) + "}\n}\n");
  maker.end_entry();
  return std::move(maker).finish(
      [rows, n = *n](const Bindings& symbols) {
        LaunchPlan plan;
        const auto count = rows.at(symbols);
        if (count == 0) return plan;
        constexpr std::int64_t kMostAcross = 65535;
        plan.launches = {{0,
                          {static_cast<std::uint32_t>((n + kVectorWarps - 1) / kVectorWarps),
                           static_cast<std::uint32_t>(std::min(count, kMostAcross)), 1},
                          kVectorThreads}};
        return plan;
      },
      {rows});
}

}  // namespace assay::compiler::cuda
