// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/source/greatest_text.h"

#include "compiler/cuda/source/device_text.h"

namespace assay::compiler::cuda {

KernelSource greatest_source() {
  KernelSource source;
  source.code = std::string(scalar_text()) + std::string(collective_text()) + R"cuda(
struct Place { i64 at; float value; };
// NaN counts as infinity, which is told.
DEVICE Place better(Place a, Place b) {
  if (a.at < 0) return b;
  if (b.at < 0) return a;
  const Place& first = a.at < b.at ? a : b;
  const Place& second = a.at < b.at ? b : a;
  return first.value < second.value ? second : first;
}
DEVICE Place of_block(Place mine) {
  __shared__ Place all[256];
  all[threadIdx.x] = mine;
  __syncthreads();
  for (int by = 128; by > 0; by /= 2) {
    if (threadIdx.x < by) all[threadIdx.x] = better(all[threadIdx.x], all[threadIdx.x + by]);
    __syncthreads();
  }
  return all[0];
}
DEVICE Place some(const float* values, i64 first, i64 last, i64 step) {
  Place mine = {-1, 0};
  for (i64 i = first; i < last; i += step) {
    const float value = values[i];
    mine = better(mine, Place{i, value != value ? f32_of(0x7f800000u) : value});
  }
  return mine;
}
extern "C" __global__ void part(const float* values, i64 count, char* answers) {
  const Place mine = of_block(some(values, blockIdx.x * (i64)blockDim.x + threadIdx.x, count,
                                   (i64)gridDim.x * blockDim.x));
  if (threadIdx.x == 0) ((Place*)(answers + 16))[blockIdx.x] = mine;
}
extern "C" __global__ void whole(const float* values, i64 count, char* answers) {
  const Place none = {-1, 0};
  const Place mine = threadIdx.x < 128 ? ((const Place*)(answers + 16))[threadIdx.x] : none;
  const Place best = of_block(mine);
  if (threadIdx.x == 0) *(i64*)answers = best.value == f32_of(0x7f800000u) ? -1 - best.at : best.at;
}
)cuda";
  source.entries = {"part", "whole"};
  return source;
}

}  // namespace assay::compiler::cuda
