// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "compiler/cuda/testing/trial_kernels.h"

namespace assay::compiler::cuda {
namespace {

const Dim kS = Dim::symbol("s"), kP = Dim::symbol("p");

std::uint32_t operand(Kernel& kernel, DType dtype, std::vector<Dim> shape,
                      bool is_written = false) {
  kernel.operands.push_back({dtype, std::move(shape), is_written});
  return static_cast<std::uint32_t>(kernel.operands.size() - 1);
}
Access whole(const Kernel& kernel, std::uint32_t number) {
  return {number, View::contiguous(kernel.operands[number].shape)};
}

// out + x, both in the narrow dtype, as a layer's residual is.
Region residual(const Kernel& kernel, std::uint32_t x, std::uint32_t out) {
  Region region;
  region.shape = kernel.operands[out].shape;
  const auto dtype = kernel.operands[out].dtype;
  const auto value = [](Op op, DType of, std::vector<std::uint32_t> values) {
    Region::Value v;
    v.op = op;
    v.dtype = of;
    v.values = std::move(values);
    return v;
  };
  auto read = value(Op::kInput, dtype, {});
  read.access = whole(kernel, x);
  region.values = {value(Op::kInput, DType::kF32, {}), read, value(Op::kCast, DType::kF32, {1}),
                   value(Op::kAdd, DType::kF32, {0, 2}), value(Op::kCast, dtype, {3})};
  region.stores = {{4, whole(kernel, out)}};
  return region;
}

TrialKernel linear(DType x_type, DType w_type, DType out_type, std::int64_t k, std::int64_t n,
                   bool has_epilogue, const Dim& rows, std::vector<Bindings> at) {
  TrialKernel trial;
  trial.what =
      fmt::format("{} by {} to {}, {} terms, {} columns{}", name_of(x_type), name_of(w_type),
                  name_of(out_type), k, n, has_epilogue ? ", residual" : "");
  auto& kernel = trial.kernel;
  const auto x = operand(kernel, x_type, {rows, k}), w = operand(kernel, w_type, {n, k});
  const auto more = has_epilogue ? operand(kernel, out_type, {rows, n}) : 0;
  const auto out = operand(kernel, out_type, {rows, n}, true);
  Matmul work;
  work.a = whole(kernel, x);
  work.b = {w, whole(kernel, w).view.permute({1, 0})};
  work.out = whole(kernel, out);
  if (has_epilogue) work.epilogue = residual(kernel, more, out);
  kernel.work = std::move(work);
  trial.at = std::move(at);
  trial.absolute = 2e-6 * static_cast<double>(k) + 2e-5;
  return trial;
}

}  // namespace

std::vector<TrialKernel> trial_products() {
  std::vector<TrialKernel> all;
  constexpr auto kBf16 = DType::kBF16, kF16 = DType::kF16, kF32 = DType::kF32;
  std::vector<Bindings> few, many;
  for (const int rows : {0, 1, 2, 3, 8, 9, 21, 40}) few.push_back({{"s", rows}});
  for (const int rows : {1, 63, 64, 65, 130}) many.push_back({{"s", rows}});
  all.push_back(linear(kBf16, kBf16, kF32, 1088, 35, false, kS, few));
  all.push_back(linear(kBf16, kBf16, kBf16, 256, 50, true, kS, many));
  all.push_back(linear(kF16, kF16, kF16, 264, 17, true, kS, few));
  all.push_back(linear(kF16, kF16, kF32, 64, 33, false, kS, many));
  all.push_back(linear(kF32, kF32, kF32, 516, 9, true, kS, few));
  all.push_back(linear(kF32, kF32, kF32, 36, 70, false, kS, many));
  all.push_back(linear(kF32, kBf16, kF32, 520, 11, false, kS, few));
  all.push_back(linear(kBf16, kBf16, kF32, 4096, 19, false, 1, {{}}));
  all.push_back(linear(kBf16, kBf16, kF32, 33, 19, false, kS, few));  // no sixteen bytes
  all.push_back(linear(DType::kI32, DType::kI32, DType::kI64, 33, 7, false, kS, few));
  std::get<Matmul>(all.back().kernel.work).accumulate = DType::kI32;
  all.push_back(linear(DType::kF64, DType::kF64, DType::kF64, 65, 66, false, kS, few));
  std::get<Matmul>(all.back().kernel.work).accumulate = DType::kF64;
  // [k, n], batched, one factor for all.
  for (const auto dtype : {kBf16, kF32}) {
    TrialKernel trial;
    trial.what = fmt::format("batched {}", name_of(dtype));
    auto& kernel = trial.kernel;
    const auto a = operand(kernel, dtype, {3, kS, 37}), b = operand(kernel, dtype, {37, 70});
    const auto out = operand(kernel, kF32, {3, kS, 70}, true);
    Matmul work;
    work.a = whole(kernel, a);
    work.b = {b, whole(kernel, b).view.insert(0, 3)};
    work.out = whole(kernel, out);
    kernel.work = std::move(work);
    trial.at = few;
    all.push_back(std::move(trial));
  }
  return all;
}

std::vector<TrialKernel> trial_grouped() {
  std::vector<TrialKernel> all;
  for (const auto dtype : {DType::kBF16, DType::kF16, DType::kF32}) {
    for (const bool by_rows : {true, false}) {
      TrialKernel trial;
      trial.what = fmt::format("experts in {}, {}", name_of(dtype), by_rows ? "rows" : "columns");
      auto& kernel = trial.kernel;
      const auto rows = kS * 3;
      const auto a = operand(kernel, dtype, {rows, 96});
      const auto w =
          by_rows ? operand(kernel, dtype, {5, 23, 96}) : operand(kernel, dtype, {5, 96, 23});
      const auto expert = operand(kernel, DType::kI64, {rows});
      const auto out = operand(kernel, DType::kF32, {rows, 23}, true);
      GroupedMatmul work;
      work.a = whole(kernel, a);
      work.weights = whole(kernel, w);
      if (by_rows) work.weights.view = work.weights.view.permute({0, 2, 1});
      work.expert = whole(kernel, expert);
      work.out = whole(kernel, out);
      kernel.work = std::move(work);
      trial.below = 5;
      for (const int s : {0, 1, 2, 7, 33}) trial.at.push_back({{"s", s}});
      all.push_back(std::move(trial));
    }
  }
  return all;
}

std::vector<TrialKernel> trial_attentions() {
  std::vector<TrialKernel> all;
  struct Form {
    DType dtype, out;
    std::int64_t heads, group, width, columns;
    bool causal, masked;
    std::int64_t window;
  };
  constexpr auto kBf16 = DType::kBF16, kF16 = DType::kF16, kF32 = DType::kF32, kF64 = DType::kF64;
  const Form forms[] = {
      {kBf16, kF32, 2, 4, 128, 128, true, false, 0},  {kBf16, kBf16, 2, 2, 64, 64, true, false, 40},
      {kF16, kF32, 1, 3, 32, 32, true, false, 0},     {kF32, kF32, 2, 1, 16, 16, true, false, 0},
      {kBf16, kF32, 1, 2, 256, 256, true, false, 70}, {kF32, kF32, 2, 2, 20, 12, false, true, 0},
      {kF64, kF64, 1, 2, 8, 8, true, false, 0},       {kBf16, kF32, 1, 2, 64, 64, true, true, 0}};
  for (const auto& form : forms) {
    TrialKernel trial;
    trial.what = fmt::format("attention in {}, {} of {} heads, {} wide{}{}{}", name_of(form.dtype),
                             form.group, form.heads, form.width, form.causal ? ", causal" : "",
                             form.window > 0 ? ", window" : "", form.masked ? ", mask" : "");
    auto& kernel = trial.kernel;
    constexpr std::int64_t kCapacity = 400;
    const auto q = operand(kernel, form.dtype, {form.heads * form.group, kS, form.width});
    const auto k = operand(kernel, form.dtype, {form.heads, kCapacity, form.width});
    const auto v = operand(kernel, form.dtype, {form.heads, kCapacity, form.columns});
    Attention work;
    if (form.masked) {
      const auto mask = operand(kernel, form.causal ? DType::kBool : form.dtype, {kS, kP + kS});
      work.mask =
          Access{mask, whole(kernel, mask).view.insert(0, form.group).insert(0, form.heads)};
    }
    const auto out = operand(kernel, form.out, {form.heads, form.group, kS, form.columns}, true);
    work.q = {q, whole(kernel, q).view.split(0, form.group)};
    const auto cached = [&](std::uint32_t of) {
      return Access{of, whole(kernel, of).view.slice(1, 0, kP + kS).insert(1, form.group)};
    };
    work.k = cached(k);
    work.v = cached(v);
    work.out = whole(kernel, out);
    work.scale = 0.3;
    work.causal = form.causal;
    work.offset = form.causal ? kP : Dim(0);
    if (form.window > 0) work.window = Dim(form.window);
    kernel.work = std::move(work);
    trial.relative = 1e-4;
    for (const auto& [s, p] : {std::pair{1, 0},
                               {1, 1},
                               {1, 131},
                               {1, 399},
                               {2, 63},
                               {5, 0},
                               {17, 17},
                               {65, 3},
                               {70, 300}})
      trial.at.push_back({{"s", s}, {"p", p}});
    all.push_back(std::move(trial));
  }
  return all;
}

std::vector<TrialKernel> trial_scatters() {
  std::vector<TrialKernel> all;
  for (const auto& [dtype, index, counts, in_place] :
       {std::tuple{DType::kBF16, DType::kI64, true, true},
        std::tuple{DType::kF32, DType::kI32, false, true},
        std::tuple{DType::kI64, DType::kI64, false, false},
        std::tuple{DType::kBool, DType::kI32, true, false}}) {
    TrialKernel trial;
    trial.what = fmt::format("scatter of {}{}{}", name_of(dtype), counts ? "" : ", places twice",
                             in_place ? ", in place" : "");
    auto& kernel = trial.kernel;
    const auto data = operand(kernel, dtype, {30, 41}, in_place);
    const auto at = operand(kernel, index, {kS, 17}), values = operand(kernel, dtype, {17, kS});
    const auto out = in_place ? data : operand(kernel, dtype, {30, 41}, true);
    ScatterInto work;
    work.data = whole(kernel, data);
    work.index = whole(kernel, at);
    work.values = {values, whole(kernel, values).view.permute({1, 0})};
    work.out = whole(kernel, out);
    work.in_place = in_place;
    kernel.work = std::move(work);
    trial.below = 30 * 41;
    trial.counts = counts;
    for (const int s : {0, 1, 5, 36}) trial.at.push_back({{"s", s}});
    trial.at.push_back({{"s", counts ? 1000 : 300}});  // many: each block looks at its own
    all.push_back(std::move(trial));
  }
  // Rows of a cache.
  for (const auto& [dtype, index] :
       {std::pair{DType::kBF16, DType::kI64}, std::pair{DType::kF32, DType::kI32}}) {
    TrialKernel trial;
    trial.what = fmt::format("scatter of rows of {}", name_of(dtype));
    auto& kernel = trial.kernel;
    const auto data = operand(kernel, dtype, {3, 250, 24}, true);
    const auto at = operand(kernel, index, {3, kS, 24}),
               values = operand(kernel, dtype, {kS, 3, 24});
    ScatterInto work;
    work.data = whole(kernel, data);
    work.index = whole(kernel, at);
    work.values = {values, whole(kernel, values).view.permute({1, 0, 2})};
    work.out = whole(kernel, data);
    work.in_place = true;
    kernel.work = std::move(work);
    trial.counts = true;
    trial.run = 24;
    for (const int s : {1, 2, 60, 120}) trial.at.push_back({{"s", s}});
    all.push_back(std::move(trial));
  }
  return all;
}

}  // namespace assay::compiler::cuda
