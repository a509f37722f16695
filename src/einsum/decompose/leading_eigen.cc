// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/decompose/leading_eigen.h"

#include <cmath>
#include <limits>
#include <optional>

#include "base/philox.h"

namespace assay::einsum {
namespace {

constexpr std::int64_t kWider = 8;  // columns beyond those asked for
constexpr int kLooks = 3;

// x·diag(values)
template <typename T>
Matrix<T> scaled_columns(const Matrix<T>& x, const std::vector<T>& values) {
  Matrix<T> y = x;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    for (std::int64_t j = 0; j < x.columns; ++j) y(i, j) *= values[static_cast<std::size_t>(j)];
  }
  return y;
}

// An orthonormal basis of what G³ makes of a random subspace: a look at each power would take
// longer than the multiplications. From G to G³ columns come nearer to each other, by the square of
// the leading eigenvalues' ratio at most; what that costs, the multiplication of a look gives back.
template <typename T>
Matrix<T> leading_subspace(const Matrix<T>& g, std::int64_t columns) {
  const auto random = random_matrix<T>(g.rows, columns, 0, stream_key("subspace"));
  auto image = multiply(g, orthonormal(multiply(g, random)));
  const auto size = static_cast<T>(norm<T>(image.data));
  if (size > 0) {
    for (T& x : image.data) x /= size;  // squares of eigenvalues may leave the range
  }
  return orthonormal(multiply(g, image));
}

template <typename T>
std::optional<Matrix<T>> by_subspace(const Matrix<T>& g, std::int64_t count) {
  const auto n = static_cast<double>(g.rows);
  const double precise = 8 * std::sqrt(n) * static_cast<double>(std::numeric_limits<T>::epsilon());
  auto basis = leading_subspace(g, count + kWider);
  for (int i = 0; i < kLooks; ++i) {
    auto image = multiply(g, basis);
    auto ritz = falling_eigen(cross(basis, image));
    const auto turn = first_columns(ritz.vectors, count);
    ritz.values.resize(static_cast<std::size_t>(count));
    auto vectors = multiply(basis, turn);
    const auto stretched = scaled_columns(vectors, ritz.values);
    const auto rest = multiply(stretched, transposed(vectors));
    const double residual = distance<T>(multiply(image, turn).data, stretched.data);
    const double others = distance<T>(g.data, rest.data);
    const auto least = static_cast<double>(ritz.values.back());
    const bool is_precise = residual <= precise * norm<T>(ritz.values);
    if (is_precise && others + residual < least) return vectors;
    // What is left of the matrix only shrinks towards its own eigenvalues' part.
    if (is_precise || !(others <= 2 * least)) return std::nullopt;
    basis = orthonormal(image);
  }
  return std::nullopt;
}

}  // namespace

template <typename T>
LeadingEigen<T> leading_eigen(const Matrix<T>& symmetric, std::int64_t count) {
  constexpr std::int64_t kWorthIt = 3;  // times as many rows as the subspace has columns
  if (symmetric.rows >= kWorthIt * (count + kWider)) {
    if (auto vectors = by_subspace(symmetric, count)) return {*std::move(vectors), false};
  }
  return {first_columns(falling_eigen(symmetric).vectors, count), true};
}

template LeadingEigen<float> leading_eigen(const Matrix<float>&, std::int64_t);
template LeadingEigen<double> leading_eigen(const Matrix<double>&, std::int64_t);

}  // namespace assay::einsum
