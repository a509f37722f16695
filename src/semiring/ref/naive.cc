// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/ref/naive.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/attend.h"
#include "base/memory.h"
#include "semiring/ref/threads.h"

namespace assay::semiring {
namespace {

// Reduces terms (groups, count, width) over their middle axis into out (groups, width). The state
// of every algebra but log is a value, so the output itself holds it.
template <typename A>
void reduce_terms(std::span<const typename A::Value> terms, std::int64_t groups, std::int64_t count,
                  std::int64_t width, std::span<typename A::Value> out) {
  using T = typename A::Value;
  static_assert(std::is_same_v<typename A::State, T>);
  Attention* const attention = attention_here;
#pragma omp parallel for schedule(static) if (worth_threads(groups, count * width))
  for (std::int64_t g = 0; g < groups; ++g) {
    if (!still_wanted(attention)) continue;
    const T* group = terms.data() + g * count * width;
    T* target = out.data() + g * width;
    for (std::int64_t j = 0; j < width; ++j) target[j] = A::zero();
    for (std::int64_t l = 0; l < count; ++l) {
      for (std::int64_t j = 0; j < width; ++j) {
        target[j] = A::plus(target[j], group[l * width + j]);
      }
    }
    for (std::int64_t j = 0; j < width; ++j) target[j] = A::finish(target[j]);
  }
}

// log Σ exp in the three sweeps of an array library: largest term, sum of shifted exponentials,
// logarithm. An infinite (or NaN) maximum is the answer itself, and is not subtracted.
template <typename T>
void reduce_log_terms(std::span<const T> terms, std::int64_t groups, std::int64_t count,
                      std::int64_t width, std::span<T> out) {
  std::vector<T> maxima(out.size());
  reduce_terms<MaxPlus<T>>(terms, groups, count, width, maxima);
  Attention* const attention = attention_here;
#pragma omp parallel for schedule(static) if (worth_threads(groups, count * width))
  for (std::int64_t g = 0; g < groups; ++g) {
    if (!still_wanted(attention)) continue;
    const T* group = terms.data() + g * count * width;
    const T* maximum = maxima.data() + g * width;
    T* target = out.data() + g * width;
    for (std::int64_t j = 0; j < width; ++j) target[j] = 0;
    for (std::int64_t l = 0; l < count; ++l) {
      for (std::int64_t j = 0; j < width; ++j) {
        const T shift = std::isfinite(maximum[j]) ? maximum[j] : T{0};
        target[j] += std::exp(group[l * width + j] - shift);
      }
    }
    for (std::int64_t j = 0; j < width; ++j) {
      target[j] = std::isfinite(maximum[j]) ? maximum[j] + std::log(target[j]) : maximum[j];
    }
  }
}

template <typename A>
void reduce(std::span<const typename A::Value> terms, Tensor& out, std::int64_t groups,
            std::int64_t count, std::int64_t width) {
  using T = typename A::Value;
  if constexpr (std::is_same_v<A, Log<T>>) {
    reduce_log_terms<T>(terms, groups, count, width, out.as<T>());
  } else {
    reduce_terms<A>(terms, groups, count, width, out.as<T>());
  }
}

// Room for the terms of a shape, not cleared first: no array library would write it twice.
template <typename T>
class Terms {
 public:
  explicit Terms(const Shape& shape)
      : size_(static_cast<std::size_t>(shape.element_count())), data_(aligned_block<T>(size_)) {}
  T* data() { return data_.get(); }
  std::span<const T> all() const { return {data_.get(), size_}; }

 private:
  std::size_t size_;
  AlignedBlock<T> data_;
};

// Calls f with the algebra over the working dtype's C++ type.
template <typename F>
void visit_working(Algebra algebra, DType working, F&& f) {
  switch (working) {
    case DType::kBool:
      visit_algebra<bool>(algebra, f);
      return;
    case DType::kF32:
      visit_algebra<float>(algebra, f);
      return;
    case DType::kF64:
      visit_algebra<double>(algebra, f);
      return;
    default:
      throw InternalError("the working dtype is bool, f32 or f64");
  }
}

// Terms v_ip ⊗ y_{idx(i,p)}, (rows, slots, width), reduced with `A`; both v and y in A's type.
template <typename A, typename Times>
Tensor gather_and_reduce(const EllProblem& ell, const Tensor& y, Times times) {
  using T = typename A::Value;
  const std::int64_t width = y.shape()[1];
  const Tensor v = Tensor::converted(ell.v, y.dtype());
  Terms<T> terms(Shape{ell.rows, ell.slots, width});
  const T* weights = v.as<T>().data();
  const T* vertices = y.as<T>().data();
  T* all = terms.data();
  Attention* const attention = attention_here;
#pragma omp parallel for schedule(static) if (worth_threads(ell.rows, ell.slots * width))
  for (std::int64_t i = 0; i < ell.rows; ++i) {
    if (!still_wanted(attention)) continue;
    for (std::int64_t p = 0; p < ell.slots; ++p) {
      T* term = all + (i * ell.slots + p) * width;
      const std::int64_t source = ell.idx.at<std::int32_t>(i, p);
      if (source < 0) {
        std::fill_n(term, width, A::kAbsent);
        continue;
      }
      const T weight = weights[i * ell.slots + p];
      const T* from = vertices + source * width;
      for (std::int64_t f = 0; f < width; ++f) term[f] = times(weight, from[f]);
    }
  }
  Tensor out(y.dtype(), Shape{ell.rows, width});
  reduce<A>(terms.all(), out, ell.rows, ell.slots, width);
  return out;
}

double size(DType dtype) { return static_cast<double>(size_of(working_dtype(dtype))); }

// The terms, and for log the maxima beside them.
double terms_bytes(Algebra algebra, DType dtype, double groups, double count, double width) {
  const double maxima = algebra == Algebra::kLog ? groups * width : 0;
  return (groups * count * width + maxima) * size(dtype);
}

}  // namespace

Tensor naive_matmul(const MatmulProblem& problem) {
  const DType working = working_dtype(problem.a.dtype());
  const std::int64_t m = problem.m, k = problem.k, n = problem.n;
  Tensor out(working, problem.out_shape());
  visit_working(problem.algebra, working, [&]<typename A>(std::type_identity<A>) {
    using T = typename A::Value;
    Terms<T> terms(Shape{problem.batches, m, k, n});
    for (std::int64_t batch = 0; batch < problem.batches; ++batch) {
      const Tensor a = Tensor::converted(problem.a_of(batch), working);
      const Tensor b = Tensor::converted(problem.b_of(batch), working);
      const T* left = a.as<T>().data();
      const T* right = b.as<T>().data();
      T* of_batch = terms.data() + batch * m * k * n;
#pragma omp parallel for schedule(static) if (worth_threads(m, k * n))
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t l = 0; l < k; ++l) {
          T* term = of_batch + (i * k + l) * n;
          for (std::int64_t j = 0; j < n; ++j)
            term[j] = A::times(left[i * k + l], right[l * n + j]);
        }
      }
    }
    reduce<A>(terms.all(), out, problem.batches * m, k, n);
  });
  return out;
}

double naive_matmul_bytes(const MatmulProblem& p) {
  return naive_matmul_bytes(p.algebra, p.a.dtype(), p.batches, p.m, p.k, p.n);
}

double naive_matmul_bytes(Algebra algebra, DType dtype, std::int64_t batches, std::int64_t m,
                          std::int64_t k, std::int64_t n) {
  const auto groups = static_cast<double>(batches) * static_cast<double>(m);
  return terms_bytes(algebra, dtype, groups, static_cast<double>(k), static_cast<double>(n));
}

Tensor naive_ell_matmul(Algebra algebra, const EllProblem& problem) {
  const DType working = working_dtype(problem.x.dtype());
  const Tensor x = Tensor::converted(problem.x, working);
  Tensor out(working, Shape{0});
  visit_working(algebra, working, [&]<typename A>(std::type_identity<A>) {
    out = gather_and_reduce<A>(problem, x, A::times);
  });
  return out;
}

namespace {

template <typename T>
Tensor aggregate_edges(const EdgeProblem& problem) {
  const Tensor x = Tensor::converted(problem.ell.x, kDTypeOf<T>);
  const Tensor w = Tensor::converted(problem.w, kDTypeOf<T>);
  const std::int64_t sources = problem.ell.sources, features = problem.ell.features;
  Tensor y(kDTypeOf<T>, Shape{sources, problem.outputs});
  const T* vertices = x.as<T>().data();
  const T* matrix = w.as<T>().data();
  T* target = y.as<T>().data();
  Attention* const attention = attention_here;
#pragma omp parallel for schedule(static) if (worth_threads(sources, features * problem.outputs))
  for (std::int64_t s = 0; s < sources; ++s) {
    if (!still_wanted(attention)) continue;
    for (std::int64_t o = 0; o < problem.outputs; ++o) {
      T sum = 0;
      for (std::int64_t f = 0; f < features; ++f) {
        sum += matrix[o * features + f] * vertices[s * features + f];
      }
      target[s * problem.outputs + o] = sum;
    }
  }
  if (problem.reduce == EdgeReduce::kSum) {
    return gather_and_reduce<Real<T>>(problem.ell, y, Real<T>::times);
  }
  return gather_and_reduce<MaxPlus<T>>(problem.ell, y, Real<T>::times);
}

}  // namespace

Tensor naive_ell_edge_aggregate(const EdgeProblem& problem) {
  return working_dtype(problem.w.dtype()) == DType::kF32 ? aggregate_edges<float>(problem)
                                                         : aggregate_edges<double>(problem);
}

double naive_ell_edge_aggregate_bytes(DType dtype, std::int64_t rows, std::int64_t slots,
                                      std::int64_t sources, std::int64_t outputs) {
  const auto width = static_cast<double>(outputs);
  return terms_bytes(Algebra::kReal, dtype, static_cast<double>(rows), static_cast<double>(slots),
                     width) +
         static_cast<double>(sources) * width * size(dtype);
}

}  // namespace assay::semiring
