// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/grad.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/math/exp_log.h"

namespace assay::semiring {
namespace {

// One batch: contiguous row-major matrices of T, the gradients added to what is there.
template <typename T>
struct Batch {
  std::int64_t m, k, n;
  Tensor a, b, c, dc;  // (m,k), (k,n), (m,n), (m,n)
  Tensor da, db;       // (m,k), (k,n), zero at first

  T at(const Tensor& t, std::int64_t i, std::int64_t j) const {
    return t.as<T>()[static_cast<std::size_t>(i * t.shape()[1] + j)];
  }
};

template <typename T>
T* row(Tensor& t, std::int64_t i) {
  return t.as<T>().data() + i * t.shape()[1];
}
template <typename T>
const T* row(const Tensor& t, std::int64_t i) {
  return t.as<T>().data() + i * t.shape()[1];
}

// dA = G·rightᵀ, dB = leftᵀ·G.
void real_products(const TensorView& g, const TensorView& left, const TensorView& right, Tensor& da,
                   Tensor& db, const MatmulOptions& options) {
  matmul(Algebra::kReal, g, right.transpose(), da.mutable_view(), options);
  matmul(Algebra::kReal, left.transpose(), g, db.mutable_view(), options);
}

// The largest element of each row of a, 0 where it is not finite.
template <typename T>
std::vector<T> row_shifts(const Tensor& a) {
  std::vector<T> shifts(static_cast<std::size_t>(a.shape()[0]));
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    T largest = -std::numeric_limits<T>::infinity();
    const T* elements = row<T>(a, static_cast<std::int64_t>(i));
    for (std::int64_t l = 0; l < a.shape()[1]; ++l) largest = max_or_nan(largest, elements[l]);
    shifts[i] = std::isfinite(largest) ? largest : T{0};
  }
  return shifts;
}

// log: with E = exp(A − a_i), F = exp(B − b_j) and G_ij = dC_ij·exp(a_i + b_j − C_ij),
//   dA = E ∘ (G·Fᵀ),  dB = F ∘ (Eᵀ·G).
// An entry for which exp(a_i + b_j − C_ij) is large (its weights are made of factors that may have
// vanished), or anything is not finite, is left out of G and added term by term.
template <typename T>
void log_gradients(Batch<T>& x, const MatmulOptions& options) {
  const std::vector<T> left = row_shifts<T>(x.a);
  const std::vector<T> right = row_shifts<T>(Tensor::copy(x.b.view().transpose()));
  Tensor e(x.a.dtype(), x.a.shape()), f(x.b.dtype(), x.b.shape()), g(x.c.dtype(), x.c.shape());
  const auto shifted = [](const Tensor& from, Tensor& to, auto shift) {
    for (std::int64_t i = 0; i < from.shape()[0]; ++i) {
      for (std::int64_t j = 0; j < from.shape()[1]; ++j) {
        // Infinities and NaN take the way of single terms.
        const T value = row<T>(from, i)[j] - shift(i, j);
        row<T>(to, i)[j] = value <= 0 ? value : -std::numeric_limits<T>::infinity();
      }
    }
    kernels::exp(std::span<const T>(to.as<T>()), to.as<T>());
  };
  const auto at = [](const std::vector<T>& v, std::int64_t i) {
    return v[static_cast<std::size_t>(i)];
  };
  shifted(x.a, e, [&](std::int64_t i, std::int64_t) { return at(left, i); });
  shifted(x.b, f, [&](std::int64_t, std::int64_t j) { return at(right, j); });

  const T most = std::is_same_v<T, float> ? T{60} : T{600};
  std::vector<std::pair<std::int64_t, std::int64_t>> single;
  for (std::int64_t i = 0; i < x.m; ++i) {
    for (std::int64_t j = 0; j < x.n; ++j) {
      const T c = x.at(x.c, i, j), exponent = at(left, i) + at(right, j) - c;
      const bool certified = std::isfinite(c) && exponent <= most;
      row<T>(g, i)[j] = certified ? exponent : T{0};
      if (!certified && c != -std::numeric_limits<T>::infinity()) single.emplace_back(i, j);
    }
  }
  kernels::exp(std::span<const T>(g.as<T>()), g.as<T>());
  for (std::int64_t i = 0; i < x.m; ++i) {
    for (std::int64_t j = 0; j < x.n; ++j) {
      const T c = x.at(x.c, i, j), exponent = at(left, i) + at(right, j) - c;
      T& factor = row<T>(g, i)[j];
      factor = std::isfinite(c) && exponent <= most ? factor * x.at(x.dc, i, j) : T{0};
    }
  }
  real_products(g.view(), e.view(), f.view(), x.da, x.db, options);
  const auto scale = [](Tensor& by, Tensor& gradient) {
    for (std::size_t i = 0; i < by.as<T>().size(); ++i) gradient.as<T>()[i] *= by.as<T>()[i];
  };
  scale(e, x.da);
  scale(f, x.db);
  for (const auto& [i, j] : single) {
    for (std::int64_t l = 0; l < x.k; ++l) {
      const T weight = std::exp(x.at(x.a, i, l) + x.at(x.b, l, j) - x.at(x.c, i, j));
      const T share = x.at(x.dc, i, j) * weight;
      row<T>(x.da, i)[l] += share;
      row<T>(x.db, l)[j] += share;
    }
  }
}

template <typename T>
void max_plus_gradients(Batch<T>& x) {
  std::vector<std::int64_t> first(static_cast<std::size_t>(x.n));
  for (std::int64_t i = 0; i < x.m; ++i) {
    std::fill(first.begin(), first.end(), -1);
    const T* c = row<T>(x.c, i);
    for (std::int64_t l = 0; l < x.k; ++l) {
      const T left = x.at(x.a, i, l);
      const T* b = row<T>(x.b, l);
      for (std::int64_t j = 0; j < x.n; ++j) {
        const T term = left + b[j];
        const bool is_it = term == c[j] || (term != term && c[j] != c[j]);
        std::int64_t& found = first[static_cast<std::size_t>(j)];
        if (is_it && found < 0) found = l;
      }
    }
    for (std::int64_t j = 0; j < x.n; ++j) {
      const std::int64_t l = first[static_cast<std::size_t>(j)];
      if (l < 0) continue;  // c is not the product; nothing attains it
      row<T>(x.da, i)[l] += x.at(x.dc, i, j);
      row<T>(x.db, l)[j] += x.at(x.dc, i, j);
    }
  }
}

// euclidean: with H_ij = dC_ij / C_ij and h the sums of its rows and columns,
//   dA = h_i·x − H·yᵀ,  dB = h_j·y − xᵀ·H   for x, y = A, B less a common centre.
// Differences of large numbers are avoided: where C_ij is small beside x_i and y_j, or anything is
// not finite, the entry is left out of H and added term by term.
template <typename T>
void euclidean_gradients(Batch<T>& x, const MatmulOptions& options) {
  Tensor left = Tensor::copy(x.a.view()), right = Tensor::copy(x.b.view());
  for (std::int64_t l = 0; l < x.k; ++l) {
    T centre = 0;
    for (std::int64_t i = 0; i < x.m; ++i) centre += row<T>(left, i)[l];
    for (std::int64_t j = 0; j < x.n; ++j) centre += row<T>(right, l)[j];
    centre /= static_cast<T>(x.m + x.n);
    if (!std::isfinite(centre)) centre = 0;
    for (std::int64_t i = 0; i < x.m; ++i) row<T>(left, i)[l] -= centre;
    for (std::int64_t j = 0; j < x.n; ++j) row<T>(right, l)[j] -= centre;
  }
  std::vector<T> left_norms(static_cast<std::size_t>(x.m)), left_sums(left_norms.size());
  std::vector<T> right_norms(static_cast<std::size_t>(x.n)), right_sums(right_norms.size());
  for (std::int64_t i = 0; i < x.m; ++i) {
    for (std::int64_t l = 0; l < x.k; ++l) {
      left_norms[static_cast<std::size_t>(i)] += row<T>(left, i)[l] * row<T>(left, i)[l];
    }
  }
  for (std::int64_t l = 0; l < x.k; ++l) {
    for (std::int64_t j = 0; j < x.n; ++j) {
      right_norms[static_cast<std::size_t>(j)] += row<T>(right, l)[j] * row<T>(right, l)[j];
    }
  }
  // Below this, squares vanish and a comparison of their sums says nothing.
  const T least = 16 * static_cast<T>(x.k) * std::numeric_limits<T>::min();
  Tensor h(x.c.dtype(), x.c.shape());
  std::vector<std::pair<std::int64_t, std::int64_t>> single;
  for (std::int64_t i = 0; i < x.m; ++i) {
    for (std::int64_t j = 0; j < x.n; ++j) {
      const T c = x.at(x.c, i, j);
      if (c == 0) continue;
      const auto p = static_cast<std::size_t>(i), q = static_cast<std::size_t>(j);
      const T norms = left_norms[p] + right_norms[q];
      const bool certified =
          c * c >= norms / 4 && norms >= least && norms <= std::numeric_limits<T>::max() / 16;
      if (!certified) {
        single.emplace_back(i, j);
        continue;
      }
      const T share = x.at(x.dc, i, j) / c;
      row<T>(h, i)[j] = share;
      left_sums[p] += share;
      right_sums[q] += share;
    }
  }
  real_products(h.view(), left.view(), right.view(), x.da, x.db, options);
  for (std::int64_t i = 0; i < x.m; ++i) {
    for (std::int64_t l = 0; l < x.k; ++l) {
      T& gradient = row<T>(x.da, i)[l];
      gradient = left_sums[static_cast<std::size_t>(i)] * row<T>(left, i)[l] - gradient;
    }
  }
  for (std::int64_t l = 0; l < x.k; ++l) {
    for (std::int64_t j = 0; j < x.n; ++j) {
      T& gradient = row<T>(x.db, l)[j];
      gradient = right_sums[static_cast<std::size_t>(j)] * row<T>(right, l)[j] - gradient;
    }
  }
  for (const auto& [i, j] : single) {
    for (std::int64_t l = 0; l < x.k; ++l) {
      // The quotient first: it is at most 1, whatever the numbers are.
      const T share = (x.at(x.a, i, l) - x.at(x.b, l, j)) / x.at(x.c, i, j) * x.at(x.dc, i, j);
      row<T>(x.da, i)[l] += share;
      row<T>(x.db, l)[j] -= share;
    }
  }
}

template <typename T>
void gradients_of(Algebra algebra, Batch<T>& x, const MatmulOptions& options) {
  switch (algebra) {
    case Algebra::kReal:
      return real_products(x.dc.view(), x.a.view(), x.b.view(), x.da, x.db, options);
    case Algebra::kLog:
      return log_gradients(x, options);
    case Algebra::kMaxPlus:
      return max_plus_gradients(x);
    case Algebra::kEuclidean:
      return euclidean_gradients(x, options);
    case Algebra::kMinPlus:
    case Algebra::kBoolean:
      break;
  }
  throw InternalError("the algebra was checked");
}

// Adds a batch's gradient to the part of `total` that the batch read: total has the input's shape,
// in which axes that were repeated have extent 1 or are missing.
template <typename T>
void add_batch(const Tensor& gradient, const Shape& batch, std::int64_t index, Tensor& total) {
  const Shape& shape = total.shape();
  const std::size_t own = shape.rank() - 2, missing = batch.rank() - own;
  std::int64_t offset = 0, size = gradient.element_count();
  for (std::size_t axis = batch.rank(); axis-- > 0;) {
    const std::int64_t at = index % batch[axis];
    index /= batch[axis];
    if (axis < missing) continue;
    const std::int64_t extent = shape[axis - missing];
    if (extent > 1) offset += at * size;
    size *= extent;
  }
  T* target = total.as<T>().data() + offset;
  for (const T value : gradient.as<T>()) *target++ += value;
}

template <typename T>
void all_gradients(const MatmulProblem& p, const TensorView& c, const TensorView& dc,
                   const MatmulOptions& options, MatmulGradients& total) {
  for (std::int64_t batch = 0; batch < p.batches; ++batch) {
    std::int64_t rest = p.batches, index = batch;
    TensorView c_of = c, dc_of = dc;
    for (std::size_t axis = 0; axis < p.batch.rank(); ++axis) {
      rest /= p.batch[axis];
      c_of = c_of.select(0, index / rest);
      dc_of = dc_of.select(0, index / rest);
      index %= rest;
    }
    Batch<T> x{p.m,
               p.k,
               p.n,
               Tensor::copy(p.a_of(batch)),
               Tensor::copy(p.b_of(batch)),
               Tensor::copy(c_of),
               Tensor::copy(dc_of),
               Tensor(kDTypeOf<T>, Shape{p.m, p.k}),
               Tensor(kDTypeOf<T>, Shape{p.k, p.n})};
    gradients_of(p.algebra, x, options);
    add_batch<T>(x.da, p.batch, batch, total.a);
    add_batch<T>(x.db, p.batch, batch, total.b);
  }
}

}  // namespace

MatmulGradients matmul_gradients(Algebra algebra, const TensorView& a, const TensorView& b,
                                 const TensorView& c, const TensorView& dc,
                                 const MatmulOptions& options) {
  const MatmulProblem problem = matmul_problem(algebra, a, b);
  if (algebra == Algebra::kMinPlus || algebra == Algebra::kBoolean) {
    fail("gradients are those of real, log, max_plus or euclidean, got {}", name_of(algebra));
  }
  if (a.dtype() != DType::kF32 && a.dtype() != DType::kF64) {
    fail("gradients of {} take f32 or f64, got {}", name_of(algebra), name_of(a.dtype()));
  }
  for (const TensorView* given : {&c, &dc}) {
    check_output(*given, problem.out_shape(), a.dtype(), name_of(algebra), "gradients");
  }
  MatmulGradients total{Tensor(a.dtype(), a.shape()), Tensor(b.dtype(), b.shape())};
  if (a.dtype() == DType::kF32) {
    all_gradients<float>(problem, c, dc, options, total);
  } else {
    all_gradients<double>(problem, c, dc, options, total);
  }
  return total;
}

}  // namespace assay::semiring
