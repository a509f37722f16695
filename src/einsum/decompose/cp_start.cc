// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/decompose/cp_start.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace assay::einsum {
namespace {

template <typename T>
Matrix<T> start_of_mode(const Normalized<T>& tensor, const CpOptions& o, int start,
                        std::size_t mode) {
  const std::int64_t n = tensor.x.shape[mode];
  if (o.start != nullptr && start == 0) {
    Matrix<T> given(n, o.rank);
    std::ranges::copy((*o.start)[mode].template as<T>(), given.data.begin());
    if (mode == 0) {  // the start is of the given tensor's size, the model of the normalised one's
      for (T& value : given.data) value = std::ldexp(value, -tensor.exponent);
    }
    return given;
  }
  const auto stream = static_cast<std::uint64_t>(start) * 1000 + mode;
  auto u = random_matrix<T>(n, o.rank, o.seed, stream, o.nonnegative);
  if (o.init == CpInit::kRandom || start > 0) return u;
  const auto vectors = falling_eigen(mode_gram(tensor.x, mode)).vectors;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t r = 0; r < std::min(n, o.rank); ++r) {
      u(i, r) = o.nonnegative ? std::abs(vectors(i, r)) : vectors(i, r);
    }
  }
  return u;
}

}  // namespace

void check_cp_start(const TensorView& x, const CpOptions& o) {
  if (o.start->size() != x.rank()) {
    fail("cp: a start has a factor for each of {} modes, not {}", x.rank(), o.start->size());
  }
  const DType dtype = x.dtype() == DType::kF32 ? DType::kF32 : DType::kF64;
  for (std::size_t mode = 0; mode < x.rank(); ++mode) {
    const auto& f = (*o.start)[mode];
    if (!(f.shape() == Shape({x.extent(mode), o.rank})) || f.dtype() != dtype) {
      fail("cp: the start of mode {} is {}x{} in {}, not {} in {}", mode, x.extent(mode), o.rank,
           name_of(dtype), f.shape().to_string(), name_of(f.dtype()));
    }
  }
}

template <typename T>
std::vector<Matrix<T>> cp_start(const Normalized<T>& tensor, const CpOptions& options, int start) {
  std::vector<Matrix<T>> factors;
  for (std::size_t mode = 0; mode < tensor.x.order(); ++mode) {
    factors.push_back(start_of_mode(tensor, options, start, mode));
  }
  return factors;
}

template std::vector<Matrix<float>> cp_start(const Normalized<float>&, const CpOptions&, int);
template std::vector<Matrix<double>> cp_start(const Normalized<double>&, const CpOptions&, int);

}  // namespace assay::einsum
