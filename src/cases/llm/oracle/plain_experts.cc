// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/llm/oracle/plain_experts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace assay::cases::llm {

std::vector<std::vector<PlainRoute>> plain_routes(const PlainMatrix& scores, std::int64_t top,
                                                  bool renormalises) {
  std::vector<std::vector<PlainRoute>> routes;
  for (std::int64_t i = 0; i < scores.rows; ++i) {
    const double* of_row = scores.row(i);
    std::vector<std::int64_t> experts(static_cast<std::size_t>(scores.columns));
    std::iota(experts.begin(), experts.end(), 0);
    std::ranges::stable_sort(experts, [&](auto a, auto b) { return of_row[a] > of_row[b]; });
    const double largest = of_row[experts.front()];
    double all = 0, kept = 0;
    for (std::int64_t e = 0; e < scores.columns; ++e) all += std::exp(of_row[e] - largest);
    experts.resize(static_cast<std::size_t>(top));
    for (const auto e : experts) kept += std::exp(of_row[e] - largest);
    auto& route = routes.emplace_back();
    for (const auto e : experts) {
      route.push_back({e, std::exp(of_row[e] - largest) / (renormalises ? kept : all)});
    }
  }
  return routes;
}

PlainMatrix plain_mixture(const PlainMatrix& x, const std::vector<std::vector<PlainRoute>>& routes,
                          std::int64_t columns, const PlainExpert& expert) {
  struct Visit {
    std::int64_t row;
    double weight;
  };
  std::map<std::int64_t, std::vector<Visit>> visits;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    for (const auto& [e, weight] : routes[static_cast<std::size_t>(i)]) {
      visits[e].push_back({i, weight});
    }
  }
  PlainMatrix y(x.rows, columns);
  for (const auto& [e, of_expert] : visits) {
    std::vector<std::int64_t> rows;
    for (const auto& visit : of_expert) rows.push_back(visit.row);
    const auto out = expert(e, x.chosen(rows));
    for (std::int64_t i = 0; i < out.rows; ++i) {
      const auto& [row, weight] = of_expert[static_cast<std::size_t>(i)];
      for (std::int64_t j = 0; j < columns; ++j) y.row(row)[j] += weight * out.row(i)[j];
    }
  }
  return y;
}

PlainMatrix plain_experts(const PlainMatrix& x, const TensorView& router, const TensorView& gate,
                          const TensorView& up, const TensorView& down, std::int64_t top) {
  const auto routes = plain_routes(plain_linear(x, router), top);
  return plain_mixture(x, routes, down.extent(2), [&](std::int64_t e, const PlainMatrix& rows) {
    // They multiply from the right.
    const auto by = [e](const PlainMatrix& some, const TensorView& w) {
      return plain_product(some, w.select(0, e));
    };
    return by(plain_gate(by(rows, gate), by(rows, up)), down);
  });
}

}  // namespace assay::cases::llm
