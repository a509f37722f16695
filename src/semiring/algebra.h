// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The six algebras: C_ij = finish(⊕_k (A_ik ⊗ B_kj)).
//
//   name        ⊗         ⊕           finish        zero of ⊕
//   real        a·b       sum                       0
//   log         a+b       log Σ exp                 −∞
//   max_plus    a+b       max                       −∞
//   min_plus    a+b       min                       +∞
//   euclidean   (a−b)²    sum         √max(Σ, 0)    0
//   boolean     and       or                        false
//
// NaN propagates in every algebra: a term that is NaN makes the result NaN. (std::max and std::fmax
// lose it, and so does the bare comparison `b > a ? b : a`.) That includes −∞ + ∞ in log, max_plus
// and min_plus, and ∞ − ∞ in euclidean. Without terms the result is finish(zero).

#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "base/error.h"
#include "semiring/algebra_kind.h"

namespace assay::semiring {

inline constexpr Algebra kAllAlgebras[] = {Algebra::kReal,      Algebra::kLog,
                                           Algebra::kMaxPlus,   Algebra::kMinPlus,
                                           Algebra::kEuclidean, Algebra::kBoolean};

// "real", "log", "max_plus", "min_plus", "euclidean", "boolean".
std::string_view name_of(Algebra algebra);
// Inverse of name_of. Throws UserError that names `what` and the text and lists the names.
Algebra algebra_from_name(std::string_view name, std::string_view what);

// The larger (smaller) of two numbers, NaN if either is.
template <typename T>
constexpr T max_or_nan(T a, T b) {
  return a > b || a != a ? a : b;
}
template <typename T>
constexpr T min_or_nan(T a, T b) {
  return a < b || a != a ? a : b;
}

// Each algebra over the scalar T: `times` is ⊗; a State holds ⊕ of the terms so far, begins as
// zero(), takes one more term by plus(), and becomes the result by finish(). kAbsent is a term that
// changes no result: what stands in a materialised array where there is no term.

template <typename T>
struct Real {
  using Value = T;
  using State = T;
  static constexpr T kAbsent = 0;
  static T times(T a, T b) { return a * b; }
  static State zero() { return 0; }
  static State plus(State sum, T term) { return sum + term; }
  static T finish(State sum) { return sum; }
};

template <typename T>
struct Log {
  using Value = T;
  // Σ exp(term) = sum · exp(max), with max the largest term so far: exact where terms are −∞, and
  // nothing overflows or is lost, however far apart the terms are.
  struct State {
    T max;
    T sum;
  };
  static constexpr T kAbsent = -std::numeric_limits<T>::infinity();
  static T times(T a, T b) { return a + b; }
  static State zero() { return {kAbsent, 0}; }
  static State plus(State s, T term) {
    if (term <= s.max) {
      // Equality first: ∞ − ∞ is NaN. Under a maximum of −∞ the sum counts terms, and does no harm.
      s.sum += term == s.max ? T{1} : std::exp(term - s.max);
      return s;
    }
    if (term > s.max) return {term, s.sum * std::exp(s.max - term) + 1};
    return {s.max + term, 1};  // NaN
  }
  static T finish(State s) { return s.max + std::log(s.sum); }  // −∞ stays −∞
};

template <typename T>
struct MaxPlus {
  using Value = T;
  using State = T;
  static constexpr T kAbsent = -std::numeric_limits<T>::infinity();
  static T times(T a, T b) { return a + b; }
  static State zero() { return kAbsent; }
  static State plus(State largest, T term) { return max_or_nan(largest, term); }
  static T finish(State largest) { return largest; }
};

template <typename T>
struct MinPlus {
  using Value = T;
  using State = T;
  static constexpr T kAbsent = std::numeric_limits<T>::infinity();
  static T times(T a, T b) { return a + b; }
  static State zero() { return kAbsent; }
  static State plus(State smallest, T term) { return min_or_nan(smallest, term); }
  static T finish(State smallest) { return smallest; }
};

template <typename T>
struct Euclidean {
  using Value = T;
  using State = T;
  static constexpr T kAbsent = 0;
  static T times(T a, T b) { return (a - b) * (a - b); }
  static State zero() { return 0; }
  static State plus(State sum, T term) { return sum + term; }
  static T finish(State sum) { return std::sqrt(max_or_nan(sum, T{0})); }
};

struct Boolean {
  using Value = bool;
  using State = bool;
  static constexpr bool kAbsent = false;
  static bool times(bool a, bool b) { return a && b; }
  static State zero() { return false; }
  static State plus(State any, bool term) { return any || term; }
  static bool finish(State any) { return any; }
};

// Calls f with std::type_identity of the algebra over T (bool: `boolean` alone; any other T: the
// other five); returns what f returns.
template <typename T, typename F>
decltype(auto) visit_algebra(Algebra algebra, F&& f) {
  if constexpr (std::is_same_v<T, bool>) {
    check(algebra == Algebra::kBoolean, "bool belongs to the boolean algebra");
    return f(std::type_identity<Boolean>{});
  } else {
    switch (algebra) {
      case Algebra::kReal:
        return f(std::type_identity<Real<T>>{});
      case Algebra::kLog:
        return f(std::type_identity<Log<T>>{});
      case Algebra::kMaxPlus:
        return f(std::type_identity<MaxPlus<T>>{});
      case Algebra::kMinPlus:
        return f(std::type_identity<MinPlus<T>>{});
      case Algebra::kEuclidean:
        return f(std::type_identity<Euclidean<T>>{});
      case Algebra::kBoolean:
        break;
    }
    throw InternalError("a numeric algebra is one of five");
  }
}

}  // namespace assay::semiring
