// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/llm/oracle/plain_fusion.h"

#include <algorithm>
#include <cmath>

namespace assay::cases::llm {
namespace {

struct FusedRow {
  const TensorView &a, &b, &w;
  std::int64_t row, width;

  double x(std::int64_t j) const { return value_as_double(a, row * width + j); }
  double y(std::int64_t j) const { return value_as_double(b, row * width + j); }
  double chain(std::int64_t j) const { return std::sqrt(std::sin(x(j) + y(j))); }

  void add_elementwise(std::string_view graph, std::vector<double>& to) const {
    for (std::int64_t j = 0; j < width; ++j) {
      const double t = graph == "diamond" ? x(j) + y(j) : 0;
      if (graph == "chain") {
        to.push_back(chain(j));
      } else if (graph == "gate") {
        to.push_back(x(j) / (1 + std::exp(-x(j))) * y(j));
      } else if (graph == "affine") {
        to.push_back(std::max(x(j) * y(j) + x(j), 0.0) - y(j));
      } else {
        check(graph == "diamond", "the oracle knows the graph");
        to.push_back(t * std::sin(t) + std::max(t, x(j)));
      }
    }
  }
  void add_chain_sum(std::vector<double>& to) const {
    double sum = 0;
    for (std::int64_t j = 0; j < width; ++j) sum += chain(j);
    to.push_back(sum);
  }
  void add_norm(std::vector<double>& to) const {
    double squares = 0;
    for (std::int64_t j = 0; j < width; ++j) squares += x(j) * x(j);
    const double root = std::sqrt(squares / static_cast<double>(width) + kFusionEpsilon);
    for (std::int64_t j = 0; j < width; ++j) to.push_back(x(j) / root * value_as_double(w, j));
  }
  void add_softmax(std::vector<double>& to) const {
    double largest = x(0), sum = 0;
    for (std::int64_t j = 0; j < width; ++j) largest = std::max(largest, x(j));
    for (std::int64_t j = 0; j < width; ++j) sum += std::exp(x(j) - largest);
    for (std::int64_t j = 0; j < width; ++j) to.push_back(std::exp(x(j) - largest) / sum);
  }
};

}  // namespace

std::vector<double> plain_fusion(std::string_view graph, const TensorView& a, const TensorView& b,
                                 const TensorView& w, std::span<const std::int64_t> rows) {
  std::vector<double> values;
  for (const auto row : rows) {
    const FusedRow fused{a, b, w, row, a.extent(1)};
    if (graph == "chain_sum") {
      fused.add_chain_sum(values);
    } else if (graph == "norm") {
      fused.add_norm(values);
    } else if (graph == "softmax") {
      fused.add_softmax(values);
    } else {
      fused.add_elementwise(graph, values);
    }
  }
  return values;
}

}  // namespace assay::cases::llm
