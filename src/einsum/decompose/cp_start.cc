// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/decompose/cp_start.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "einsum/decompose/leading_eigen.h"

namespace assay::einsum {
namespace {

template <typename T>
Matrix<T> start_of_mode(CpTensor<T>& tensor, const CpOptions& o, int start, std::size_t mode) {
  const std::int64_t n = tensor.shape()[mode];
  if (o.start != nullptr && start == 0) {
    Matrix<T> given(n, o.rank);
    std::ranges::copy((*o.start)[mode].template as<T>(), given.data.begin());
    if (mode == 0) {  // the start is of the given tensor's size, the model of the normalised one's
      for (T& value : given.data) value = std::ldexp(value, -tensor.exponent());
    }
    return given;
  }
  const auto stream = static_cast<std::uint64_t>(start) * 1000 + mode;
  auto u = random_matrix<T>(n, o.rank, o.seed, stream, o.nonnegative);
  if (o.init == CpInit::kRandom || start > 0) return u;
  const auto vectors = leading_eigen(tensor.gram(mode), std::min(n, o.rank)).vectors;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t r = 0; r < std::min(n, o.rank); ++r) {
      u(i, r) = o.nonnegative ? std::abs(vectors(i, r)) : vectors(i, r);
    }
  }
  return u;
}

}  // namespace

void check_cp_start(DType of, const Shape& shape, const CpOptions& o) {
  if (o.start->size() != shape.rank()) {
    fail("cp: a start has a factor for each of {} modes, not {}", shape.rank(), o.start->size());
  }
  const DType dtype = of == DType::kF32 ? DType::kF32 : DType::kF64;
  for (std::size_t mode = 0; mode < shape.rank(); ++mode) {
    const auto& f = (*o.start)[mode];
    if (!(f.shape() == Shape({shape[mode], o.rank})) || f.dtype() != dtype) {
      fail("cp: the start of mode {} is {}x{} in {}, not {} in {}", mode, shape[mode], o.rank,
           name_of(dtype), f.shape().to_string(), name_of(f.dtype()));
    }
  }
}

template <typename T>
std::vector<Matrix<T>> cp_start(CpTensor<T>& tensor, const CpOptions& options, int start) {
  std::vector<Matrix<T>> factors;
  for (std::size_t mode = 0; mode < tensor.shape().size(); ++mode) {
    factors.push_back(start_of_mode(tensor, options, start, mode));
  }
  return factors;
}

template std::vector<Matrix<float>> cp_start(CpTensor<float>&, const CpOptions&, int);
template std::vector<Matrix<double>> cp_start(CpTensor<double>&, const CpOptions&, int);

}  // namespace assay::einsum
