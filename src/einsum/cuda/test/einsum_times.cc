// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/cuda/test/einsum_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdio>

#include "einsum/cuda/device_engine.h"
#include "einsum/cuda/mp2.h"
#include "einsum/cuda/permute.h"
#include "einsum/cuda/test/random_tensor.h"
#include "einsum/kernels/strided.h"
#include "einsum/mp2/mp2_synthetic.h"

namespace assay::einsum::cuda {
namespace {

template <typename F>
double best_seconds(kernels::cuda::Clock& clock, int calls, F&& call) {
  double best = 1e300;
  for (int round = 0; round < 5; ++round) {
    clock.begin();
    for (int i = 0; i < calls; ++i) call();
    best = std::min(best, clock.end().calls_s / calls);
  }
  return best;
}

template <typename T>
void time_permute(const char* name, const std::vector<std::int64_t>& extents,
                  const std::vector<Label>& order) {
  std::vector<Label> natural;
  for (std::size_t l = 0; l < extents.size(); ++l) natural.push_back(static_cast<Label>(l));
  const auto loops =
      fused_loops(loops_over(dense_layout(natural, extents), {}, dense_layout(order, extents)));
  const auto bytes = static_cast<std::size_t>(iterations(loops)) * sizeof(T);
  kernels::cuda::Clock clock;
  kernels::cuda::Memory memory;
  auto* const a = static_cast<T*>(memory.allocate(bytes));
  auto* const c = static_cast<T*>(memory.allocate(bytes));
  kernels::cuda::fill_bytes(a, 0x3F, bytes);
  const double turned =
      best_seconds(clock, 10, [&] { permute<T>(loops, a, c, T(1), T(0), clock.stream()); });
  const double rate = 2e-12 * static_cast<double>(bytes) / turned;
  std::puts(fmt::format("permute {:<24} {} bytes: {:.3f} ms, {:.2f} TB/s", name, sizeof(T),
                        1e3 * turned, rate)
                .c_str());
}

void time_mp2(std::int64_t nocc, std::int64_t nvir, std::int64_t naux,
              const DeviceMp2Options& options) {
  const auto s = synthetic_mp2(nocc, nvir, naux);
  kernels::cuda::Clock clock;
  kernels::cuda::Memory memory;
  auto* const b = static_cast<double*>(memory.allocate(s.b.bytes().size()));
  auto* const energy = static_cast<double*>(memory.allocate(3 * sizeof(double)));
  kernels::cuda::copy_to_device(b, s.b.bytes().data(), s.b.bytes().size());
  DeviceMp2 mp2(s.occupied, s.virtuals, naux, options);
  mp2.enqueue(b, energy, clock.stream());
  const double seconds = best_seconds(clock, 3, [&] { mp2.enqueue(b, energy, clock.stream()); });
  std::puts(fmt::format("mp2 ({},{},{}) {} streams of {} MiB: {:.3f} ms, {:.1f} TFLOP/s", nocc,
                        nvir, naux, options.streams, options.tile_bytes >> 20, 1e3 * seconds,
                        1e-12 * mp2_flop(nocc, nvir, naux) / seconds)
                .c_str());
}

void time_contraction(const std::string& expression, const std::vector<Shape>& shapes,
                      DType dtype) {
  kernels::cuda::Clock clock;
  DeviceEngine engine({.stream = clock.stream()});
  std::vector<Operand> operands;
  std::vector<DeviceTensor> there;
  for (const auto& shape : shapes) {
    there.push_back(engine.to_device(random_tensor(dtype, shape, there.size() + 1).view()));
    operands.emplace_back(there.back());
  }
  const auto plan = engine.plan(expression, operands);
  DeviceTensor out(plan->result, plan->output_shape());
  engine.run_into(*plan, there, out);
  const double seconds = best_seconds(clock, 10, [&] { engine.run_into(*plan, there, out); });
  std::string kernels;
  for (const auto& step : plan->steps) {
    kernels += fmt::format(" {} {}", step.expression, name_of(step.lowered.kernel));
  }
  std::puts(fmt::format("{} {}: {:.1f} us (predicted {:.1f}), {:.2f} TFLOP/s,{}", expression,
                        name_of(dtype), 1e6 * seconds, 1e6 * plan->predicted_s,
                        1e-12 * plan->flop / seconds, kernels)
                .c_str());
}

}  // namespace

void time_all() {
  time_permute<float>("copy 2^28", {1 << 28}, {0});
  time_permute<double>("copy 2^27", {1 << 27}, {0});
  for (const std::int64_t n : {8192, 16000}) {
    time_permute<float>("mn->nm square", {n, n}, {1, 0});
    time_permute<double>("mn->nm square", {n, n}, {1, 0});
  }
  time_permute<std::complex<double>>("mn->nm 8192", {8192, 8192}, {1, 0});
  time_permute<float>("mn->nm 16 wide", {1 << 24, 16}, {1, 0});
  time_permute<float>("mn->nm 16 high", {16, 1 << 24}, {1, 0});
  time_permute<float>("abc->bac 64", {2048, 2048, 64}, {1, 0, 2});
  time_permute<float>("abc->bac 4", {4096, 16384, 4}, {1, 0, 2});
  time_permute<float>("abcd->cdba", {100, 130, 110, 120}, {2, 3, 1, 0});
  time_permute<double>("abcdef->acebdf", {22, 22, 22, 22, 22, 22}, {0, 2, 4, 1, 3, 5});
  time_permute<double>("abcd->dcba 96", {96, 96, 96, 96}, {3, 2, 1, 0});
  for (const int streams : {1, 2, 3, 4}) {
    for (const std::size_t mib : {16u, 32u, 64u, 136u}) {
      time_mp2(64, 512, 1024, {.streams = streams, .tile_bytes = mib << 20});
    }
  }
  time_mp2(32, 256, 512, {});
  time_mp2(16, 128, 128, {});
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const Shape square({50, 50});
    time_contraction("ea,fb,abcd,gc,hd->efgh", {square, square, {50, 50, 50, 50}, square, square},
                     dtype);
    time_contraction("ea,abcd->bcde", {square, {50, 50, 50, 50}}, dtype);
    time_contraction("xyf,xtf,ytpf,fr->tpr",
                     {{35, 37, 59}, {35, 51, 59}, {37, 51, 51, 59}, {59, 27}}, dtype);
    time_contraction("ij,jk->ik", {{1024, 1024}, {1024, 1024}}, dtype);
    time_contraction("ij,jk->ki", {{4096, 4096}, {4096, 4096}}, dtype);
    time_contraction("bij,bjk->bik", {{32, 1024, 1024}, {32, 1024, 1024}}, dtype);
    time_contraction("abcd,dbea->ec", {{32, 64, 48, 24}, {24, 64, 96, 32}}, dtype);
    time_contraction("abcde,efbad->cf", {{16, 16, 48, 16, 32}, {32, 48, 16, 16, 16}}, dtype);
    time_contraction("abcd,bd->ac", {{64, 64, 64, 64}, {64, 64}}, dtype);
    time_contraction("ij,ij->ij", {{8192, 8192}, {8192, 8192}}, dtype);
    time_contraction("i,j->ij", {{8192}, {8192}}, dtype);
    time_contraction("ij,j->i", {{8192, 8192}, {8192}}, dtype);
    time_contraction("ij->i", {{8192, 8192}}, dtype);
    time_contraction("ij->j", {{8192, 8192}}, dtype);
    time_contraction("i,i->", {{1 << 26}, {1 << 26}}, dtype);
  }
}

}  // namespace assay::einsum::cuda
