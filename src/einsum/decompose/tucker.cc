// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/decompose/tucker.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/attend.h"
#include "base/error.h"
#include "base/philox.h"
#include "einsum/decompose/leading_eigen.h"
#include "einsum/decompose/matrix.h"
#include "einsum/decompose/normalized.h"
#include "einsum/decompose/tucker_tensor.h"
#include "kernels/blas/lapack.h"

namespace assay::einsum {
namespace {

constexpr std::int64_t kOversampling = 8;  // columns beyond the rank in the randomised range finder

template <typename T>
class Tucker {
 public:
  using X = TuckerTensor<T>;

  Tucker(const X& x, double norm, int exponent, const TuckerOptions& options)
      : options_(options), x_(x), norm_(norm), exponent_(exponent), finder_(options.finder) {
    if (finder_ != RangeFinder::kAuto) return;
    // An eigenvalue of a Gram matrix is off by about ε‖X‖². A tail may have as many of them as the
    // mode has rows, and may be tolerance²‖X‖²/N: below that the Gram matrix cannot tell.
    const auto longest = static_cast<double>(*std::ranges::max_element(x.shape()));
    const double precise = std::sqrt(static_cast<double>(x.shape().size()) * longest *
                                     static_cast<double>(std::numeric_limits<T>::epsilon()));
    finder_ =
        options.tolerance && *options.tolerance < precise ? RangeFinder::kSvd : RangeFinder::kGram;
  }

  TuckerResult run() {
    const std::size_t n = x_.shape().size();
    std::vector<Matrix<T>> factors(n);
    std::unique_ptr<X> core;
    for (std::size_t mode = 0; mode < n; ++mode) {
      attend();
      const X& from = core ? *core : x_;
      factors[mode] = leading(from, mode);
      if (options_.method != TuckerMethod::kHosvd) {
        core = from.multiplied(mode, factors[mode], true);
      }
    }
    if (options_.method == TuckerMethod::kHosvd) core = project(factors, n);
    TuckerResult result;
    double error = relative_error(*core, factors);
    if (options_.method == TuckerMethod::kHooi) {
      while (result.sweeps < options_.max_sweeps) {
        for (std::size_t mode = 0; mode < n; ++mode) {
          attend();
          // Gₙ = X ×_{m≠n} Uₘᵀ; Uₙ ← its leading vectors, as many as before.
          const auto rest = project(factors, mode);
          const X& of = rest ? *rest : x_;  // X itself has one mode
          factors[mode] = leading_vectors(of, mode, factors[mode].columns);
          if (mode + 1 == n) core = of.multiplied(mode, factors[mode], true);
        }
        ++result.sweeps;
        const double before = error;
        error = relative_error(*core, factors);
        if (std::abs(before - error) <= options_.change) break;
      }
    }
    attend();
    result.relative_error = error;
    result.core = core->to_host().tensor();
    scale_back(result.core.as<T>(), exponent_, "tucker");
    for (const auto& f : factors) result.factors.push_back(f.tensor());
    return result;
  }

 private:
  // X multiplied by all factors but that of mode `except`; null: by none.
  std::unique_ptr<X> project(const std::vector<Matrix<T>>& factors, std::size_t except) const {
    std::unique_ptr<X> y;
    for (std::size_t mode = 0; mode < factors.size(); ++mode) {
      if (mode != except) y = (y ? *y : x_).multiplied(mode, factors[mode], true);
    }
    return y;
  }

  // ‖X − X̂‖² = ‖X‖² − ‖G‖² for orthonormal factors. Near zero that is rounding: then in full.
  double relative_error(const X& core, const std::vector<Matrix<T>>& factors) const {
    if (norm_ == 0) return 0;
    const double kept = norm<T>(core.to_host().elements()) / norm_;
    const double lost = 1 - kept * kept;
    if (lost > std::sqrt(std::numeric_limits<T>::epsilon())) return std::sqrt(lost);
    auto y = core.multiplied(0, factors[0], false);
    for (std::size_t mode = 1; mode < factors.size(); ++mode) {
      y = y->multiplied(mode, factors[mode], false);
    }
    return x_.distance(*y) / norm_;
  }

  Matrix<T> leading(const X& x, std::size_t mode) const {
    if (!options_.tolerance) return leading_vectors(x, mode, options_.ranks[mode]);
    const double may_lose = *options_.tolerance * *options_.tolerance * norm_ * norm_ /
                            static_cast<double>(x.shape().size());
    const auto [vectors, squares] = spectrum(x, mode);
    // The largest tail that stays below the bound is cut off.
    std::int64_t rank = static_cast<std::int64_t>(squares.size());
    double tail = 0;
    while (rank > 1 && tail + squares[static_cast<std::size_t>(rank - 1)] <= may_lose) {
      tail += squares[static_cast<std::size_t>(--rank)];
    }
    if (!options_.ranks.empty()) rank = std::min(rank, options_.ranks[mode]);
    return first_columns(vectors, rank);
  }

  // Left singular vectors of the unfolding and squares of its singular values.
  std::pair<Matrix<T>, std::vector<double>> spectrum(const X& x, std::size_t mode) const {
    std::vector<double> squares;
    if (finder_ == RangeFinder::kSvd) {
      // LQ first where the unfolding is wide: L has the same left vectors and is small.
      auto a = unfold(x.to_host(), mode);
      if (a.columns > a.rows) {
        auto q = transposed(a);  // tall
        a = transposed(triangle(q));
      }
      auto f = thin_svd(a);
      for (const T s : f.s) squares.push_back(static_cast<double>(s) * static_cast<double>(s));
      return {std::move(f.left), std::move(squares)};
    }
    auto e = falling_eigen(x.gram(mode));
    for (const T v : e.values) squares.push_back(std::max(0.0, static_cast<double>(v)));
    return {std::move(e.vectors), std::move(squares)};
  }

  Matrix<T> leading_vectors(const X& x, std::size_t mode, std::int64_t rank) const {
    if (finder_ == RangeFinder::kGram) return leading_eigen(x.gram(mode), rank).vectors;
    if (finder_ != RangeFinder::kRandomized) return leading_of(spectrum(x, mode).first, rank);
    auto a = unfold(x.to_host(), mode);
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
  const X& x_;
  double norm_;
  int exponent_;  // the tensor is x_·2^exponent_
  RangeFinder finder_;
};

template <typename T>
class HostTuckerTensor : public TuckerTensor<T> {
 public:
  explicit HostTuckerTensor(DenseTensor<T> x) : x_(std::move(x)) {}
  const std::vector<std::int64_t>& shape() const override { return x_.shape; }
  std::unique_ptr<TuckerTensor<T>> multiplied(std::size_t mode, const Matrix<T>& u,
                                              bool transpose_u) const override {
    return std::make_unique<HostTuckerTensor>(mode_multiply(x_, mode, u, transpose_u));
  }
  Matrix<T> gram(std::size_t mode) const override { return mode_gram(x_, mode); }
  DenseTensor<T> to_host() const override {
    DenseTensor<T> same;
    same.shape = x_.shape;
    same.borrowed = x_.elements().data();
    return same;
  }
  double distance(const TuckerTensor<T>& y) const override {
    return einsum::distance<T>(x_.elements(), y.to_host().elements());
  }

 private:
  DenseTensor<T> x_;
};

template <typename T>
TuckerResult tucker_on_processor(const TensorView& view, const TuckerOptions& options) {
  auto input = normalized<T>(view, "tucker");
  const HostTuckerTensor<T> x(std::move(input.x));
  return decompose_tucker<T>(x, input.norm, input.exponent, options);
}

}  // namespace

void check_tucker(DType dtype, const Shape& shape, const TuckerOptions& o) {
  if (is_complex(dtype))
    fail("tucker: complex tensors are not decomposed, dtype {}", name_of(dtype));
  if (shape.rank() == 0) fail("tucker: a scalar has no modes, shape {}", shape.to_string());
  if (o.ranks.empty() && !o.tolerance) fail("tucker: ranks or a tolerance are needed, got neither");
  if (o.tolerance && !(*o.tolerance >= 0))
    fail("tucker: the tolerance is at least 0, not {}", *o.tolerance);
  if (o.ranks.empty() && o.finder == RangeFinder::kRandomized) {
    fail("tucker: the randomised range finder needs ranks, not a tolerance of {}", *o.tolerance);
  }
  if (!o.ranks.empty() && o.ranks.size() != shape.rank()) {
    fail("tucker: {} ranks for a tensor of {} modes", o.ranks.size(), shape.rank());
  }
  for (std::size_t mode = 0; mode < shape.rank(); ++mode) {
    if (shape[mode] == 0) fail("tucker: mode {} is empty, shape {}", mode, shape.to_string());
    if (!o.ranks.empty() && (o.ranks[mode] < 1 || o.ranks[mode] > shape[mode])) {
      fail("tucker: the rank of mode {} is from 1 to its extent {}, not {}", mode, shape[mode],
           o.ranks[mode]);
    }
  }
}

template <typename T>
TuckerResult decompose_tucker(const TuckerTensor<T>& x, double norm, int exponent,
                              const TuckerOptions& options) {
  return Tucker<T>(x, norm, exponent, options).run();
}
template TuckerResult decompose_tucker(const TuckerTensor<float>&, double, int,
                                       const TuckerOptions&);
template TuckerResult decompose_tucker(const TuckerTensor<double>&, double, int,
                                       const TuckerOptions&);

TuckerResult tucker(const TensorView& x, const TuckerOptions& options) {
  check_tucker(x.dtype(), x.shape(), options);
  return x.dtype() == DType::kF32 ? tucker_on_processor<float>(x, options)
                                  : tucker_on_processor<double>(x, options);
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
