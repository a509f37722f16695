// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// The way of a product through this backend: extents are checked, batches cut into launches that a
// grid can hold, and each algebra takes its route:
//
//   real, log, euclidean f32   scan rows → pack → three products on the tensor cores → refused
//   tiles
//                              once more (TF32, whose range is wider, for what it can certify)
//                              → what is left, term by term
//   real f32, few tiles        three products on the tensor cores in one launch
//   max_plus, min_plus f32     pack → integer maximum of three → refused tiles term by term
//   boolean                    bits
//   real f16, bf16             cuBLAS, where it is at hand and the range of bf16 allows
//   other f16, bf16            copies in f32, then as above
//   everything else            term by term
#include "semiring/cuda/matmul.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "semiring/cuda/boolean_product.h"
#include "semiring/cuda/compare_product.h"
#include "semiring/cuda/factors.h"
#include "semiring/cuda/library_product.h"
#include "semiring/cuda/operands.h"
#include "semiring/cuda/plain_product.h"
#include "semiring/cuda/small_product.h"
#include "semiring/cuda/split_product.h"
#include "semiring/cuda/widen.h"

namespace assay::semiring::cuda {
namespace {

template <typename T>
__global__ void fill_kernel(Result<T> c, std::int64_t batches, std::int64_t m, std::int64_t n,
                            T value) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= batches * m * n) return;
  c.data[i / n / m * c.batch_stride + i / n % m * c.row_stride + i % n * c.column_stride] = value;
}

template <typename T>
void fill(const Matmul& q, cudaStream_t stream) {
  const double inf = std::numeric_limits<double>::infinity();
  const double zero = q.algebra == Algebra::kLog || q.algebra == Algebra::kMaxPlus ? -inf
                      : q.algebra == Algebra::kMinPlus                             ? inf
                                                                                   : 0.0;
  const std::int64_t entries = q.batches * q.m * q.n;
  fill_kernel<T><<<static_cast<unsigned>(ceil_div(entries, 256)), 256, 0, stream>>>(
      result_of<T>(q), q.batches, q.m, q.n, static_cast<T>(zero));
  check(cudaGetLastError(), "fill_kernel");
}

template <typename T>
PlainProduct<T> plain_of(const Matmul& q) {
  return {q.algebra,
          static_cast<int>(q.batches),
          static_cast<int>(q.m),
          static_cast<int>(q.n),
          static_cast<int>(q.k),
          left_of<T>(q),
          right_of<T>(q),
          result_of<T>(q),
          {}};
}

double pairs_of(const Matmul& q) {
  return static_cast<double>(q.batches) * static_cast<double>(q.m) * static_cast<double>(q.k) *
         static_cast<double>(q.n);
}

Certificate certificate_of(Algebra algebra, Parts parts, std::int64_t terms) {
  const double k = static_cast<double>(terms), u = 0x1p-24;
  const double normal = std::numeric_limits<float>::min();
  Certificate c;
  if (algebra == Algebra::kLog) {
    // f16: what is lost is below 2k·2^-51, a quarter of a rounding here. TF32: as on the CPU.
    c.least = static_cast<float>(parts == Parts::kHalf ? k * 0x1p-50 * 4 / u : k * 16 * normal / u);
    c.most = static_cast<float>(2 * k);
  } else if (algebra == Algebra::kEuclidean) {
    c.share = static_cast<float>(1.01 * (product_roundings(terms) + norm_roundings(terms) + 2) /
                                 (16 * std::sqrt(k) + 24));
    c.least = static_cast<float>(k * 16 * normal);
    c.most = std::numeric_limits<float>::max() / 16;
  }
  return c;
}

struct Device {
  int multiprocessors = 0;
  bool can_split = false, can_copy_in_bulk = false;
};

Device current_device() {
  int id = 0, major = 0;
  check(cudaGetDevice(&id), "cudaGetDevice");
  Device device;
  check(cudaDeviceGetAttribute(&device.multiprocessors, cudaDevAttrMultiProcessorCount, id),
        "the device's multiprocessors");
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, id),
        "the device's capability");
  device.can_split = has_split_product(id);
  device.can_copy_in_bulk = major >= 9;
  return device;
}

void split(const Matmul& q, const Device& device, Arena& arena, unsigned long long* refused,
           cudaStream_t stream) {
  const Factor<float> a = left_of<float>(q), b = right_of<float>(q);
  const bool is_centred = q.algebra == Algebra::kEuclidean;  // a centre for each batch
  const std::int64_t a_batches = a.batch_stride == 0 && !is_centred ? 1 : q.batches;
  const std::int64_t b_batches = b.batch_stride == 0 && !is_centred ? 1 : q.batches;
  const Parts first = q.route == Route::kTf32 ? Parts::kTf32 : Parts::kHalf;
  // Two launches more: real rarely needs them, and small products take few of the plain kind.
  const bool has_second = q.route == Route::kAuto &&
                          (q.algebra == Algebra::kLog ||
                           (q.algebra == Algebra::kReal && pairs_of(q) >= 1024.0 * 1024 * 1024));
  float* centre = is_centred ? arena.take<float>(q.batches * q.k) : nullptr;
  SplitProduct product{q.algebra,
                       first,
                       static_cast<int>(q.batches),
                       static_cast<int>(q.m),
                       static_cast<int>(q.n),
                       plan_packed(arena, first, a_batches, a.rows, a.terms),
                       plan_packed(arena, first, b_batches, b.rows, b.terms),
                       result_of<float>(q),
                       certificate_of(q.algebra, first, q.k),
                       nullptr};
  const std::int64_t tiles = q.batches * product.a.blocks * product.b.blocks;
  product.flags = arena.take<int>(tiles + 1);
  SplitProduct second = product;
  if (has_second) {
    second.parts = Parts::kTf32;
    second.only_flagged = true;
    second.certificate = certificate_of(q.algebra, Parts::kTf32, q.k);
    second.a = plan_packed(arena, Parts::kTf32, a_batches, a.rows, a.terms);
    second.b = plan_packed(arena, Parts::kTf32, b_batches, b.rows, b.terms);
    second.a.scans = product.a.scans;
    second.b.scans = product.b.scans;
  }
  if (arena.counts_only()) return;
  int* any = product.flags + tiles;
  if (is_centred) find_centre(a, b, product.batches, centre, stream);
  if (can_pack_at_once(q.algebra, first, q.k)) {
    scan_and_pack(q.algebra, a, product.a, b, product.b, product.flags, tiles + 1, stream);
  } else {
    scan_rows(q.algebra, a, product.a, b, product.b, centre, product.flags, tiles + 1, stream);
    pack(q.algebra, first, a, product.a, b, product.b, centre, nullptr, stream);
  }
  product.any_refused = any;
  split_product(product, device.multiprocessors, stream);
  if (has_second) {
    pack(q.algebra, Parts::kTf32, a, second.a, b, second.b, centre, any, stream);
    second.any_refused = any;
    split_product(second, device.multiprocessors, stream);
  }
  PlainProduct<float> plain = plain_of<float>(q);
  plain.chosen = {product.flags, has_second ? 2 : 1, kBlockRows, kBlockRows, refused, true, any};
  plain_product(plain, stream);
}

// One launch's worth of batches.
void run(const Matmul& q, const Device& device, Arena& arena, unsigned long long* refused,
         cudaStream_t stream) {
  const int batches = static_cast<int>(q.batches), m = static_cast<int>(q.m),
            n = static_cast<int>(q.n), k = static_cast<int>(q.k);
  if (q.scalar == Scalar::kBool) {
    return boolean_product({batches, m, n, k, left_of<unsigned char>(q), right_of<unsigned char>(q),
                            result_of<unsigned char>(q)},
                           arena, stream);
  }
  // Below, one launch is faster than four.
  const bool is_small = pairs_of(q) < 96.0 * 96 * 96;
  if (is_half(q.scalar)) {
    if (!is_small && can_take_library(q))
      return library_product(q, device.multiprocessors, arena, refused, stream);
    return run(widened(q, arena, stream), device, arena, refused, stream);
  }
  if (q.scalar == Scalar::kF32 && q.route != Route::kPlain) {
    const bool is_comparison = q.algebra == Algebra::kMaxPlus || q.algebra == Algebra::kMinPlus;
    if (is_comparison && device.can_copy_in_bulk && (!is_small || q.route != Route::kAuto)) {
      return compare_product({q.algebra == Algebra::kMinPlus, batches, m, n, k, left_of<float>(q),
                              right_of<float>(q), result_of<float>(q)},
                             device.multiprocessors, arena, refused, stream);
    }
    if (q.algebra == Algebra::kReal && q.route == Route::kAuto && !is_small &&
        is_small_product(q.batches, q.m, q.n, q.k, device.multiprocessors)) {
      if (arena.counts_only()) return;
      return small_product(
          {batches, m, n, k, left_of<float>(q), right_of<float>(q), result_of<float>(q), refused},
          stream);
    }
    if (!is_comparison && device.can_split &&
        (q.route != Route::kAuto || (!is_small && q.k >= kLeastSplitTerms))) {
      return split(q, device, arena, refused, stream);
    }
  }
  if (arena.counts_only()) return;
  if (q.scalar == Scalar::kF32) return plain_product(plain_of<float>(q), stream);
  plain_product(plain_of<double>(q), stream);
}

// As many batches as keep the workspace near 1 GiB, and a grid can count.
std::int64_t batches_at_once(const Matmul& q) {
  const double elements = static_cast<double>(q.m + q.n + 512) * static_cast<double>(q.k + 64);
  const auto by_memory = static_cast<std::int64_t>(0x1p30 / (12 * elements));
  return std::clamp<std::int64_t>(by_memory, 1, std::min<std::int64_t>(q.batches, 32768));
}

template <class F>
void for_each_launch(const Matmul& q, const F& f) {
  const std::int64_t step = batches_at_once(q);
  const std::int64_t result = q.scalar == Scalar::kF64 ? 8 : q.scalar == Scalar::kBool ? 1 : 4;
  const std::int64_t factor = is_half(q.scalar) ? 2 : result;
  for (std::int64_t first = 0; first < q.batches; first += step) {
    Matmul part = q;
    part.batches = std::min(step, q.batches - first);
    part.a = static_cast<const char*>(q.a) + first * q.a_strides.batch * factor;
    part.b = static_cast<const char*>(q.b) + first * q.b_strides.batch * factor;
    part.c = static_cast<char*>(q.c) + first * q.c_strides.batch * result;
    f(part);
  }
}

bool is_empty(const Matmul& q) { return q.batches == 0 || q.m == 0 || q.n == 0; }

}  // namespace

std::size_t workspace_bytes(const Matmul& q) {
  if (is_empty(q) || q.k == 0) return 0;
  const Device device = current_device();
  Matmul part = q;
  part.batches = batches_at_once(q);
  Arena arena(nullptr);
  run(part, device, arena, nullptr, nullptr);
  return arena.used();
}

void matmul(const Matmul& q, void* workspace, Stream stream_handle, std::int64_t* refused) {
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  for (const std::int64_t extent : {q.m, q.k, q.n}) {
    if (extent > std::numeric_limits<int>::max() - 4096)
      throw std::invalid_argument("an extent of a matrix on the device is below 2^31 - 4096");
  }
  if (refused != nullptr)
    check(cudaMemsetAsync(refused, 0, sizeof *refused, stream), "cudaMemsetAsync");
  if (is_empty(q)) return;
  if (q.k == 0) {
    if (q.scalar == Scalar::kBool) return fill<unsigned char>(q, stream);
    if (q.scalar == Scalar::kF64) return fill<double>(q, stream);
    return fill<float>(q, stream);
  }
  const Device device = current_device();
  for_each_launch(q, [&](const Matmul& part) {
    Arena arena(workspace == nullptr ? reinterpret_cast<void*>(1024) : workspace);
    run(part, device, arena, reinterpret_cast<unsigned long long*>(refused), stream);
  });
}

}  // namespace assay::semiring::cuda
