// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The elimination of solver/eliminate.h for many cases at once: all of them march through the
// Legendre blocks together, every block is kept, and the whole system is refined and assessed.
// Kinds differ in the inversion of the diagonal blocks alone: kDense exchanges rows, kStructured
// searches pivots inside leaves (invert.h). The operators stay sparse in both. Δ_0 is factored
// where it is singular but for its pinned row; among functions of one parity it is inverted with
// exchanges, a quarter of the time that cuBLAS takes to factor it.

#include <span>
#include <vector>

#include "transport/cuda/vectors.h"
#include "transport/solve.h"
#include "transport/solver/eliminate.h"

namespace assay::transport::cuda {

// Device memory that one case takes.
double bytes_of_case(const BlockSystem& system);

class BatchedElimination {
 public:
  // Takes the memory for so many cases. Throws DeviceError where that is not there.
  BatchedElimination(const DeviceSystem& system, int most_cases, kernels::cuda::Stream stream,
                     const kernels::cuda::Cublas& cublas);
  // In the order of the cases, of which there are at most most_cases. `epsi_hat` must be 0 where
  // the system has no electric term.
  std::vector<EliminationResult> solve(std::span<const Case> cases, Elimination how);
  int most_cases() const { return most_; }
  std::size_t bytes() const { return memory_.bytes(); }

 private:
  Matrices block(int k, int cases) const;
  Vectors part(const Vectors& x, int k) const;
  void eliminate(const DeviceCases& cases, Elimination how);
  void descend(int k, const DeviceCases& cases);
  // x ← A⁻¹ x, x being zero above block `top`.
  void solve_by_blocks(const Vectors& x, int top, const DeviceCases& cases);
  // y ← Δ_k⁻¹ x, or added to y.
  void solve_block(int k, const Vectors& x, bool adding, const Vectors& y,
                   const DeviceCases& cases);
  // r = s − A f; sums_ has what the host judges by.
  void assess_all(const DeviceCases& cases, const Vectors& f);
  Refined refined(const Case& at, std::size_t i) const;
  void refine(std::span<const Case> cases, const DeviceCases& on_device,
              std::vector<Refined>& found, std::vector<double>& rest);
  double rest_of_s1(std::size_t i) const;

  const DeviceSystem* system_;
  int most_;
  kernels::cuda::Stream stream_;
  kernels::cuda::Memory memory_;
  const kernels::cuda::Cublas* cublas_;
  BatchedInverse inverse_;
  std::vector<double*> kept_;  // Δ_k⁻¹ of all cases, by k
  std::vector<bool> transposed_;
  double* turned_ = nullptr;
  Vectors f_, r_, better_, step_;
  double *nu_ = nullptr, *epsi_ = nullptr;
  std::int32_t *open_ = nullptr, *taken_ = nullptr;
  kernels::cuda::Cublas::Factors lu_;  // of a pinned Δ_0
  double* columns_ = nullptr;          // right sides of Δ_0
  DeviceSums* device_sums_ = nullptr;
  std::vector<DeviceSums> sums_;
};

}  // namespace assay::transport::cuda
