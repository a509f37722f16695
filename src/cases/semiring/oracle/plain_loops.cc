// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/semiring/oracle/plain_loops.h"

#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"

namespace assay::cases::semiring::oracle {
namespace {

using Wide = long double;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A matrix with its columns one after the other where `columns_first`, its rows otherwise.
std::vector<double> elements(const TensorView& matrix, bool columns_first) {
  const std::int64_t m = matrix.extent(0), n = matrix.extent(1);
  std::vector<double> values(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t at = columns_first ? j * m + i : i * n + j;
      values[static_cast<std::size_t>(at)] = value_as_double(matrix, i * n + j);
    }
  }
  return values;
}

// ⊕ over l of a_l ⊗ b_l, for one row of A and one column of B.
double real(const double* a, const double* b, std::int64_t count) {
  Wide sum = 0;
  for (std::int64_t l = 0; l < count; ++l) sum += Wide{a[l]} * Wide{b[l]};
  return static_cast<double>(sum);
}

double largest(const double* a, const double* b, std::int64_t count) {
  double max = -kInfinity;
  for (std::int64_t l = 0; l < count; ++l) {
    const double term = a[l] + b[l];
    if (std::isnan(term)) return kNan;
    if (term > max) max = term;
  }
  return max;
}

double smallest(const double* a, const double* b, std::int64_t count) {
  double min = kInfinity;
  for (std::int64_t l = 0; l < count; ++l) {
    const double term = a[l] + b[l];
    if (std::isnan(term)) return kNan;
    if (term < min) min = term;
  }
  return min;
}

// log Σ exp(a_l + b_l) = max + log Σ exp(a_l + b_l − max).
double log_sum(const double* a, const double* b, std::int64_t count) {
  const double max = largest(a, b, count);
  if (!std::isfinite(max)) return max;
  Wide sum = 0;
  for (std::int64_t l = 0; l < count; ++l) sum += std::exp(a[l] + b[l] - max);
  return static_cast<double>(max + std::log(sum));
}

double distance(const double* a, const double* b, std::int64_t count) {
  Wide sum = 0;
  for (std::int64_t l = 0; l < count; ++l) {
    const Wide difference = Wide{a[l]} - Wide{b[l]};
    sum += difference * difference;
  }
  return static_cast<double>(std::sqrt(sum));
}

double any(const double* a, const double* b, std::int64_t count) {
  for (std::int64_t l = 0; l < count; ++l) {
    if (a[l] != 0 && b[l] != 0) return 1;
  }
  return 0;
}

using Reduction = double (*)(const double*, const double*, std::int64_t);

Reduction reduction_of(std::string_view algebra) {
  if (algebra == "real") return real;
  if (algebra == "log") return log_sum;
  if (algebra == "max_plus") return largest;
  if (algebra == "min_plus") return smallest;
  if (algebra == "euclidean") return distance;
  check(algebra == "boolean", "the oracle knows the algebra");
  return any;
}

}  // namespace

std::vector<double> matmul_rows(std::string_view algebra, const TensorView& a, const TensorView& b,
                                std::span<const std::int64_t> rows) {
  const Reduction reduce = reduction_of(algebra);
  const std::int64_t k = a.extent(1), n = b.extent(1);
  const auto left = elements(a, false), right = elements(b, true);
  std::vector<double> answer;
  answer.reserve(rows.size() * static_cast<std::size_t>(n));
  for (const std::int64_t i : rows) {
    for (std::int64_t j = 0; j < n; ++j) {
      answer.push_back(reduce(left.data() + i * k, right.data() + j * k, k));
    }
  }
  return answer;
}

std::vector<double> edge_rows(bool is_sum, const TensorView& v, const TensorView& idx,
                              const TensorView& x, const TensorView& w,
                              std::span<const std::int64_t> rows) {
  const std::int64_t slots = v.extent(1), features = x.extent(1), outputs = w.extent(0);
  const auto weights = elements(w, false), sources = elements(x, false);
  std::vector<double> answer;
  answer.reserve(rows.size() * static_cast<std::size_t>(outputs));
  for (const std::int64_t i : rows) {
    std::vector<Wide> result(static_cast<std::size_t>(outputs), is_sum ? 0 : -kInfinity);
    for (std::int64_t p = 0; p < slots; ++p) {
      const auto source = static_cast<std::int64_t>(value_as_double(idx, i * slots + p));
      if (source < 0) continue;
      const Wide scale = value_as_double(v, i * slots + p);
      for (std::int64_t o = 0; o < outputs; ++o) {
        Wide product = 0;
        for (std::int64_t f = 0; f < features; ++f) {
          product += Wide{weights[static_cast<std::size_t>(o * features + f)]} *
                     Wide{sources[static_cast<std::size_t>(source * features + f)]};
        }
        Wide& so_far = result[static_cast<std::size_t>(o)];
        const Wide term = scale * product;
        if (is_sum) {
          so_far += term;
        } else if (term > so_far || std::isnan(term)) {
          so_far = std::isnan(so_far) ? so_far : term;
        }
      }
    }
    for (const Wide value : result) answer.push_back(static_cast<double>(value));
  }
  return answer;
}

}  // namespace assay::cases::semiring::oracle
