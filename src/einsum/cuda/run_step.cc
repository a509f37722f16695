// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/cuda/run_step.h"

#include <complex>

#include "einsum/cuda/addresses.h"
#include "einsum/cuda/contract_loops.h"
#include "einsum/cuda/permute.h"

namespace assay::einsum::cuda {
namespace {

// Beyond so many products, a list of their addresses is cheaper than a launch for each.
constexpr std::int64_t kFewLaunches = 8;

// A product for each index of form.free: at once, if the library can be told where they lie.
template <typename T>
void free_products(const GemmForm& f, const T* a, const T* b, T* c, T alpha, T beta,
                   const StepPlace& place) {
  typename kernels::cuda::Cublas::Product<T> p;
  p.turn_a = f.op_a == blas::Op::kTranspose;
  p.turn_b = f.op_b == blas::Op::kTranspose;
  p.m = f.m;
  p.n = f.n;
  p.k = f.k;
  p.lda = f.lda;
  p.ldb = f.ldb;
  p.ldc = f.ldc;
  p.alpha = alpha;
  p.beta = beta;
  auto loops = f.free;
  // The longest loop is the batch.
  const auto longest = std::ranges::max_element(loops, {}, &Loop::extent);
  if (longest != loops.end()) std::iter_swap(longest, loops.end() - 1);
  const std::int64_t products = iterations(loops);
  // The library steps forwards.
  const bool steps = !loops.empty() && loops.back().a >= 0 && loops.back().b >= 0;
  const std::int64_t launches = steps ? products / loops.back().extent : products;
  if (launches <= kFewLaunches) {
    if (steps) {
      const Loop& batch = loops.back();
      p.count = static_cast<int>(batch.extent);
      p.step_a = f.swapped ? batch.b : batch.a;
      p.step_b = f.swapped ? batch.a : batch.b;
      p.step_c = batch.c;
      loops.pop_back();
    }
    Odometer at(loops);
    at.seek(0);
    for (std::int64_t i = 0; i < launches; ++i, at.next()) {
      const T* const x = a + at.a();
      const T* const y = b + at.b();
      p.a = f.swapped ? y : x;
      p.b = f.swapped ? x : y;
      p.c = c + at.c();
      place.cublas.multiply(p);
    }
    return;
  }
  const auto list = place.workspace.take<void*>(3 * static_cast<double>(products));
  const Addresses addresses{list.template data<const void*>(),
                            list.template data<const void*>() + products,
                            list.template data<void*>() + 2 * products};
  write_addresses(loops, a, b, c, sizeof(T), addresses, place.stream);
  p.count = static_cast<int>(products);
  const auto* x = reinterpret_cast<const T* const*>(addresses.a);
  const auto* y = reinterpret_cast<const T* const*>(addresses.b);
  place.cublas.multiply_at(p, f.swapped ? y : x, f.swapped ? x : y,
                           reinterpret_cast<T* const*>(addresses.c));
}

template <typename T>
void products(const GemmForm& f, const T* a, const T* b, T* c, T alpha, T beta,
              const StepPlace& place, Counters& counters) {
  const std::int64_t sums = iterations(f.summed);
  counters.gemm_calls += iterations(f.free) * sums;
  Odometer at(f.summed);
  at.seek(0);
  for (std::int64_t s = 0; s < sums; ++s, at.next()) {
    free_products<T>(f, a + at.a(), b + at.b(), c, alpha, s == 0 ? beta : T(1), place);
  }
}

}  // namespace

MemorySource device_memory() {
  return {[](std::size_t bytes) { return kernels::cuda::allocate_piece(bytes); },
          [](void* data, std::size_t) { kernels::cuda::release_piece(data); }};
}

template <typename T>
void run_step(const Lowered& step, const T* a, const T* b, T* c, T alpha, T beta,
              const StepPlace& place, Counters& counters) {
  ++counters.kernels[static_cast<std::size_t>(step.kernel)];
  counters.copied_bytes += step.copied_bytes;
  Workspace::Buffer packed_a, packed_b, product;
  if (step.packed_a > 0) {
    packed_a = place.workspace.take<T>(step.packed_a);
    permute<T>(step.pack_a, a, packed_a.template data<T>(), T(1), T(0), place.stream);
    a = packed_a.template data<T>();
  }
  if (step.packed_b > 0) {
    packed_b = place.workspace.take<T>(step.packed_b);
    permute<T>(step.pack_b, b, packed_b.template data<T>(), T(1), T(0), place.stream);
    b = packed_b.template data<T>();
  }
  T* to = c;
  const bool unpacks = step.temporary_c > 0;
  if (unpacks) {
    product = place.workspace.take<T>(step.temporary_c);
    to = product.template data<T>();
  }
  const T factor = unpacks ? T(1) : alpha, keep = unpacks ? T(0) : beta;
  switch (step.kernel) {
    case Kernel::kGemm:
    case Kernel::kBatchedGemm:
    case Kernel::kLoopedGemm:
    case Kernel::kTransposeGemm:
      products<T>(step.gemm, a, b, to, factor, keep, place, counters);
      break;
    case Kernel::kCopy:
      if (step.size.k == 1) {
        permute<T>(step.loops, a, to, factor, keep, place.stream);
        break;
      }
      [[fallthrough]];
    default:
      contract_loops<T>(step.loops, step.lanes, a, b, to, factor, keep, place.workspace,
                        place.stream);
  }
  if (unpacks) permute<T>(step.unpack_c, to, c, alpha, beta, place.stream);
}

#define ASSAY_INSTANTIATE(T)                                                                \
  template void run_step<T>(const Lowered&, const T*, const T*, T*, T, T, const StepPlace&, \
                            Counters&);
ASSAY_INSTANTIATE(float)
ASSAY_INSTANTIATE(double)
ASSAY_INSTANTIATE(std::complex<float>)
ASSAY_INSTANTIATE(std::complex<double>)
#undef ASSAY_INSTANTIATE

}  // namespace assay::einsum::cuda
