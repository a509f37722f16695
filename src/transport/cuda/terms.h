// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A block system on the device: its sparse operators in the form that the kernels read, and what
// else does not depend on the case. No CUDA type stands here.

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/cuda/device.h"
#include "transport/system/operators.h"

namespace assay::transport::cuda {

// Outputs that lie on one line share their sources, and are summed up together by the tensor cores:
// so many outputs, and so many sources at a time.
inline constexpr int kTogether = 8, kSources = 4;

// Groups of a line that are summed up together: as many as a line of 25 has.
inline constexpr int kBundled = 4;

// The lines of one angle, in bundles of up to four groups of outputs of one line. Bundle b has the
// groups group[b] … group[b + 1] and the sources source[4·begin[b]] … source[4·begin[b + 1]],
// filled up with such of weight 0. Group c has the outputs output[8·c …] (−1: none). Four sources
// and eight outputs have 32 weights, sources fastest; those of a bundle's groups for the same
// sources stand one behind the other, the first at weight[32·weights[b]].
struct DeviceLines {
  int bundles = 0;
  const std::int32_t *group = nullptr, *begin = nullptr, *weights = nullptr;
  const std::int32_t *output = nullptr, *source = nullptr;
  const double* weight = nullptr;
  const std::int32_t *bundle = nullptr, *place = nullptr;  // of each output: b; 8·c + its number
};

// Most unknowns of a block that the kernels have room for.
inline constexpr int kMostUnknowns = 1700;

// V and g of Streaming::Terms: each output lies on one line of each angle, and has at most one
// entry of g (value 0: none).
struct DeviceTerms {
  int inputs = 0, outputs = 0;
  DeviceLines first, second;
  const std::int32_t* g_source = nullptr;
  const double* g_value = nullptr;
};

// scale·(V + shift·g).
struct ScaledTerms {
  DeviceTerms terms;
  double scale = 0, shift = 0;
};

// D_k of a case: ν̂k(k+1)/2 on the diagonal and Ê times these entries, which hold the diagonal.
struct DiagonalEntries {
  int count = 0;
  const std::int32_t *row = nullptr, *column = nullptr;
  const double* value = nullptr;
};

class DeviceSystem {
 public:
  // `system` must outlive this.
  explicit DeviceSystem(const BlockSystem& system);

  const BlockSystem& host() const { return *system_; }
  ScaledTerms lower_by_row(int k) const { return scaled(system_->lower_at(k), rows_); }
  ScaledTerms lower_by_column(int k) const { return scaled(system_->lower_at(k), columns_); }
  ScaledTerms upper_by_row(int k) const { return scaled(system_->upper_at(k), rows_); }
  DiagonalEntries diagonal(int k) const { return diagonal_[static_cast<std::size_t>(k % 2)]; }
  const DeviceTerms& electric() const { return electric_; }  // no outputs: there is none

  // The unknowns of all blocks of a case one behind the other: where block k begins.
  std::int64_t offset(int k) const;
  std::int64_t unknowns() const { return offset(system_->n_xi + 1); }

  // Of blocks 0, 1, 2, as above: (s1, s3) and (c1, c3) of each unknown.
  const double* sources() const { return sources_; }
  const double* functionals() const { return functionals_; }
  const double* weight(int parity) const { return weight_[static_cast<std::size_t>(parity)]; }
  const std::int32_t* mirror() const { return mirror_; }  // null: none
  std::size_t bytes() const { return memory_.bytes(); }

 private:
  struct Made {
    const Streaming* operators = nullptr;
    DeviceTerms terms;
  };
  ScaledTerms scaled(const BlockSystem::Scaled& at, const std::vector<Made>& made) const;
  DeviceTerms put(const Streaming::Terms& terms);
  DeviceLines put_lines(const Combination<double>& v, bool first);
  template <typename T>
  const T* put(const std::vector<T>& values);

  const BlockSystem* system_;
  kernels::cuda::Memory memory_;
  std::vector<Made> rows_, columns_;
  std::array<DiagonalEntries, 2> diagonal_;
  DeviceTerms electric_;
  const double *sources_ = nullptr, *functionals_ = nullptr;
  std::array<const double*, 2> weight_ = {};
  const std::int32_t* mirror_ = nullptr;
};

}  // namespace assay::transport::cuda
