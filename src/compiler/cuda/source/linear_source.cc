// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "compiler/cuda/source/linear_code.h"
#include "compiler/cuda/source/product_code.h"

namespace assay::compiler::cuda {
namespace {

// Rows of x that tensor cores take at once, in eights, where there is no library.
constexpr std::int64_t kMostTileRows = 64;
// Rows for which sums of products by threads are as fast as the memory.
constexpr std::int64_t kMostVectorRows = 2, kMostVectorRowsOfF32 = 8;
// Warps that keep the device busy nearly to the end: of fewer rows of W several warps take one.
constexpr std::int64_t kWantedWarps = 4096, kLeastTermsOfTwo = 2048;

// Neighbours that a thread takes of what cuBLAS left.
constexpr int kEndingThreads = 256, kEndingLanes = 4;

// How warps take rows of W for so many of x.
struct VectorShape {
  // Parts of a bundle are not alone.
  VectorShape(std::int64_t rows, std::int64_t n, std::int64_t k, bool is_part)
      : columns(rows > 2 ? 2 : 1) {
    while (!is_part && split < kVectorWarps &&
           n / columns * split * 2 <= kWantedWarps + kWantedWarps / 2 &&
           k / split >= kLeastTermsOfTwo)
      split *= 2;
  }
  std::int64_t columns_of_block() const { return kVectorWarps / split * columns; }
  std::int64_t columns, split = 1;
};

// A product that this file computes: x [m, k] and W [n, k], rows whose terms lie side by side.
struct Linear {
  const Matmul& work;
  ProductAxes axes;
  std::int64_t k = 0, n = 0, x_step = 0, w_step = 0;
  DType x_type, w_type;
};

std::optional<Linear> linear_of(const Kernel& kernel) {
  const auto& work = std::get<Matmul>(kernel.work);
  Linear linear{work,
                ProductAxes(work),
                0,
                0,
                0,
                0,
                kernel.operands[work.a.operand].dtype,
                kernel.operands[work.b.operand].dtype};
  const auto& [x, w] = std::pair(work.a.view, work.b.view);
  const auto rank = x.rank();
  if (work.accumulate != DType::kF32 || !product(linear.axes.batch).is(1)) return std::nullopt;
  const auto k = linear.axes.k.constant(), n = linear.axes.n.constant(),
             w_step = w.strides[rank - 1].constant(), w_offset = w.offset.constant();
  constexpr std::int64_t kMostTerms = 1 << 30;  // numbers of terms are ints
  if (!k || !n || *k == 0 || *k > kMostTerms || *n == 0 || !w_step || !w_offset)
    return std::nullopt;
  const bool w_by_rows = w.strides[rank - 2].is(1) || *k == 1;
  const bool x_by_rows = x.strides[rank - 1].is(1) || *k == 1;
  // One row has any step.
  const auto x_step =
      linear.axes.m.is(1) ? std::optional<std::int64_t>(*k) : x.strides[rank - 2].constant();
  if (!w_by_rows || !x_by_rows || !x_step) return std::nullopt;
  const auto lanes = static_cast<std::int64_t>(16 / size_of(linear.w_type));
  if (linear.w_type == DType::kF64 || !is_floating(linear.w_type) || !is_floating(linear.x_type) ||
      linear.x_type == DType::kF64) {
    return std::nullopt;
  }
  if (*k % lanes != 0 || *w_step % lanes != 0 || *w_offset % lanes != 0) return std::nullopt;
  linear.k = *k;
  linear.n = *n;
  linear.x_step = *x_step;
  linear.w_step = *w_step;
  return linear;
}

std::string epilogue_of(const SourceMaker& maker, const Linear& linear, int lanes = 1) {
  std::string text;
  for (std::size_t i = 0; i < linear.axes.batch.size(); ++i)
    text += fmt::format("const i64 b{0} = 0; (void)b{0};\n", i);
  return text + end_of_sum(maker, linear.work, lanes);
}

std::string place_of_x(const SourceMaker& maker, const Linear& linear) {
  return maker.names().code(linear.work.a.view.offset);
}

class LinearForm {
 public:
  LinearForm(const Kernel& kernel, const SourceOptions& options, Linear linear)
      : maker_(kernel, options), linear_(std::move(linear)) {}

  KernelSource make() && {
    const bool has_tiles =
        linear_.x_type == linear_.w_type && size_of(linear_.w_type) == 2 && linear_.x_step % 8 == 0;
    const auto vector_rows = has_tiles ? kMostVectorRows : kMostVectorRowsOfF32;
    const auto most = most_rows();
    std::vector<std::pair<std::int64_t, std::uint32_t>> vectors, tiles;  // rows, entry
    maker_.text(matvec_text());
    for (std::int64_t rows = 1; rows <= vector_rows; rows *= 2) {
      vectors.emplace_back(rows, vector_entry(rows));
      if (rows >= most) break;
    }
    // For 3 to 64 rows cuBLAS reads the weights at 3.3 TB/s of an H200's 4.5, these tiles at 1.1.
    const bool uses_library = has_tiles && maker_.options().has_library && has_library_layout();
    if (has_tiles && !uses_library && most > vector_rows) {
      maker_.text(tile_rows_text());
      for (std::int64_t rows = 8; rows <= kMostTileRows; rows *= 2) {
        tiles.emplace_back(rows, tile_entry(rows));
        if (rows >= most) break;
      }
    }
    const auto reached = tiles.empty() ? vector_rows : kMostTileRows;
    std::optional<std::uint32_t> many, ending;
    if (most > reached) {
      if (uses_library) {
        if (!is_stored_as_is()) ending = ending_entry();
      } else {
        many = block_entry();
      }
    }
    const auto m = linear_.axes.m;
    return std::move(maker_).finish(
        [=, product = library_product(), options = maker_.options(), n = linear_.n,
         x_offset = linear_.work.a.view.offset](const Bindings& symbols) {
          const auto rows = m.at(symbols);
          LaunchPlan plan;
          const auto pick = [&](const auto& entries) {
            return std::ranges::find_if(entries, [&](const auto& e) { return rows <= e.first; });
          };
          const auto blocks = [](std::int64_t count, std::int64_t each) {
            return static_cast<std::uint32_t>((count + each - 1) / each);
          };
          if (rows == 0) return plan;
          if (const auto vector = pick(vectors); vector != vectors.end()) {
            const auto each =
                VectorShape(vector->first, n, product.k, options.is_part).columns_of_block();
            plan.launches = {{vector->second, {blocks(n, each), 1, 1}, kVectorThreads}};
          } else if (const auto tile = pick(tiles); tile != tiles.end()) {
            plan.launches = {{tile->second, {blocks(n, kTileColumns), 1, 1}, kTileThreads}};
          } else if (many) {
            plan.launches = {{*many,
                              {blocks(rows, kBlockRows) * blocks(n, kBlockColumns), 1, 1},
                              kBlockThreads}};
          } else {
            plan.product = product;
            plan.product->m = rows;
            plan.product->a_offset = x_offset.at(symbols);
            if (ending) {
              plan.scratch_bytes = rows * n * 4;
              plan.launches = {
                  {*ending,
                   {blocks_for(power_above(rows * n), kEndingThreads * kEndingLanes, options), 1,
                    1},
                   kEndingThreads}};
            }
          }
          return plan;
        },
        {m});
  }

 private:
  // Rows that there can be at most, as far as that is a number.
  std::int64_t most_rows() const {
    return linear_.axes.m.constant().value_or(std::int64_t{1} << 40);
  }

  // Weights that nobody writes are asked for before the kernels behind us are done.
  std::uint32_t vector_entry(std::int64_t rows) {
    const VectorShape shape(rows, linear_.n, linear_.k, maker_.options().is_part);
    const auto entry = maker_.begin_entry(fmt::format("vector{}", rows), kVectorThreads, 1);
    maker_.text(fmt::format(
        "const i64 rows = {m};\n"
        "float sums[{rows}][{columns}];\n"
        "const i64 column0 = (blockIdx.x * {groups}ll + threadIdx.x / {together}) * {columns};\n"
        "sum_rows<{rows}, {columns}, {split}, {k}, {x_step}ll, {w_step}ll>(sums, o{x} + ({x_at}), "
        "rows, o{w} + {w_at}, column0, {n}, (constant >> {w} & 1) != 0);\n"
        "const int lane = threadIdx.x % {together};\nfloat total = 0;\n"
        "_Pragma(\"unroll\") for (int e = 0; e < {rows} * {columns}; ++e) if (lane == e) total = "
        "sums[e / {columns}][e % {columns}];\n"
        "const i64 i = lane / {columns}, j = column0 + lane % {columns};\n"
        "if (i < {rows} && i < rows && j < {n}) {{\n",
        fmt::arg("m", maker_.names().code(linear_.axes.m)), fmt::arg("rows", rows),
        fmt::arg("columns", shape.columns), fmt::arg("split", shape.split),
        fmt::arg("groups", kVectorWarps / shape.split), fmt::arg("together", 32 * shape.split),
        fmt::arg("k", linear_.k), fmt::arg("n", linear_.n), fmt::arg("x_step", linear_.x_step),
        fmt::arg("w_step", linear_.w_step), fmt::arg("x", linear_.work.a.operand),
        fmt::arg("w", linear_.work.b.operand), fmt::arg("x_at", place_of_x(maker_, linear_)),
        fmt::arg("w_at", maker_.names().code(linear_.work.b.view.offset))));
    maker_.text(epilogue_of(maker_, linear_) + "}\n");
    maker_.end_entry();
    return entry;
  }

  std::uint32_t tile_entry(std::int64_t rows) {
    const auto entry = maker_.begin_entry(fmt::format("tile{}", rows), kTileThreads);
    maker_.text(fmt::format(
        "__shared__ float sums[{warps}][16][{rows} + 1];\nconst i64 rows = {m};\n"
        "const i64 column0 = blockIdx.x * 16ll;\n"
        "sum_tiles<{rows}, {k}, {x_step}ll, {w_step}ll, {bf16}>(sums, o{x} + ({x_at}), rows, o{w} "
        "+ "
        "{w_at}, column0, {n}, (constant >> {w} & 1) != 0);\n"
        "for (int at = threadIdx.x; at < 16 * {rows}; at += {threads}) {{\n"
        "const i64 j = column0 + at % 16, i = at / 16;\nif (i >= rows || j >= {n}) continue;\n"
        "float total = 0;\n"
        "for (int w = 0; w < {warps}; ++w) total += sums[w][at % 16][at / 16];\n",
        fmt::arg("m", maker_.names().code(linear_.axes.m)), fmt::arg("rows", rows),
        fmt::arg("warps", kTileThreads / 32), fmt::arg("threads", kTileThreads),
        fmt::arg("k", linear_.k), fmt::arg("n", linear_.n), fmt::arg("x_step", linear_.x_step),
        fmt::arg("w_step", linear_.w_step), fmt::arg("x", linear_.work.a.operand),
        fmt::arg("w", linear_.work.b.operand), fmt::arg("x_at", place_of_x(maker_, linear_)),
        fmt::arg("w_at", maker_.names().code(linear_.work.b.view.offset)),
        fmt::arg("bf16", linear_.w_type == DType::kBF16)));
    maker_.text(epilogue_of(maker_, linear_) + "}\n");
    maker_.end_entry();
    return entry;
  }

  // Many rows where there is no library, or another layout or type: tiles of both factors.
  std::uint32_t block_entry() {
    maker_.text(block_text());
    const auto entry = maker_.begin_entry("block", kBlockThreads);
    maker_.text(fmt::format(
        "const i64 rows = {m}, across = ({n} + {columns} - 1) / {columns};\n"
        "const i64 row0 = blockIdx.x / across * {down}, column0 = blockIdx.x % across * "
        "{columns};\n"
        "float sums[4][4];\nwait_for_others();\n"
        "sum_block<{k}, {x_step}ll, {w_step}ll>(sums, o{x} + ({x_at}), rows, o{w} + {w_at}, row0, "
        "column0, {n});\n"
        "for (int p = 0; p < 4; ++p) for (int q = 0; q < 4; ++q) {{\n"
        "const i64 i = row0 + threadIdx.x / 16 + 16 * p, j = column0 + threadIdx.x % 16 + 16 * q;\n"
        "if (i >= rows || j >= {n}) continue;\nconst float total = sums[p][q];\n",
        fmt::arg("m", maker_.names().code(linear_.axes.m)), fmt::arg("columns", kBlockColumns),
        fmt::arg("down", kBlockRows), fmt::arg("k", linear_.k), fmt::arg("n", linear_.n),
        fmt::arg("x_step", linear_.x_step), fmt::arg("w_step", linear_.w_step),
        fmt::arg("x", linear_.work.a.operand), fmt::arg("w", linear_.work.b.operand),
        fmt::arg("x_at", place_of_x(maker_, linear_)),
        fmt::arg("w_at", maker_.names().code(linear_.work.b.view.offset))));
    maker_.text(epilogue_of(maker_, linear_) + "}\n");
    maker_.end_entry();
    return entry;
  }

  // What follows on sums that cuBLAS left in the scratch.
  std::uint32_t ending_entry() {
    const auto entry = maker_.begin_entry("ending", kEndingThreads);
    const int lanes = linear_.n % kEndingLanes == 0 ? kEndingLanes : 1;
    maker_.text(fmt::format(
        "wait_for_others();\nconst i64 all = ({m}) * {n}ll;\n"
        "for (i64 at = (blockIdx.x * (i64)blockDim.x + threadIdx.x) * {lanes}; at < all; at += "
        "(i64)gridDim.x * blockDim.x * {lanes}) {{\nconst i64 i = at / {n}, j = at % {n};\n",
        fmt::arg("m", maker_.names().code(linear_.axes.m)), fmt::arg("n", linear_.n),
        fmt::arg("lanes", lanes)));
    maker_.text(lanes == 1 ? "const float total = ((const float*)scratch)[at];\n"
                           : fmt::format("__align__(16) float total[{0}];\n"
                                         "load<{0}>(total, (const float*)scratch + at);\n",
                                         lanes));
    maker_.text(epilogue_of(maker_, linear_, lanes) + "}\n");
    maker_.end_entry();
    return entry;
  }

  bool has_library_layout() const {
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    return linear_.k < kMost && linear_.n < kMost && linear_.x_step < kMost &&
           linear_.w_step < kMost && linear_.x_step >= linear_.k && linear_.w_step >= linear_.k;
  }
  bool is_stored_as_is() const {
    const auto& out = linear_.work.out;
    return !linear_.work.epilogue && out.view.is_contiguous() && out.view.offset.is(0) &&
           maker_.kernel().operands[out.operand].dtype == DType::kF32;
  }
  LibraryProduct library_product() const {
    LibraryProduct product;
    product.a = linear_.work.a.operand;
    product.b = linear_.work.b.operand;
    product.b_offset = linear_.work.b.view.offset.constant().value_or(0);
    product.is_bf16 = linear_.w_type == DType::kBF16;
    product.turn_b = true;
    product.n = linear_.n;
    product.k = linear_.k;
    product.lda = linear_.x_step;
    product.ldb = linear_.w_step;
    if (is_stored_as_is()) product.c = linear_.work.out.operand;
    return product;
  }

  SourceMaker maker_;
  Linear linear_;
};

}  // namespace

std::optional<KernelSource> linear_source(const Kernel& kernel, const SourceOptions& options) {
  auto linear = linear_of(kernel);
  if (!linear) return std::nullopt;
  return LinearForm(kernel, options, std::move(*linear)).make();
}

}  // namespace assay::compiler::cuda
