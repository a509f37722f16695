// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/decompose/tucker.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/philox.h"
#include "einsum/decompose/matrix.h"
#include "einsum/decompose/normalized.h"
#include "kernels/blas/lapack.h"

namespace assay::einsum {
namespace {

constexpr std::int64_t kOversampling = 8;  // columns beyond the rank in the randomised range finder

template <typename T>
class Tucker {
 public:
  Tucker(const TensorView& view, const TuckerOptions& options) : options_(options) {
    auto input = normalized<T>(view, "tucker");
    x_ = std::move(input.x);
    norm_ = input.norm;
    exponent_ = input.exponent;
    // An eigenvalue of a Gram matrix is off by about ε‖X‖². A tail may have as many of them as the
    // mode has rows, and may be tolerance²‖X‖²/N: below that the Gram matrix cannot tell.
    const auto longest = static_cast<double>(*std::ranges::max_element(x_.shape));
    const double precise = std::sqrt(static_cast<double>(x_.order()) * longest *
                                     static_cast<double>(std::numeric_limits<T>::epsilon()));
    finder_ = options.finder;
    if (finder_ == RangeFinder::kAuto) {
      finder_ = options.tolerance && *options.tolerance < precise ? RangeFinder::kSvd
                                                                  : RangeFinder::kGram;
    }
  }

  TuckerResult run() {
    const std::size_t n = x_.order();
    std::vector<Matrix<T>> factors(n);
    DenseTensor<T> core = x_;
    for (std::size_t mode = 0; mode < n; ++mode) {
      const auto& from = options_.method == TuckerMethod::kHosvd ? x_ : core;
      factors[mode] = leading(from, mode);
      if (options_.method != TuckerMethod::kHosvd) {
        core = mode_multiply(core, mode, factors[mode], true);
      }
    }
    if (options_.method == TuckerMethod::kHosvd) core = project(factors, n);
    TuckerResult result;
    double error = relative_error(core, factors);
    if (options_.method == TuckerMethod::kHooi) {
      while (result.sweeps < options_.max_sweeps) {
        for (std::size_t mode = 0; mode < n; ++mode) {
          // Gₙ = X ×_{m≠n} Uₘᵀ; Uₙ ← its leading vectors, as many as before.
          const auto rest = project(factors, mode);
          factors[mode] = leading_vectors(rest, mode, factors[mode].columns);
          if (mode + 1 == n) core = mode_multiply(rest, mode, factors[mode], true);
        }
        ++result.sweeps;
        const double before = error;
        error = relative_error(core, factors);
        if (std::abs(before - error) <= options_.change) break;
      }
    }
    result.relative_error = error;
    result.core = core.tensor();
    scale_back(result.core.as<T>(), exponent_, "tucker");
    for (const auto& f : factors) result.factors.push_back(f.tensor());
    return result;
  }

 private:
  // X multiplied by all factors but that of mode `except`.
  DenseTensor<T> project(const std::vector<Matrix<T>>& factors, std::size_t except) const {
    DenseTensor<T> y = x_;
    for (std::size_t mode = 0; mode < factors.size(); ++mode) {
      if (mode != except) y = mode_multiply(y, mode, factors[mode], true);
    }
    return y;
  }

  // ‖X − X̂‖² = ‖X‖² − ‖G‖² for orthonormal factors. Near zero that is rounding: then in full.
  double relative_error(const DenseTensor<T>& core, const std::vector<Matrix<T>>& factors) const {
    if (norm_ == 0) return 0;
    const double kept = norm<T>(core.elements()) / norm_;
    const double lost = 1 - kept * kept;
    if (lost > std::sqrt(std::numeric_limits<T>::epsilon())) return std::sqrt(lost);
    DenseTensor<T> y = core;
    for (std::size_t mode = 0; mode < factors.size(); ++mode) {
      y = mode_multiply(y, mode, factors[mode], false);
    }
    return distance<T>(x_.elements(), y.data) / norm_;
  }

  Matrix<T> leading(const DenseTensor<T>& x, std::size_t mode) const {
    if (!options_.ranks.empty()) return leading_vectors(x, mode, options_.ranks[mode]);
    const double may_lose =
        *options_.tolerance * *options_.tolerance * norm_ * norm_ / static_cast<double>(x.order());
    const auto [vectors, squares] = spectrum(x, mode);
    // The largest tail that stays below the bound is cut off.
    std::int64_t rank = static_cast<std::int64_t>(squares.size());
    double tail = 0;
    while (rank > 1 && tail + squares[static_cast<std::size_t>(rank - 1)] <= may_lose) {
      tail += squares[static_cast<std::size_t>(--rank)];
    }
    return first_columns(vectors, rank);
  }

  // Left singular vectors of the unfolding and squares of its singular values.
  std::pair<Matrix<T>, std::vector<double>> spectrum(const DenseTensor<T>& x,
                                                     std::size_t mode) const {
    std::vector<double> squares;
    if (finder_ == RangeFinder::kSvd) {
      // LQ first where the unfolding is wide: L has the same left vectors and is small.
      auto a = unfold(x, mode);
      if (a.columns > a.rows) {
        auto q = transposed(a);  // tall
        a = transposed(triangle(q));
      }
      auto f = thin_svd(a);
      for (const T s : f.s) squares.push_back(static_cast<double>(s) * static_cast<double>(s));
      return {std::move(f.left), std::move(squares)};
    }
    auto e = falling_eigen(mode_gram(x, mode));
    for (const T v : e.values) squares.push_back(std::max(0.0, static_cast<double>(v)));
    return {std::move(e.vectors), std::move(squares)};
  }

  Matrix<T> leading_vectors(const DenseTensor<T>& x, std::size_t mode, std::int64_t rank) const {
    if (finder_ != RangeFinder::kRandomized) return leading_of(spectrum(x, mode).first, rank);
    auto a = unfold(x, mode);
    const std::int64_t width = std::min(rank + kOversampling, a.rows);
    const auto omega =
        random_matrix<T>(a.columns, width, options_.seed, stream_key("omega") + mode);
    // One power iteration sharpens a slowly falling spectrum.
    auto basis = orthonormal(multiply(a, omega));
    basis = orthonormal(multiply(a, transposed(cross(basis, a))));
    auto small = cross(basis, a);  // width × columns
    auto f = thin_svd(small);
    return leading_of(multiply(basis, f.left), rank);
  }

  // The first columns. An unfolding with fewer columns than the rank has fewer vectors than were
  // asked for: any others that are orthogonal to them complete the factor, the core is 0 there.
  Matrix<T> leading_of(const Matrix<T>& vectors, std::int64_t rank) const {
    if (rank <= vectors.columns) return first_columns(vectors, rank);
    auto all = random_matrix<T>(vectors.rows, rank, options_.seed, stream_key("complete"));
    for (std::int64_t i = 0; i < vectors.rows; ++i) {
      std::copy_n(&vectors(i, 0), vectors.columns, &all(i, 0));
    }
    return orthonormal(all);
  }

  // R of the QR factorisation of a tall matrix.
  static Matrix<T> triangle(const Matrix<T>& tall) {
    auto columns = transposed(tall);
    Matrix<T> r(tall.columns, tall.columns);
    blas::orthonormalize<T>(static_cast<int>(tall.rows), static_cast<int>(tall.columns),
                            columns.data.data(), r.data.data());
    return transposed(r);  // LAPACK left it column-major
  }

  const TuckerOptions& options_;
  DenseTensor<T> x_;
  double norm_ = 0;
  int exponent_ = 0;  // the tensor is x_·2^exponent_
  RangeFinder finder_;
};

void check_input(const TensorView& x, const TuckerOptions& o) {
  if (is_complex(x.dtype()))
    fail("tucker: complex tensors are not decomposed, dtype {}", name_of(x.dtype()));
  if (x.rank() == 0) fail("tucker: a scalar has no modes, shape {}", x.shape().to_string());
  if (o.ranks.empty() && !o.tolerance) fail("tucker: ranks or a tolerance are needed, got neither");
  if (o.tolerance && !(*o.tolerance >= 0))
    fail("tucker: the tolerance is at least 0, not {}", *o.tolerance);
  if (o.ranks.empty() && o.finder == RangeFinder::kRandomized) {
    fail("tucker: the randomised range finder needs ranks, not a tolerance of {}", *o.tolerance);
  }
  if (!o.ranks.empty() && o.ranks.size() != x.rank()) {
    fail("tucker: {} ranks for a tensor of {} modes", o.ranks.size(), x.rank());
  }
  for (std::size_t mode = 0; mode < x.rank(); ++mode) {
    if (x.extent(mode) == 0)
      fail("tucker: mode {} is empty, shape {}", mode, x.shape().to_string());
    if (!o.ranks.empty() && (o.ranks[mode] < 1 || o.ranks[mode] > x.extent(mode))) {
      fail("tucker: the rank of mode {} is from 1 to its extent {}, not {}", mode, x.extent(mode),
           o.ranks[mode]);
    }
  }
}

}  // namespace

TuckerResult tucker(const TensorView& x, const TuckerOptions& options) {
  check_input(x, options);
  return x.dtype() == DType::kF32 ? Tucker<float>(x, options).run()
                                  : Tucker<double>(x, options).run();
}

Tensor tucker_reconstruct(const TuckerResult& d) {
  const auto rebuild = [&]<typename T>(std::type_identity<T>) {
    auto y = DenseTensor<T>::from(d.core.view());
    for (std::size_t mode = 0; mode < d.factors.size(); ++mode) {
      Matrix<T> u(d.factors[mode].shape()[0], d.factors[mode].shape()[1]);
      std::ranges::copy(d.factors[mode].template as<T>(), u.data.begin());
      y = mode_multiply(y, mode, u, false);
    }
    return y.tensor();
  };
  return d.core.dtype() == DType::kF32 ? rebuild(std::type_identity<float>{})
                                       : rebuild(std::type_identity<double>{});
}

}  // namespace assay::einsum
