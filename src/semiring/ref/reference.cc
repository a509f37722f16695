// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/ref/reference.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "base/attend.h"
#include "semiring/ref/threads.h"

namespace assay::semiring {
namespace {

DType reference_dtype(DType dtype) { return dtype == DType::kBool ? dtype : DType::kF64; }

std::vector<std::int64_t> all_rows(std::int64_t count) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

void check_rows(std::span<const std::int64_t> rows, std::int64_t count) {
  for (const std::int64_t row : rows) {
    check(0 <= row && row < count, "an asked-for row is a row of the output");
  }
}

// Euclidean<double> without its limits: squares of large and of small differences would overflow or
// vanish where the distance does not. They are summed apart, scaled by powers of two.
struct WideEuclidean {
  using Value = double;
  struct State {
    double large, middle, small;  // Σ (2⁻⁶⁰⁰d)², Σ d², Σ (2⁶⁰⁰d)²
  };
  static double times(double a, double b) { return a - b; }
  static State zero() { return {0, 0, 0}; }
  static State plus(State s, double d) {
    const double size = std::abs(d);
    if (size > 0x1p500) {
      s.large += (d * 0x1p-600) * (d * 0x1p-600);
    } else if (size < 0x1p-500) {
      s.small += (d * 0x1p600) * (d * 0x1p600);
    } else {
      s.middle += d * d;  // NaN too
    }
    return s;
  }
  static double finish(const State& s) {
    if (s.large > 0) return std::sqrt(s.large + s.middle * 0x1p-600 * 0x1p-600) * 0x1p600;
    if (s.middle != 0) return std::sqrt(s.middle + s.small * 0x1p-600 * 0x1p-600);
    return std::sqrt(s.small) * 0x1p-600;
  }
};

// Calls f with the algebra over double, or over bool for boolean.
template <typename F>
void visit_reference(Algebra algebra, F&& f) {
  if (algebra == Algebra::kBoolean) {
    visit_algebra<bool>(algebra, f);
  } else if (algebra == Algebra::kEuclidean) {
    f(std::type_identity<WideEuclidean>{});
  } else {
    visit_algebra<double>(algebra, f);
  }
}

// One row of the output: out_j = ⊕_k a_k ⊗ b_kj, b row-major with n columns.
template <typename A>
class RowReducer {
 public:
  using T = typename A::Value;
  explicit RowReducer(std::int64_t n) : states_(static_cast<std::size_t>(n)) { reset(); }

  void reset() { std::fill(states_.begin(), states_.end(), A::zero()); }
  // state_j = state_j ⊕ (a ⊗ b_j)
  void add(T a, const T* b) {
    for (std::size_t j = 0; j < states_.size(); ++j) {
      states_[j] = A::plus(states_[j], A::times(a, b[j]));
    }
  }
  void finish(T* out) const {
    for (std::size_t j = 0; j < states_.size(); ++j) out[j] = A::finish(states_[j]);
  }

 private:
  std::vector<typename A::State> states_;
};

// The rows of x that the asked-for rows of an ELL problem name, each once, widened.
class Sources {
 public:
  Sources(const EllProblem& ell, std::span<const std::int64_t> rows)
      : position_(static_cast<std::size_t>(ell.sources), -1),
        values_(reference_dtype(ell.x.dtype()), Shape{0, ell.features}) {
    std::vector<std::int64_t> used;
    for (const std::int64_t row : rows) {
      for (std::int64_t p = 0; p < ell.slots; ++p) {
        const std::int64_t source = ell.idx.at<std::int32_t>(row, p);
        if (source < 0 || position_[static_cast<std::size_t>(source)] >= 0) continue;
        position_[static_cast<std::size_t>(source)] = static_cast<std::int64_t>(used.size());
        used.push_back(source);
      }
    }
    const auto count = static_cast<std::int64_t>(used.size());
    Tensor gathered(ell.x.dtype(), Shape{count, ell.features});
    for (std::int64_t i = 0; i < count; ++i) {
      convert_row(ell.x, used[static_cast<std::size_t>(i)], gathered, i);
    }
    values_ = Tensor::converted(gathered.view(), values_.dtype());
  }

  // Row `position(source)` of values() is row `source` of x.
  std::int64_t position(std::int64_t source) const {
    return position_[static_cast<std::size_t>(source)];
  }
  const Tensor& values() const { return values_; }

 private:
  static void convert_row(const TensorView& from, std::int64_t row, Tensor& to, std::int64_t at);

  std::vector<std::int64_t> position_;
  Tensor values_;
};

void Sources::convert_row(const TensorView& from, std::int64_t row, Tensor& to, std::int64_t at) {
  visit_dtype(from.dtype(), [&]<typename T>(std::type_identity<T>) {
    const T* source = from.data<T>() + row * from.stride(0);
    T* target = to.as<T>().data() + at * from.extent(1);
    for (std::int64_t f = 0; f < from.extent(1); ++f) target[f] = source[f * from.stride(1)];
  });
}

// out_r = ⊕_p v_rp ⊗ y_{position(idx_rp)} for the asked-for rows.
template <typename A>
void reduce_slots(const EllProblem& ell, std::span<const std::int64_t> rows, const Sources& sources,
                  const Tensor& y, Tensor& out) {
  using T = typename A::Value;
  const std::int64_t width = y.shape()[1];
  RowReducer<A> reducer(width);
  T* target = out.as<T>().data();
  for (const std::int64_t row : rows) {
    reducer.reset();
    for (std::int64_t p = 0; p < ell.slots; ++p) {
      const std::int64_t source = ell.idx.at<std::int32_t>(row, p);
      if (source < 0) continue;
      const auto weight =
          static_cast<T>(value_as_double(ell.v, row * ell.slots + p));  // bool is 0 or 1
      reducer.add(weight, y.as<T>().data() + sources.position(source) * width);
    }
    reducer.finish(target);
    target += width;
  }
}

// Writes the asked-for rows of one batch: row rows[at] to place `at` of `out`, for each `at` given.
// Rows are independent, so that the number of threads changes no bit.
template <typename A>
void compute_rows_of_batch(const MatmulProblem& problem, std::int64_t batch,
                           std::span<const std::int64_t> rows, std::span<const std::size_t> places,
                           Tensor& out) {
  using T = typename A::Value;
  const std::int64_t m = problem.m, k = problem.k, n = problem.n;
  const Tensor a = Tensor::converted(problem.a_of(batch), out.dtype());
  const Tensor b = Tensor::converted(problem.b_of(batch), out.dtype());
  const T* left = a.as<T>().data();
  const T* right = b.as<T>().data();
  T* target = out.as<T>().data();
  // Made before the threads start: nothing in the parallel part can fail.
  std::vector<RowReducer<A>> reducers(static_cast<std::size_t>(omp_get_max_threads()),
                                      RowReducer<A>(n));
  Attention* const attention = attention_here;
#pragma omp parallel for schedule(static) if (worth_threads(places.size(), k * n))
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!still_wanted(attention)) continue;
    auto& reducer = reducers[static_cast<std::size_t>(omp_get_thread_num())];
    const auto place = static_cast<std::int64_t>(places[i]);
    const std::int64_t row = rows[places[i]] % m;
    reducer.reset();
    for (std::int64_t l = 0; l < k; ++l) reducer.add(left[row * k + l], right + l * n);
    reducer.finish(target + place * n);
  }
}

// Writes the asked-for rows one after the other to `out`, whatever its shape.
void compute_rows(const MatmulProblem& problem, std::span<const std::int64_t> rows, Tensor& out) {
  // By batch, so that each a and b is widened once.
  std::map<std::int64_t, std::vector<std::size_t>> places;
  for (std::size_t at = 0; at < rows.size(); ++at) places[rows[at] / problem.m].push_back(at);
  visit_reference(problem.algebra, [&]<typename A>(std::type_identity<A>) {
    for (const auto& [batch, at] : places) {
      compute_rows_of_batch<A>(problem, batch, rows, at, out);
    }
  });
}

}  // namespace

Tensor reference_matmul_rows(const MatmulProblem& problem, std::span<const std::int64_t> rows) {
  check_rows(rows, problem.batches * problem.m);
  Tensor out(reference_dtype(problem.a.dtype()),
             Shape{static_cast<std::int64_t>(rows.size()), problem.n});
  compute_rows(problem, rows, out);
  return out;
}

Tensor reference_matmul(const MatmulProblem& problem) {
  Tensor out(reference_dtype(problem.a.dtype()), problem.out_shape());
  if (out.element_count() != 0) compute_rows(problem, all_rows(problem.batches * problem.m), out);
  return out;
}

Tensor reference_rows(Algebra algebra, const TensorView& a, const TensorView& b,
                      std::span<const std::int64_t> rows) {
  return reference_matmul_rows(matmul_problem(algebra, a, b), rows);
}

Tensor reference_ell_matmul_rows(Algebra algebra, const EllProblem& problem,
                                 std::span<const std::int64_t> rows) {
  check_rows(rows, problem.rows);
  const Sources sources(problem, rows);
  Tensor out(reference_dtype(problem.x.dtype()),
             Shape{static_cast<std::int64_t>(rows.size()), problem.features});
  visit_reference(algebra, [&]<typename A>(std::type_identity<A>) {
    reduce_slots<A>(problem, rows, sources, sources.values(), out);
  });
  return out;
}

Tensor reference_ell_matmul(Algebra algebra, const EllProblem& problem) {
  return reference_ell_matmul_rows(algebra, problem, all_rows(problem.rows));
}

Tensor reference_ell_edge_aggregate_rows(const EdgeProblem& problem,
                                         std::span<const std::int64_t> rows) {
  check_rows(rows, problem.ell.rows);
  const Sources sources(problem.ell, rows);
  // y = x Wᵀ for the sources in use.
  const Tensor w = Tensor::converted(problem.w, DType::kF64);
  const Tensor y = reference_matmul(
      matmul_problem(Algebra::kReal, sources.values().view(), w.view().transpose()));
  Tensor out(DType::kF64, Shape{static_cast<std::int64_t>(rows.size()), problem.outputs});
  if (problem.reduce == EdgeReduce::kSum) {
    reduce_slots<Real<double>>(problem.ell, rows, sources, y, out);
  } else {
    // ⊗ of real, ⊕ of max_plus.
    struct MaxTimes : MaxPlus<double> {
      static double times(double a, double b) { return a * b; }
    };
    reduce_slots<MaxTimes>(problem.ell, rows, sources, y, out);
  }
  return out;
}

Tensor reference_ell_edge_aggregate(const EdgeProblem& problem) {
  return reference_ell_edge_aggregate_rows(problem, all_rows(problem.ell.rows));
}

}  // namespace assay::semiring
