// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matrix products over the six algebras on an NVIDIA GPU of compute capability 8.0 or newer.
// Everything is enqueued on a stream: nothing waits for the device and nothing is allocated, so a
// call can be captured in a graph. Results are bitwise equal from run to run.

#include <cstddef>
#include <cstdint>

#include "semiring/algebra_kind.h"

namespace assay::kernels::cuda {
class Cublas;
}

namespace assay::semiring::cuda {

using Stream = void*;  // a cudaStream_t

enum class Scalar : std::uint8_t {
  kF32,
  kF64,
  kBool,
  kF16,   // of A and B; C is f32, and so is all arithmetic
  kBF16,  // likewise
};

// Matrices in device memory: element (i, j) of batch l at l·batch + i·row + j·column, in elements.
// Strides are any number; a batch stride of 0 repeats one matrix.
struct Strides {
  std::int64_t row, column, batch = 0;
};

// How f32 products of real, log and euclidean are made.
enum class Route : std::uint8_t {
  kAuto,   // the fastest that the certificate of each tile allows
  kHalf,   // three f16 products of scaled factors first; refused tiles by the plain route
  kTf32,   // three TF32 products first; refused tiles by the plain route
  kPlain,  // term by term
};

struct Matmul {
  Algebra algebra;
  Scalar scalar;  // kBool for kBoolean alone
  std::int64_t batches = 1, m = 0, k = 0, n = 0;
  const void *a = nullptr, *b = nullptr;
  Strides a_strides{}, b_strides{};
  void* c = nullptr;  // overlaps neither a nor b
  Strides c_strides{};
  Route route = Route::kAuto;
  // Where it is given, real products of f16 and bf16 are its affair (library_product.h); it is in
  // use until they are done.
  const kernels::cuda::Cublas* library = nullptr;
};

// Bytes that matmul() needs at `workspace`, on a boundary of 1024 bytes. Depends on everything but
// the pointers, and on the current device.
std::size_t workspace_bytes(const Matmul& matmul);

// C_ij = ⊕_k (A_ik ⊗ B_kj). k = 0 gives the zero of ⊕. NaN, infinities and bounds of error are
// those of the CPU's engine (docs/methods/semiring.md); max_plus and min_plus are bit-equal to the
// plain loop in which +0 is larger than −0. `refused`, if not null: device memory that afterwards
// holds the number of entries in tiles whose certificate failed and that were computed again term
// by term. Throws kernels::cuda::DeviceError that names the call that failed, std::invalid_argument
// for extents above 2^31.
void matmul(const Matmul& matmul, void* workspace, Stream stream, std::int64_t* refused = nullptr);

}  // namespace assay::semiring::cuda
