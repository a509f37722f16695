// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/cuda/mp2.h"

#include <algorithm>
#include <array>
#include <climits>

#include "base/error.h"
#include "base/units.h"
#include "einsum/cuda/mp2_sums.h"

namespace assay::einsum::cuda {
namespace {

double* energies_on_device(std::span<const double> energies, kernels::cuda::Memory& memory) {
  const std::size_t bytes = energies.size() * sizeof(double);
  auto* const to = static_cast<double*>(memory.allocate(bytes));
  kernels::cuda::copy_to_device(to, energies.data(), bytes);
  return to;
}

}  // namespace

DeviceMp2::DeviceMp2(std::span<const double> occupied, std::span<const double> virtuals,
                     std::int64_t naux, const DeviceMp2Options& options)
    : nvir_(static_cast<int>(virtuals.size())), naux_(static_cast<int>(naux)) {
  check(!occupied.empty() && !virtuals.empty() && naux > 0, "there are orbitals");
  const auto nvir = static_cast<std::int64_t>(virtuals.size());
  const auto nocc = static_cast<std::int64_t>(occupied.size());
  if (nvir > 1 << 20 || naux > INT_MAX) {
    fail("mp2: {} virtual orbitals and {} auxiliary functions are too many for a device", nvir,
         naux);
  }
  occupied_ = energies_on_device(occupied, memory_);
  virtuals_ = energies_on_device(virtuals, memory_);
  const std::int64_t pair_bytes = nvir * nvir * static_cast<std::int64_t>(sizeof(double));
  const std::int64_t most =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(options.tile_bytes) / pair_bytes, 1,
                               std::min<std::int64_t>(65535, INT_MAX / nvir));
  const std::int64_t each = sums_of_pair(nvir_);
  std::int64_t largest = 0;
  for (std::int64_t i = 0; i < nocc; ++i) {
    // The row's pairs in parts of about equal size: a small product fills the device badly.
    const std::int64_t row = nocc - i, parts = (row + most - 1) / most;
    for (std::int64_t part = 0, j = i; part < parts; ++part) {
      const std::int64_t pairs = (row * (part + 1)) / parts - (row * part) / parts;
      tasks_.push_back(
          {static_cast<int>(i), static_cast<int>(j), static_cast<int>(pairs), sum_count_});
      sum_count_ += pairs * each;
      j += pairs;
      largest = std::max(largest, pairs);
    }
  }
  sums_ = static_cast<double*>(
      memory_.allocate(2 * sizeof(double) * static_cast<std::size_t>(sum_count_)));
  const auto lanes =
      std::min<std::size_t>(static_cast<std::size_t>(options.streams), tasks_.size());
  for (std::size_t l = 0; l < lanes; ++l) {
    lanes_.push_back(std::make_unique<Lane>());
    lanes_.back()->t =
        static_cast<double*>(memory_.allocate(static_cast<std::size_t>(largest * pair_bytes)));
  }
}

void DeviceMp2::enqueue(const double* b, double* energy, kernels::cuda::Stream stream) {
  for (auto& lane : lanes_) lane->stream.wait_for(stream);
  const std::int64_t orbital = static_cast<std::int64_t>(nvir_) * naux_;
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    const Task& task = tasks_[t];
    Lane& lane = *lanes_[t % lanes_.size()];
    kernels::cuda::Cublas::Product<double> product;
    product.turn_b = true;
    product.m = nvir_;
    product.n = task.pairs * nvir_;
    product.k = naux_;
    product.a = b + task.i * orbital;
    product.b = b + task.first_j * orbital;
    product.c = lane.t;
    product.lda = product.ldb = naux_;
    product.ldc = product.n;
    lane.cublas.multiply(product);
    sum_pairs({lane.t, product.n, nvir_, task.pairs, task.i, task.first_j}, occupied_, virtuals_,
              sums_ + 2 * task.first_sum, lane.stream.get());
  }
  for (auto& lane : lanes_) lane->stream.release(stream);
  add_energies(sums_, sum_count_, energy, stream);
}

Mp2Energy device_mp2_energy(const TensorView& b, std::span<const double> occupied,
                            std::span<const double> virtuals, const Mp2Options& options) {
  const auto active = active_orbitals(b, occupied, virtuals, options);
  if (active.b.element_count() == 0) return {};
  const Tensor dense = Tensor::converted(active.b, DType::kF64);
  const std::size_t bytes = dense.bytes().size();
  const std::size_t room = kernels::cuda::free_bytes();
  if (bytes > room) {
    fail("mp2: B takes {}, but the device has {} left", format_bytes(static_cast<double>(bytes)),
         format_bytes(static_cast<double>(room)));
  }
  kernels::cuda::OwnStream stream;
  kernels::cuda::Memory memory;
  auto* const on_device = static_cast<double*>(memory.allocate(bytes));
  std::array<double, 3> found{};
  auto* const energy = static_cast<double*>(memory.allocate(sizeof found));
  kernels::cuda::copy_to_device(on_device, dense.bytes().data(), bytes, stream.get());
  DeviceMp2 mp2(active.occupied, active.virtuals, active.b.extent(2));
  mp2.enqueue(on_device, energy, stream.get());
  kernels::cuda::copy_to_host(found.data(), energy, sizeof found, stream.get());
  return finite_energy({found[0], found[1], found[2]}, dense.view(), options);
}

}  // namespace assay::einsum::cuda
