// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/cuda/addresses.h"

#include <cuda_runtime.h>

#include "einsum/cuda/launch.h"

namespace assay::einsum::cuda {
namespace {

constexpr int kThreads = 128;

struct AddressLoops {
  int loops = 0;
  std::int64_t extent[kMostLoops], a[kMostLoops], b[kMostLoops], c[kMostLoops];  // bytes
  std::int64_t count = 1;
};

__global__ void write_addresses_kernel(const AddressLoops p, const char* a, const char* b, char* c,
                                       Addresses to) {
  const std::int64_t n = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (n >= p.count) return;
  std::int64_t rest = n, at_a = 0, at_b = 0, at_c = 0;
  for (int l = p.loops - 1; l >= 0; --l) {
    const std::int64_t next = rest / p.extent[l], x = rest - next * p.extent[l];
    at_a += x * p.a[l];
    at_b += x * p.b[l];
    at_c += x * p.c[l];
    rest = next;
  }
  to.a[n] = a + at_a;
  to.b[n] = b + at_b;
  to.c[n] = c + at_c;
}

}  // namespace

void write_addresses(std::span<const Loop> loops, const void* a, const void* b, void* c,
                     std::size_t size, const Addresses& to, kernels::cuda::Stream stream) {
  AddressLoops p;
  p.loops = checked_loops(loops.size());
  const auto bytes = static_cast<std::int64_t>(size);
  for (int l = 0; l < p.loops; ++l) {
    const Loop& loop = loops[static_cast<std::size_t>(l)];
    p.extent[l] = loop.extent;
    p.a[l] = loop.a * bytes;
    p.b[l] = loop.b * bytes;
    p.c[l] = loop.c * bytes;
    p.count *= loop.extent;
  }
  const auto grid = static_cast<unsigned>((p.count + kThreads - 1) / kThreads);
  launch(write_addresses_kernel, grid, kThreads, 0, stream, p, static_cast<const char*>(a),
         static_cast<const char*>(b), static_cast<char*>(c), to);
}

}  // namespace assay::einsum::cuda
