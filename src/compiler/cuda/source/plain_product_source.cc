// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "compiler/cuda/source/product_code.h"

namespace assay::compiler::cuda {
namespace {

constexpr int kTile = 64, kTerms = 16, kTiledThreads = 256, kEach = 4;

// Factors go through shared memory in the type of the sums; a thread has 4 × 4 sums. `a` and `b`
// are expressions of an element at (i, l) and (l, j) that are inside.
std::string tiled(DType accumulate, const std::string& a, const std::string& b) {
  const auto type = accumulator(accumulate);
  return fmt::format(
      R"cuda(
  {{
    __shared__ {type} as[{terms}][{tile} + 1], bs[{terms}][{tile} + 1];
    {type} sums[{each}][{each}];
    for (int x = 0; x < {each}; ++x) for (int y = 0; y < {each}; ++y) sums[x][y] = 0;
    const int ti = threadIdx.x / 16, tj = threadIdx.x % 16;
    for (i64 first = 0; first < terms; first += {terms}) {{
      __syncthreads();
      for (int at = threadIdx.x; at < {terms} * {tile}; at += {threads}) {{
        {{ const i64 i = row0 + at / {terms}, l = first + at % {terms};
          as[at % {terms}][at / {terms}] = i < rows && l < terms ? ({type})({a}) : ({type})0; }}
        {{ const i64 j = column0 + at % {tile}, l = first + at / {tile};
          bs[at / {tile}][at % {tile}] = j < columns && l < terms ? ({type})({b}) : ({type})0; }}
      }}
      __syncthreads();
      for (int l = 0; l < {terms}; ++l) {{
        {type} x[{each}], y[{each}];
        for (int e = 0; e < {each}; ++e) {{ x[e] = as[l][ti + 16 * e]; y[e] = bs[l][tj + 16 * e]; }}
        for (int p = 0; p < {each}; ++p)
          for (int q = 0; q < {each}; ++q) sums[p][q] = {fma};
      }}
    }}
    for (int p = 0; p < {each}; ++p) for (int q = 0; q < {each}; ++q) {{
      const i64 i = row0 + ti + 16 * p, j = column0 + tj + 16 * q;
      if (i >= rows || j >= columns) continue;
)cuda",
      fmt::arg("type", type), fmt::arg("terms", kTerms), fmt::arg("tile", kTile),
      fmt::arg("threads", kTiledThreads), fmt::arg("each", kEach), fmt::arg("a", a),
      fmt::arg("b", b), fmt::arg("fma", multiplied(accumulate, "x[p]", "y[q]", "sums[p][q]")));
}

std::string total(DType accumulate) {
  return fmt::format("const {0} total = ({0})sums[p][q];\n", wide_type(accumulate));
}

LaunchPlan plan_of(std::int64_t batch, std::int64_t m, std::int64_t n,
                   const SourceOptions& options) {
  const auto tiles = batch * ((m + kTile - 1) / kTile) * ((n + kTile - 1) / kTile);
  Launch launch{.grid = {blocks_for(power_above(tiles), 1, options), 1, 1},
                .threads = kTiledThreads};
  return {{}, {launch}, 0};
}

}  // namespace

KernelSource plain_matmul_source(const Kernel& kernel, const SourceOptions& options) {
  SourceMaker maker(kernel, options);
  const auto& work = std::get<Matmul>(kernel.work);
  const ProductAxes axes(work);
  const auto c = [&](const Dim& dim) { return maker.names().code(dim); };
  maker.begin_entry("product", kTiledThreads);
  maker.text(fmt::format(
      "wait_for_others();\nconst i64 rows = {0}, columns = {1}, terms = {2}, batches = {3};\n"
      "const i64 across = (columns + {4} - 1) / {4}, down = (rows + {4} - 1) / {4};\n"
      "for (i64 tile = blockIdx.x; tile < batches * down * across; tile += gridDim.x) {{\n"
      "const i64 batch = tile / (down * across), row0 = tile / across % down * {4}, "
      "column0 = tile % across * {4};\n(void)batch;\n",
      c(axes.m), c(axes.n), c(axes.k), c(product(axes.batch)), kTile));
  maker.text(unflattened(maker.names(), axes.batch, "batch", "b"));
  auto of_a = numbered("b", axes.batch.size()), of_b = of_a;
  of_a.insert(of_a.end(), {"i", "l"});
  of_b.insert(of_b.end(), {"l", "j"});
  maker.text(
      tiled(work.accumulate,
            fmt::format("wide(o{}[{}])", work.a.operand, place(maker.names(), work.a.view, of_a)),
            fmt::format("wide(o{}[{}])", work.b.operand, place(maker.names(), work.b.view, of_b))));
  maker.text(total(work.accumulate) + end_of_sum(maker, work) + "}\n}\n}\n");
  maker.end_entry();
  return std::move(maker).finish(
      [axes, options](const Bindings& symbols) {
        return plan_of(product(axes.batch).at(symbols), axes.m.at(symbols), axes.n.at(symbols),
                       options);
      },
      {product(axes.batch), axes.m, axes.n});
}

// A row at a time has its own expert: tiles of one row.
KernelSource plain_grouped_source(const Kernel& kernel, const SourceOptions& options) {
  SourceMaker maker(kernel, options);
  const auto& work = std::get<GroupedMatmul>(kernel.work);
  const auto& a = work.a.view.shape;
  const auto experts = work.weights.view.shape.front(), n = work.weights.view.shape.back();
  const auto c = [&](const Dim& dim) { return maker.names().code(dim); };
  const auto type = accumulator(work.accumulate);
  maker.begin_entry("product", kTiledThreads);
  maker.text(fmt::format(
      "wait_for_others();\nconst i64 rows = {}, columns = {}, terms = {}, experts = {};\n"
      "for (i64 at = blockIdx.x * (i64)blockDim.x + threadIdx.x; at < rows * columns; at += "
      "(i64)gridDim.x * blockDim.x) {{\nconst i64 t = at / columns, j = at % columns;\n"
      "const i64 x = min_of(max_of((i64)o{}[{}], 0), experts - 1);\n{} sum = 0;\n"
      "for (i64 l = 0; l < terms; ++l) {{ const {} p = wide(o{}[{}]), q = wide(o{}[{}]); sum = {}; "
      "}}\n",
      c(a[0]), c(n), c(a[1]), c(experts), work.expert.operand,
      place(maker.names(), work.expert.view, {"t"}), type, type, work.a.operand,
      place(maker.names(), work.a.view, {"t", "l"}), work.weights.operand,
      place(maker.names(), work.weights.view, {"x", "l", "j"}),
      multiplied(work.accumulate, "p", "q", "sum")));
  maker.text(fmt::format("const {0} total = ({0})sum;\n", wide_type(work.accumulate)) +
             stored_sum(maker, work.out, work.accumulate, {"t", "j"}) + "}\n");
  maker.end_entry();
  const auto count = a[0] * n;
  return std::move(maker).finish(
      [count, options](const Bindings& symbols) {
        Launch launch{
            .grid = {blocks_for(power_above(count.at(symbols)), kTiledThreads, options), 1, 1},
            .threads = kTiledThreads};
        return LaunchPlan{{}, {launch}, 0};
      },
      {count});
}

}  // namespace assay::compiler::cuda
