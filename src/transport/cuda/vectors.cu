// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <algorithm>

#include "transport/cuda/launch.h"
#include "transport/cuda/vectors.h"

namespace assay::transport::cuda {
namespace {

constexpr int kWarps = 8;

__device__ double2* at_case(const Vectors& x, int i) {
  return reinterpret_cast<double2*>(x.data) + i * x.step;
}
__device__ void add_to(double2& sum, double weight, double2 x) {
  sum.x += weight * x.x;
  sum.y += weight * x.y;
}

__device__ bool is_closed(const std::int32_t* open, int i) {
  return open != nullptr && open[i] == 0;
}

// A lane for each row, a warp for every eighth column.
__global__ void __launch_bounds__(32 * kWarps)
    multiply_rows(Matrices m, Vectors x, bool adding, Vectors y, const std::int32_t* open) {
  __shared__ double2 part[kWarps][32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int i = static_cast<int>(blockIdx.y), r = static_cast<int>(blockIdx.x) * 32 + lane;
  if (is_closed(open, i)) return;
  const double* row = m.data + i * m.step + min(r, m.n - 1);
  const double2* in = at_case(x, i);
  double2 sum = {0, 0};
#pragma unroll 8
  for (int c = warp; c < m.n; c += kWarps) {
    add_to(sum, __ldcs(row + static_cast<std::int64_t>(c) * m.ld), in[c]);
  }
  part[warp][lane] = sum;
  __syncthreads();
  if (warp != 0 || r >= m.n) return;
  for (int w = 1; w < kWarps; ++w) add_to(sum, 1, part[w][lane]);
  double2& out = at_case(y, i)[r];
  if (adding) add_to(sum, 1, out);
  out = sum;
}

// A warp for each column.
__global__ void __launch_bounds__(32 * kWarps)
    multiply_columns(Matrices m, Vectors x, bool adding, Vectors y, const std::int32_t* open) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int i = static_cast<int>(blockIdx.y), c = static_cast<int>(blockIdx.x) * kWarps + warp;
  if (c >= m.n || is_closed(open, i)) return;
  const double* column = m.data + i * m.step + static_cast<std::int64_t>(c) * m.ld;
  const double2* in = at_case(x, i);
  double2 sum = {0, 0};
#pragma unroll 8
  for (int r = lane; r < m.n; r += 32) add_to(sum, __ldcs(column + r), in[r]);
  for (int step = 16; step > 0; step /= 2) {
    sum.x += __shfl_xor_sync(0xffffffffu, sum.x, step);
    sum.y += __shfl_xor_sync(0xffffffffu, sum.y, step);
  }
  if (lane != 0) return;
  double2& out = at_case(y, i)[c];
  if (adding) add_to(sum, 1, out);
  out = sum;
}

// V x and g x of output u.
struct Streamed {
  double2 v = {0, 0}, g = {0, 0};
};
__device__ double2 along(const DeviceLines& lines, int u, const double2* x) {
  constexpr int kWeights = kTogether * kSources;  // of a group for four sources
  double2 sum = {0, 0};
  const int place = lines.place[u], bundle = lines.bundle[u], first = lines.group[bundle];
  const int groups = lines.group[bundle + 1] - first, end = lines.begin[bundle + 1];
  const double* weight = lines.weight +
                         (lines.weights[bundle] + place / kTogether - first) * kWeights +
                         place % kTogether * kSources;
  for (int tile = lines.begin[bundle]; tile < end; ++tile, weight += groups * kWeights) {
#pragma unroll
    for (int s = 0; s < kSources; ++s) add_to(sum, weight[s], x[lines.source[tile * kSources + s]]);
  }
  return sum;
}
__device__ Streamed stream_into(const DeviceTerms& terms, int u, const double2* x) {
  Streamed sum;
  sum.v = along(terms.first, u, x);
  add_to(sum.v, 1, along(terms.second, u, x));
  if (terms.g_value[u] != 0) add_to(sum.g, terms.g_value[u], x[terms.g_source[u]]);
  return sum;
}
__device__ double2 scaled_sum(const ScaledTerms& at, int u, const double2* x) {
  const Streamed s = stream_into(at.terms, u, x);
  return {at.scale * (s.v.x + at.shift * s.g.x), at.scale * (s.v.y + at.shift * s.g.y)};
}

__global__ void __launch_bounds__(128)
    add_streamed(ScaledTerms at, double factor, Vectors x, Vectors base, bool pinned, Vectors y,
                 const std::int32_t* open) {
  const int u = static_cast<int>(blockIdx.x) * 128 + static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.y);
  if (u >= at.terms.outputs || is_closed(open, i)) return;
  double2 sum = {0, 0};
  if (base.data != nullptr) sum = at_case(base, i)[u];
  if (x.data != nullptr && !(pinned && u == 0))
    add_to(sum, factor, scaled_sum(at, u, at_case(x, i)));
  at_case(y, i)[u] = sum;
}

__global__ void __launch_bounds__(256) put_sources(const double2* sources, std::int64_t given,
                                                   bool pinned, Vectors x, std::int64_t unknowns) {
  const std::int64_t u = static_cast<std::int64_t>(blockIdx.x) * 256 + threadIdx.x;
  if (u >= unknowns) return;
  const bool there = u < given && !(pinned && u == 0);
  at_case(x, static_cast<int>(blockIdx.y))[u] = there ? sources[u] : double2{0, 0};
}

__global__ void __launch_bounds__(256)
    add_all(Vectors x, Vectors y, Vectors z, std::int64_t unknowns, const std::int32_t* open) {
  const std::int64_t u = static_cast<std::int64_t>(blockIdx.x) * 256 + threadIdx.x;
  const int i = static_cast<int>(blockIdx.y);
  if (u >= unknowns || is_closed(open, i)) return;
  const double2 a = at_case(x, i)[u], b = at_case(y, i)[u];
  at_case(z, i)[u] = {a.x + b.x, a.y + b.y};
}

__global__ void __launch_bounds__(256)
    copy_flagged(const std::int32_t* flags, Vectors from, Vectors to, std::int64_t unknowns) {
  const std::int64_t u = static_cast<std::int64_t>(blockIdx.x) * 256 + threadIdx.x;
  const int i = static_cast<int>(blockIdx.y);
  if (u < unknowns && flags[i] != 0) at_case(to, i)[u] = at_case(from, i)[u];
}

// Two columns of n behind each other, and back.
__global__ void __launch_bounds__(256)
    move_columns(Vectors side_by_side, double* columns, int n, bool to_columns) {
  const int u = static_cast<int>(blockIdx.x) * 256 + static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.y);
  if (u >= n) return;
  double* const at = columns + static_cast<std::int64_t>(i) * 2 * n + u;
  double2& pair = at_case(side_by_side, i)[u];
  if (to_columns) {
    at[0] = pair.x;
    at[n] = pair.y;
  } else {
    pair = {at[0], at[n]};
  }
}

// What differs between blocks of even and odd k.
struct RowsOfParity {
  DeviceTerms lower, upper;
  const double* weight;
  int size;
};
struct System {
  RowsOfParity of[2];
  DeviceTerms electric;
  const double2 *sources, *functionals;
  const std::int32_t* mirror;
  int n_xi, upper_shift;
  bool pinned;
};

// One block of threads for each Legendre block of a case.
__global__ void __launch_bounds__(256)
    assess_block(System system, DeviceCases cases, Vectors all_f, Vectors all_r, DeviceSums* sums) {
  constexpr int kSums = sizeof(DeviceSums) / sizeof(double);
  __shared__ double part[kWarps][kSums];
  const int k = static_cast<int>(blockIdx.x), i = static_cast<int>(blockIdx.y);
  if (is_closed(cases.open, i)) return;
  const auto& own = system.of[k % 2];
  const std::int64_t pair = system.of[0].size + system.of[1].size;
  const std::int64_t begin = k / 2 * pair + (k % 2 == 1 ? system.of[0].size : 0);
  const double2* f = at_case(all_f, i) + begin;
  const double2* below = f - system.of[1 - k % 2].size;
  const double2* above = f + own.size;
  double2* r = at_case(all_r, i) + begin;
  const double epsi = cases.epsi_hat[i], collisions = 0.5 * cases.nu_hat[i] * k * (k + 1);
  const bool mirrored = epsi != 0 && system.mirror != nullptr;
  const double sign = !mirrored && k % 2 == 1 ? -1 : 1;
  const ScaledTerms lower = {own.lower, k / (2.0 * k - 1), k - 1.0};
  const ScaledTerms upper = {own.upper, (k + 1) / (2.0 * k + 3),
                             -static_cast<double>(k + system.upper_shift)};
  double sum[kSums] = {};
  for (int u = static_cast<int>(threadIdx.x); u < own.size; u += 256) {
    const double2 here = f[u];
    double2 low = {0, 0}, up = {0, 0}, source = {0, 0};
    double2 middle = {collisions * here.x, collisions * here.y};
    if (k > 0) low = scaled_sum(lower, u, below);
    if (k < system.n_xi) up = scaled_sum(upper, u, above);
    if (epsi != 0) add_to(middle, epsi, stream_into(system.electric, u, f).v);
    if (k < 3) source = system.sources[begin + u];
    double2 rest = {source.x - (middle.x + low.x + up.x), source.y - (middle.y + low.y + up.y)};
    if (k == 0 && u == 0 && system.pinned) rest = {-here.x, -here.y};
    r[u] = rest;
    const double2 terms = {fabs(source.x) + fabs(middle.x) + fabs(low.x) + fabs(up.x),
                           fabs(source.y) + fabs(middle.y) + fabs(low.y) + fabs(up.y)};
    const double2 from = mirrored ? f[system.mirror[u]] : here;
    const double factor = sign * 2 / (2.0 * k + 1) * own.weight[u];
    const double2 adjoint = {factor * from.x, factor * from.y};
    double2 functional = {0, 0};
    if (k < 3) functional = system.functionals[begin + u];
    const double now[kSums] = {here.x * here.x,
                               here.y * here.y,
                               rest.x * rest.x,
                               rest.y * rest.y,
                               terms.x * terms.x,
                               terms.y * terms.y,
                               adjoint.x * adjoint.x,
                               adjoint.y * adjoint.y,
                               own.weight[u] * here.x * here.x,
                               own.weight[u] * here.y * here.y,
                               adjoint.x * rest.x,
                               adjoint.x * rest.y,
                               adjoint.y * rest.x,
                               adjoint.y * rest.y,
                               functional.x * here.x,
                               functional.x * here.y,
                               functional.y * here.x,
                               functional.y * here.y};
#pragma unroll
    for (int s = 0; s < kSums; ++s) sum[s] += now[s];
  }
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int s = 0; s < kSums; ++s) {
    for (int step = 16; step > 0; step /= 2) sum[s] += __shfl_xor_sync(0xffffffffu, sum[s], step);
    if (lane == 0) part[warp][s] = sum[s];
  }
  __syncthreads();
  if (threadIdx.x < kSums) {
    double all = 0;
    for (int w = 0; w < kWarps; ++w) all += part[w][threadIdx.x];
    reinterpret_cast<double*>(sums + k +
                              static_cast<std::int64_t>(i) * (system.n_xi + 1))[threadIdx.x] = all;
  }
}

dim3 over(std::int64_t unknowns, int each, int cases) {
  return {blocks(unknowns, each), blocks(cases, 1)};
}

}  // namespace

static_assert(sizeof(DeviceSums) == 18 * sizeof(double));

void multiply(const Matrices& m, bool transposed, const Vectors& x, bool adding, const Vectors& y,
              const std::int32_t* open, kernels::cuda::Stream stream) {
  if (m.n == 0 || m.count == 0) return;
  launch(transposed ? multiply_columns : multiply_rows,
         over(m.n, transposed ? kWarps : 32, m.count), 32 * kWarps, 0, stream, m, x, adding, y,
         open);
}

void add_terms(const ScaledTerms& terms, double factor, const Vectors& x, const Vectors& base,
               bool pinned, const Vectors& y, const DeviceCases& cases,
               kernels::cuda::Stream stream) {
  if (terms.terms.outputs == 0) return;
  launch(add_streamed, over(terms.terms.outputs, 128, cases.count), 128, 0, stream, terms, factor,
         x, base, pinned, y, cases.open);
}

void to_columns(const Vectors& x, int n, double* columns, int cases, kernels::cuda::Stream stream) {
  launch(move_columns, over(n, 256, cases), 256, 0, stream, x, columns, n, true);
}
void from_columns(const double* columns, int n, const Vectors& x, int cases,
                  kernels::cuda::Stream stream) {
  launch(move_columns, over(n, 256, cases), 256, 0, stream, x, const_cast<double*>(columns), n,
         false);
}

void fill_sources(const DeviceSystem& system, const Vectors& x, int cases,
                  kernels::cuda::Stream stream) {
  launch(put_sources, over(system.unknowns(), 256, cases), 256, 0, stream,
         reinterpret_cast<const double2*>(system.sources()), system.offset(3), system.host().pinned,
         x, system.unknowns());
}

void add(const Vectors& x, const Vectors& y, const Vectors& z, std::int64_t unknowns,
         const DeviceCases& cases, kernels::cuda::Stream stream) {
  launch(add_all, over(unknowns, 256, cases.count), 256, 0, stream, x, y, z, unknowns, cases.open);
}

void copy_where(const std::int32_t* flags, const Vectors& from, const Vectors& to,
                std::int64_t unknowns, int cases, kernels::cuda::Stream stream) {
  launch(copy_flagged, over(unknowns, 256, cases), 256, 0, stream, flags, from, to, unknowns);
}

void assess(const DeviceSystem& device, const DeviceCases& cases, const Vectors& f,
            const Vectors& r, DeviceSums* sums, kernels::cuda::Stream stream) {
  const auto& host = device.host();
  System system{};
  for (int parity = 0; parity < 2; ++parity) {
    // The operators into a block depend on its parity alone.
    system.of[parity] = {device.lower_by_row(parity + 2).terms, device.upper_by_row(parity).terms,
                         device.weight(parity), host.size[static_cast<std::size_t>(parity)]};
  }
  system.electric = device.electric();
  system.sources = reinterpret_cast<const double2*>(device.sources());
  system.functionals = reinterpret_cast<const double2*>(device.functionals());
  system.mirror = device.mirror();
  system.n_xi = host.n_xi;
  system.upper_shift = host.upper_shift;
  system.pinned = host.pinned;
  launch(assess_block, over(host.n_xi + 1, 1, cases.count), 256, 0, stream, system, cases, f, r,
         sums);
}

}  // namespace assay::transport::cuda
