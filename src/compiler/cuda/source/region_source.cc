// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "compiler/cuda/source/element_code.h"
#include "compiler/cuda/source/forms.h"

namespace assay::compiler::cuda {
namespace {

// Neighbours that a thread takes: sixteen bytes of the narrowest type, fewer where values are wide
// or many, and a number that divides the row.
int lanes_of(const Kernel& kernel, const Region& region) {
  const auto length = region.shape.back().constant();
  if (!length || *length == 0) return 1;
  int lanes = region.values.size() > 48 ? 4 : 8;
  for (const auto& value : region.values) {
    if (!value.of_row && size_of(value.dtype) == 8) lanes = std::min(lanes, 4);
  }
  std::size_t narrowest = 8;
  for (const auto& formal : kernel.operands) narrowest = std::min(narrowest, size_of(formal.dtype));
  while (lanes * narrowest > 16 || *length % lanes != 0) lanes /= 2;
  return lanes;
}

constexpr int kFlatThreads = 256;
constexpr int kWarp = 32, kWarpsOfBlock = 4, kMostThreads = 512;

class RegionForm {
 public:
  RegionForm(const Kernel& kernel, const SourceOptions& options)
      : maker_(kernel, options),
        region_(std::get<Region>(kernel.work)),
        code_(maker_.kernel(), region_, maker_.names()),
        lanes_(lanes_of(kernel, region_)) {
    for (std::size_t i = 0; i + 1 < region_.shape.size(); ++i) {
      row_shape_.push_back(region_.shape[i]);
      row_indices_.push_back(fmt::format("r{}", i));
    }
    at_ = {row_indices_, "c", lanes_};
    const bool stores_rows = std::ranges::any_of(
        region_.stores, [&](const auto& s) { return region_.values[s.value].of_row; });
    is_flat_ = code_.most_depth() == 0 && !stores_rows;
  }

  KernelSource make() && {
    if (is_flat_) return std::move(*this).flat();
    return std::move(*this).by_rows();
  }

 private:
  std::string c(const Dim& dim) const { return maker_.names().code(dim); }

  // Each thread takes neighbours, wherever they are.
  KernelSource flat() && {
    maker_.begin_entry("region", kFlatThreads);
    maker_.text(fmt::format(
        "wait_for_others();\nconst i64 length = {0}, pieces = length / {1}, all = ({2}) * pieces;\n"
        "for (i64 item = blockIdx.x * (i64)blockDim.x + threadIdx.x; item < all; item += "
        "(i64)gridDim.x * blockDim.x) {{\n",
        c(region_.shape.back()), lanes_, c(product(row_shape_))));
    auto both = row_shape_;
    both.push_back(floor_div(region_.shape.back(), lanes_));
    maker_.text(unflattened(maker_.names(), both, "item", "r"));
    maker_.text(fmt::format("const i64 c = r{} * {};\n(void)c;\n", row_shape_.size(), lanes_));
    maker_.text(code_.row_values(0, at_));
    maker_.text(code_.elements(code_.stored_elements(), at_));
    maker_.text(code_.stores(false, at_));
    maker_.text("}\n");
    maker_.end_entry();
    const auto count = product(region_.shape);
    return std::move(maker_).finish(
        [count, lanes = lanes_, options = maker_.options()](const Bindings& symbols) {
          const auto pieces = power_above(count.at(symbols) / lanes);
          // Few pieces are spread over the device.
          const std::int64_t threads = pieces >= 64 * 1024 ? kFlatThreads : 64;
          Launch launch{.grid = {blocks_for(pieces, threads, options), 1, 1},
                        .threads = static_cast<std::uint32_t>(threads)};
          return LaunchPlan{{}, {launch}, 0};
        },
        {count});
  }

  int threads_of_row() const {
    const auto length = region_.shape.back().constant();
    if (!length) return 128;
    const auto pieces = *length / lanes_;
    if (pieces <= 2 * kWarp) return kWarp;
    return static_cast<int>(
        std::clamp<std::int64_t>((pieces + kWarp - 1) / kWarp * kWarp, kWarp, kMostThreads));
  }

  // A warp or a block takes a row, and goes over it once for each reduction that follows on
  // another, and once more for what is stored: all but the first from the nearest cache.
  KernelSource by_rows() && {
    const int threads = threads_of_row();
    const int rows_of_block = threads == kWarp ? kWarpsOfBlock : 1;
    maker_.begin_entry("region", threads * rows_of_block);
    maker_.text("wait_for_others();\n");
    maker_.text(fmt::format("const i64 length = {}, rows = {};\n", c(region_.shape.back()),
                            c(product(row_shape_))));
    maker_.text(fmt::format(
        "const int mine = threadIdx.x % {0};\n"
        "for (i64 row = blockIdx.x * {1} + threadIdx.x / {0}; row < rows; row += (i64)gridDim.x * "
        "{1}) {{\n",
        threads, rows_of_block));
    maker_.text(unflattened(maker_.names(), row_shape_, "row", "r"));
    for (int depth = 0; depth <= code_.most_depth(); ++depth) {
      maker_.text(code_.row_values(depth, at_));
      const auto reductions = code_.reductions(depth);
      if (!reductions.empty()) reduce(reductions, threads);
    }
    if (!code_.stored_elements().empty()) {
      begin_columns(threads);
      maker_.text(code_.elements(code_.stored_elements(), at_));
      maker_.text(code_.stores(false, at_));
      maker_.text("}\n");
    }
    maker_.text("if (mine == 0) {\n" + code_.stores(true, at_) + "}\n}\n");
    maker_.end_entry();
    const auto rows = product(row_shape_);
    return std::move(maker_).finish(
        [rows, threads, rows_of_block, options = maker_.options()](const Bindings& symbols) {
          Launch launch{
              .grid = {blocks_for(power_above(rows.at(symbols)), rows_of_block, options), 1, 1},
              .threads = static_cast<std::uint32_t>(threads * rows_of_block)};
          return LaunchPlan{{}, {launch}, 0};
        },
        {rows});
  }

  void begin_columns(int threads) {
    maker_.text(
        fmt::format("for (i64 c = mine * {0}; c < length; c += {1} * {0}) {{\n", lanes_, threads));
  }

  void reduce(const std::vector<std::uint32_t>& reductions, int threads) {
    std::vector<std::uint32_t> operands;
    for (const auto number : reductions) {
      const auto& value = region_.values[number];
      maker_.text(fmt::format("{0} s{1} = 0; bool has{1} = false;\n", sum_type_of(value), number));
      operands.push_back(value.values[0]);
    }
    begin_columns(threads);
    maker_.text(code_.elements(operands, at_));
    for (const auto number : reductions) {
      const auto& value = region_.values[number];
      const auto operand = value.values[0];
      const bool is_array = !region_.values[operand].of_row;
      const auto x = fmt::format("({})v{}{}", sum_type_of(value), operand, is_array ? "[e]" : "");
      const auto operation = value.op == Op::kSum ? "SumOf" : "GreatestOf";
      maker_.text(fmt::format(
          "_Pragma(\"unroll\") for (int e = 0; e < {0}; ++e) {{ s{1} = has{1} ? {2}::of(s{1}, {3}) "
          ": {3}; has{1} = true; }}\n",
          lanes_, number, operation, x));
    }
    maker_.text("}\n");
    for (const auto number : reductions) {
      const auto& value = region_.values[number];
      if (value.op == Op::kMaxReduce) {
        // Threads without an element must not take part: they repeat the first element of the row.
        maker_.text(fmt::format("if (!has{} && length > 0) {{ const i64 c = 0;\n", number));
        At first = at_;
        first.lanes = 1;
        maker_.text(code_.elements({value.values[0]}, first));
        const bool is_array = !region_.values[value.values[0]].of_row;
        maker_.text(fmt::format("s{} = v{}{}; (void)c; }}\n", number, value.values[0],
                                is_array ? "[0]" : ""));
      }
      const auto all = fmt::format("together<{}, {}>(s{})", threads,
                                   value.op == Op::kSum ? "SumOf" : "GreatestOf", number);
      const auto wide = wide_type(value.dtype);
      std::string narrow = fmt::format("({})({})", wide, all);
      if (value.dtype == DType::kBF16) narrow = fmt::format("to_bf16({})", all);
      if (value.dtype == DType::kF16) narrow = fmt::format("to_f16({})", all);
      maker_.text(fmt::format("const {} v{} = {};\n", wide, number, narrow));
    }
  }
  static std::string sum_type_of(const Region::Value& value) {
    return value.op == Op::kSum ? sum_type(value.dtype) : wide_type(value.dtype);
  }

  SourceMaker maker_;
  const Region& region_;
  ElementCode code_;
  int lanes_;
  std::vector<Dim> row_shape_;
  std::vector<std::string> row_indices_;
  At at_;
  bool is_flat_ = false;
};

}  // namespace

KernelSource region_source(const Kernel& kernel, const SourceOptions& options) {
  return RegionForm(kernel, options).make();
}

}  // namespace assay::compiler::cuda
