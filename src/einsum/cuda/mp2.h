// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// mp2_energy (einsum/mp2/mp2.h) on a GPU.
//
// T of a few pairs at a time: one product of cuBLAS for an i and some j ≥ i, and behind it a kernel
// that reads each T once and leaves sums. Streams take turns, so that the sums of one product, and
// the blocks that its last wave leaves idle, run beside the next product. Memory beyond B is the T
// of those pairs: a bound, whatever the number of orbitals.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "einsum/mp2/mp2.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/libraries.h"

namespace assay::einsum::cuda {

struct DeviceMp2Options {
  // Measured on an H200 at (64, 512, 1024): 24.6 ms on one stream, 21.2 on two, 20.4 on three, 20.8
  // on four; with 64 MiB of T on each of three streams, 21.0.
  int streams = 3;
  // Of T on each stream, so that the sums find it in the cache; one pair's at least.
  std::size_t tile_bytes = std::size_t{16} << 20;
};

class DeviceMp2 {
 public:
  // For B of nocc × nvir × naux in f64. Throws DeviceError.
  DeviceMp2(std::span<const double> occupied, std::span<const double> virtuals, std::int64_t naux,
            const DeviceMp2Options& options = {});

  // energy: total, opposite spin, same spin; b and energy are the device's, b dense. The same bits
  // each time. Returns when it is enqueued behind the stream's work; what the stream does next
  // waits for it.
  void enqueue(const double* b, double* energy, kernels::cuda::Stream stream);
  std::size_t device_bytes() const { return memory_.bytes(); }
  std::string cublas_version() const { return lanes_.front()->cublas.version(); }

 private:
  struct Lane {
    kernels::cuda::OwnStream stream;
    kernels::cuda::Cublas cublas{stream.get()};
    double* t = nullptr;
  };
  // One product: i with j in [first_j, first_j + pairs).
  struct Task {
    int i, first_j, pairs;
    std::int64_t first_sum;
  };

  int nvir_, naux_;
  kernels::cuda::Memory memory_;
  double *occupied_ = nullptr, *virtuals_ = nullptr, *sums_ = nullptr;
  std::int64_t sum_count_ = 0;
  std::vector<Task> tasks_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

// The energy of tensors on the host, as einsum::mp2_energy. Throws UserError also where the
// device's memory does not hold B; DeviceError.
Mp2Energy device_mp2_energy(const TensorView& b, std::span<const double> occupied,
                            std::span<const double> virtuals, const Mp2Options& options = {});

}  // namespace assay::einsum::cuda
