// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// One sweep updates the factor of each mode by linear least squares, the others fixed:
//
//   Uₙ ← Mₙ Γₙ⁻¹,  Mₙ = X_(n)·(Khatri–Rao product of the others),  Γₙ = ⊛_{m≠n} UₘᵀUₘ
//
// and the residual follows from what is there:  ‖X − X̂‖² = ‖X‖² + λᵀ(⊛UᵀU)λ − 2⟨M_N, U_N λ⟩.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/attend.h"
#include "base/philox.h"
#include "einsum/decompose/cp_start.h"
#include "einsum/decompose/cp_tensor.h"
#include "einsum/decompose/degeneracy.h"
#include "einsum/decompose/normal_equations.h"
#include "einsum/decompose/normalized.h"

namespace assay::einsum {
namespace {

constexpr int kHalsPasses = 2;

// At a saddle every update stands still as at a minimum. From a point a small random step away, the
// iteration returns to a minimum and leaves a saddle: an amplitude of a hundredth that grows by a
// tenth a sweep is seen after as many sweeps as these.
constexpr int kProbeSweeps = 25, kLeastProbe = 5;
constexpr double kProbeStep = 0.01;
constexpr double kProbeGain = 1e-3;  // of the error: less is the slow end of a convergence

template <typename T>
class Als {
 public:
  Als(CpTensor<T>& tensor, const CpOptions& options, int start)
      : x_(tensor),
        o_(options),
        norm_(tensor.norm()),
        factors_(cp_start(tensor, options, start)),
        grams_(factors_.size()),
        weights_(static_cast<std::size_t>(o_.rank), T(1)) {
    begin();
  }

  CpResult run() {
    CpResult result;
    int still = 0;
    double fit = 0;
    while (true) {
      const double before = fit;
      // If nothing is decided by the fit, it need not be exact before the last sweep.
      const bool decides = o_.change >= 0 || o_.target_fit <= 1;
      fit = 1 - sweep(o_.exact_fit && (decides || result.sweeps + 1 == o_.max_sweeps));
      ++result.sweeps;
      result.trace.push_back(fit);
      course_.push_back(cp_state(weights_, cosines()));
      still = std::abs(fit - before) <= o_.change ? still + 1 : 0;
      if (fit >= o_.target_fit) {
        result.stop = CpStop::kTargetFit;
        break;
      }
      if (still == 2) {
        result.stop = probe(fit, result);
        if (result.stop == CpStop::kChange) break;
        still = 0;  // it was a saddle, or there is no sweep left to tell
      }
      if (result.sweeps >= o_.max_sweeps) {
        result.stop = CpStop::kSweeps;
        break;
      }
    }
    finish(result, fit);
    return result;
  }

 private:
  // Starts the iteration at the factors as they are.
  void begin() {
    for (std::size_t mode = 0; mode < factors_.size(); ++mode) {
      grams_[mode] = cross(factors_[mode], factors_[mode]);
    }
    x_.begin(factors_);
  }

  // The iteration stands still. kChange: it came back from a small step away, and is left where it
  // was. kSweeps: it was a saddle, and the iteration is where the step led; or too few sweeps are
  // left to tell.
  CpStop probe(double& fit, CpResult& result) {
    const double error = 1 - fit;
    if (error <= std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon()))) {
      return CpStop::kChange;  // nothing is left to gain
    }
    const int sweeps = std::min(kProbeSweeps, o_.max_sweeps - result.sweeps);
    if (sweeps < kLeastProbe) return CpStop::kSweeps;
    const auto factors = factors_;
    const auto weights = weights_;
    step_away(std::min(kProbeStep, 0.1 * error));
    std::vector<double> trace;
    while (static_cast<int>(trace.size()) < sweeps) trace.push_back(1 - sweep(o_.exact_fit));
    if (trace.back() - fit > std::max(kProbeGain * error, 100 * o_.change)) {
      fit = trace.back();
      result.sweeps += sweeps;
      result.trace.insert(result.trace.end(), trace.begin(), trace.end());
      course_.insert(course_.end(), trace.size(), cp_state(weights_, cosines()));
      return CpStop::kSweeps;
    }
    factors_ = factors;
    weights_ = weights;
    begin();
    return CpStop::kChange;
  }

  // Adds random numbers to all factors, whose columns have norm 1 or are zero.
  void step_away(double size) {
    ++probes_;
    for (std::size_t mode = 0; mode < factors_.size(); ++mode) {
      auto& u = factors_[mode];
      const auto stream = stream_key("probe") + static_cast<std::uint64_t>(probes_) * 1000 + mode;
      const auto away = random_matrix<T>(u.rows, u.columns, o_.seed, stream, o_.nonnegative);
      const T scale = static_cast<T>(size / std::sqrt(static_cast<double>(u.rows)));
      for (std::size_t i = 0; i < u.data.size(); ++i) u.data[i] += scale * away.data[i];
    }
    begin();
  }

  // Γ of all modes but one.
  Matrix<T> gamma(std::size_t except) const {
    Matrix<T> g(o_.rank, o_.rank);
    std::ranges::fill(g.data, T(1));
    for (std::size_t mode = 0; mode < grams_.size(); ++mode) {
      if (mode == except) continue;
      for (std::size_t i = 0; i < g.data.size(); ++i) g.data[i] *= grams_[mode].data[i];
    }
    return g;
  }

  // Between components, whose columns have norm 1: Γ of all modes.
  Matrix<T> cosines() const { return gamma(factors_.size()); }

  // Updates all modes; returns the relative error, to rounding of the tensor's norm or exactly.
  double sweep(bool exactly) {
    double error = 0;
    for (std::size_t mode = 0; mode < factors_.size(); ++mode) {
      auto m = x_.next();
      attend();
      const bool last = mode + 1 == factors_.size();
      const Matrix<T> products = last ? m : Matrix<T>();
      auto& u = factors_[mode];
      if (o_.nonnegative) {
        hals(mode, m);
      } else {
        solve(gamma(mode), m);
        u = std::move(m);
      }
      // ⟨X, X̂⟩ = ⟨M, U·λ⟩, before the columns are normalised.
      double inner = 0;
      if (last) {
        for (std::size_t i = 0; i < u.data.size(); ++i) {
          inner += static_cast<double>(products.data[i]) * static_cast<double>(u.data[i]);
        }
      }
      normalize(u);
      grams_[mode] = cross(u, u);
      if (last) error = relative_error(inner, exactly);
    }
    return error;
  }

  double relative_error(double inner, bool exactly) const {
    if (norm_ == 0) return 0;
    const auto g = cosines();
    double model = 0;
    for (std::int64_t r = 0; r < o_.rank; ++r) {
      for (std::int64_t s = 0; s < o_.rank; ++s) {
        model += static_cast<double>(weights_[static_cast<std::size_t>(r)]) *
                 static_cast<double>(weights_[static_cast<std::size_t>(s)]) *
                 static_cast<double>(g(r, s));
      }
    }
    const double square = (norm_ * norm_ + model - 2 * inner) / (norm_ * norm_);
    if (square > std::sqrt(std::numeric_limits<T>::epsilon()) || !exactly) {
      return std::sqrt(std::max(square, 0.0));
    }
    return x_.distance(weights_, factors_) / norm_;  // that was rounding
  }

  void solve(const Matrix<T>& gamma, Matrix<T>& m) {
    switch (solve_normal_equations(gamma, m)) {
      case SolveStage::kCholesky:
        break;
      case SolveStage::kTruncated:
        ++truncated_;
        break;
      case SolveStage::kRidge:
        ++ridged_;
    }
  }

  // Column after column, the others fixed: u_r ← max(0, u_r + (m_r − U Γ_r)/Γ_rr).
  void hals(std::size_t mode, const Matrix<T>& m) {
    auto& u = factors_[mode];
    const auto g = gamma(mode);
    // The last mode carries the weights while it is updated; all columns have norm 1 otherwise.
    for (std::int64_t i = 0; i < u.rows; ++i) {
      for (std::int64_t r = 0; r < o_.rank; ++r) u(i, r) *= weights_[static_cast<std::size_t>(r)];
    }
    for (int pass = 0; pass < kHalsPasses; ++pass) {
      for (std::int64_t r = 0; r < o_.rank; ++r) {
        const T diagonal = g(r, r);
        if (!(diagonal > 0)) continue;
        for (std::int64_t i = 0; i < u.rows; ++i) {
          T gap = m(i, r);
          for (std::int64_t s = 0; s < o_.rank; ++s) gap -= u(i, s) * g(s, r);
          u(i, r) = std::max(T(0), u(i, r) + gap / diagonal);
        }
      }
    }
  }

  void normalize(Matrix<T>& u) {
    for (std::int64_t r = 0; r < o_.rank; ++r) {
      double square = 0;
      for (std::int64_t i = 0; i < u.rows; ++i) {
        square += static_cast<double>(u(i, r)) * static_cast<double>(u(i, r));
      }
      const double size = std::sqrt(square);
      weights_[static_cast<std::size_t>(r)] = static_cast<T>(size);
      if (size == 0) continue;
      for (std::int64_t i = 0; i < u.rows; ++i) u(i, r) = static_cast<T>(u(i, r) / size);
    }
  }

  void finish(CpResult& result, double fit) const {
    std::vector<std::int64_t> order(static_cast<std::size_t>(o_.rank));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater{},
                             [&](std::int64_t r) { return weights_[static_cast<std::size_t>(r)]; });
    result.weights = Tensor(kDTypeOf<T>, Shape({o_.rank}));
    for (std::size_t r = 0; r < order.size(); ++r) {
      result.weights.as<T>()[r] = weights_[static_cast<std::size_t>(order[r])];
    }
    for (const auto& u : factors_) {
      Matrix<T> sorted(u.rows, u.columns);
      for (std::int64_t i = 0; i < u.rows; ++i) {
        for (std::size_t r = 0; r < order.size(); ++r) {
          sorted(i, static_cast<std::int64_t>(r)) = u(i, order[r]);
        }
      }
      result.factors.push_back(sorted.tensor());
    }
    result.fit = fit;
    result.relative_error = 1 - fit;
    result.truncated = truncated_;
    result.ridged = ridged_;
    result.degenerate = is_degenerate(course_, norm_);
    result.congruence = congruence(cosines());
  }

  CpTensor<T>& x_;
  const CpOptions& o_;
  double norm_;
  std::vector<Matrix<T>> factors_, grams_;
  std::vector<T> weights_;
  std::vector<CpState> course_;  // after each sweep
  int truncated_ = 0, ridged_ = 0, probes_ = 0;
};

}  // namespace

template <typename T>
CpResult decompose_cp(CpTensor<T>& x, const CpOptions& o) {
  auto best = Als<T>(x, o, 0).run();
  for (int start = 1; start <= o.restarts && best.fit < o.target_fit; ++start) {
    auto other = Als<T>(x, o, start).run();
    if (other.fit > best.fit) best = std::move(other);
  }
  attend();
  scale_back(best.weights.template as<T>(), x.exponent(), "cp");
  return best;
}

template CpResult decompose_cp(CpTensor<float>&, const CpOptions&);
template CpResult decompose_cp(CpTensor<double>&, const CpOptions&);

}  // namespace assay::einsum
