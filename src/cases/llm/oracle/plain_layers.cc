// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/llm/oracle/plain_layers.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace assay::cases::llm {
namespace {

double silu(double z) { return z / (1 + std::exp(-z)); }

std::vector<double> values_of(const TensorView& view, std::int64_t begin, std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  visit_dtype(view.dtype(), [&]<typename T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, BFloat16> ||
                  std::is_same_v<T, Half> || std::is_same_v<T, double>) {
      const T* data = view.data<T>() + begin;
      for (auto& value : values) value = static_cast<double>(*data++);
    } else {
      throw InternalError("layers are of floating point");
    }
  });
  return values;
}

// gelu by its usual approximation with a hyperbolic tangent.
double gelu(double z) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (z + 0.044715 * z * z * z);
  return z / 2 * (1 + std::tanh(inner));
}

}  // namespace

PlainMatrix::PlainMatrix(const TensorView& view)
    : rows(view.element_count() / view.extent(view.rank() - 1)),
      columns(view.extent(view.rank() - 1)),
      values(values_of(view, 0, view.element_count())) {}

PlainMatrix PlainMatrix::chosen(std::span<const std::int64_t> which) const {
  PlainMatrix some(static_cast<std::int64_t>(which.size()), columns);
  for (std::int64_t i = 0; i < some.rows; ++i)
    std::copy_n(row(which[static_cast<std::size_t>(i)]), columns, some.row(i));
  return some;
}

PlainMatrix plain_levelled(const PlainMatrix& x, double epsilon) {
  PlainMatrix y(x.rows, x.columns);
  for (std::int64_t i = 0; i < x.rows; ++i) {
    double squares = 0;
    for (std::int64_t j = 0; j < x.columns; ++j) squares += x.row(i)[j] * x.row(i)[j];
    const double root = std::sqrt(squares / static_cast<double>(x.columns) + epsilon);
    for (std::int64_t j = 0; j < x.columns; ++j) y.row(i)[j] = x.row(i)[j] / root;
  }
  return y;
}

PlainMatrix plain_rms_norm(const PlainMatrix& x, const TensorView& g, double epsilon,
                           double added) {
  const auto weights = values_of(g, 0, x.columns);
  auto y = plain_levelled(x, epsilon);
  for (std::int64_t i = 0; i < x.rows; ++i) {
    for (std::int64_t j = 0; j < x.columns; ++j)
      y.row(i)[j] *= weights[static_cast<std::size_t>(j)] + added;
  }
  return y;
}

PlainMatrix plain_linear(const PlainMatrix& x, const TensorView& w) {
  const std::int64_t n = w.extent(0), k = w.extent(1);
  // x the other way round: rows side by side are summed side by side.
  std::vector<double> across(static_cast<std::size_t>(k * x.rows));
  for (std::int64_t i = 0; i < x.rows; ++i) {
    for (std::int64_t l = 0; l < k; ++l)
      across[static_cast<std::size_t>(l * x.rows + i)] = x.row(i)[l];
  }
  PlainMatrix y(x.rows, n);
#pragma omp parallel for
  for (std::int64_t j = 0; j < n; ++j) {
    std::vector<double> sums(static_cast<std::size_t>(x.rows));
    const auto row = values_of(w, j * k, k);
    for (std::int64_t l = 0; l < k; ++l) {
      const double factor = row[static_cast<std::size_t>(l)];
      const double* terms = across.data() + l * x.rows;
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += factor * terms[i];
    }
    for (std::int64_t i = 0; i < x.rows; ++i) y.row(i)[j] = sums[static_cast<std::size_t>(i)];
  }
  return y;
}

PlainMatrix plain_product(const PlainMatrix& x, const TensorView& w) {
  const std::int64_t k = w.extent(0), n = w.extent(1);
  PlainMatrix y(x.rows, n);
  for (std::int64_t l = 0; l < k; ++l) {
    const auto row = values_of(w, l * n, n);
    for (std::int64_t i = 0; i < x.rows; ++i) {
      for (std::int64_t j = 0; j < n; ++j)
        y.row(i)[j] += x.row(i)[l] * row[static_cast<std::size_t>(j)];
    }
  }
  return y;
}

PlainMatrix plain_gate(const PlainMatrix& g, const PlainMatrix& u, bool by_gelu) {
  PlainMatrix y(g.rows, g.columns);
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    y.values[i] = (by_gelu ? gelu(g.values[i]) : silu(g.values[i])) * u.values[i];
  }
  return y;
}

void plain_rotary(PlainMatrix& x, const PlainMatrix& cos, const PlainMatrix& sin,
                  std::int64_t head_width) {
  const std::int64_t half = head_width / 2;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    for (std::int64_t head = 0; head < x.columns; head += head_width) {
      for (std::int64_t l = 0; l < half; ++l) {
        double& first = x.row(i)[head + l];
        double& second = x.row(i)[head + half + l];
        const double c = cos.row(i)[l], s = sin.row(i)[l], a = first, b = second;
        first = a * c - b * s;
        second = b * c + a * s;
      }
    }
  }
}

PlainMatrix plain_attention(const PlainMatrix& q, const PlainMatrix& k, const PlainMatrix& v,
                            std::int64_t offset, std::optional<double> scale, std::int64_t window) {
  PlainMatrix y(q.rows, v.columns);
  const double factor = scale.value_or(1 / std::sqrt(static_cast<double>(q.columns)));
  for (std::int64_t i = 0; i < q.rows; ++i) {
    const auto last = std::min(i + offset, k.rows - 1);
    const auto first = window > 0 ? std::max<std::int64_t>(0, last - window + 1) : 0;
    std::vector<double> scores;
    for (auto j = first; j <= last; ++j)
      scores.push_back(factor * std::inner_product(q.row(i), q.row(i) + q.columns, k.row(j), 0.0));
    const double largest = *std::ranges::max_element(scores);
    double sum = 0;
    for (auto& score : scores) sum += score = std::exp(score - largest);
    for (std::size_t j = 0; j < scores.size(); ++j) {
      const double* value = v.row(first + static_cast<std::int64_t>(j));
      for (std::int64_t l = 0; l < v.columns; ++l) y.row(i)[l] += scores[j] / sum * value[l];
    }
  }
  return y;
}

}  // namespace assay::cases::llm
