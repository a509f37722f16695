// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/llm/graph_inputs.h"

#include <cmath>

#include "lab/record/case.h"
#include "tensor/fill.h"

namespace assay::cases::llm {
namespace {

// Calls set(i, j, value) for some elements of a matrix.
template <typename F>
void set_elements(Tensor& to, const F& each) {
  const std::int64_t rows = to.shape()[0], columns = to.shape()[1];
  visit_dtype(to.dtype(), [&]<typename T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, BFloat16> ||
                  std::is_same_v<T, Half>) {
      each(rows, columns, [&](std::int64_t i, std::int64_t j, double value) {
        to.as<T>()[static_cast<std::size_t>(i * columns + j)] = static_cast<T>(value);
      });
    }
  });
}

// Row i's first `places` elements are (p − (places − 1)/2) · 4/places, p running through all of
// 0 … places − 1: scores that no rounding can confuse.
void set_ladder(Tensor& to, std::int64_t places, const Philox& draws) {
  const auto n = static_cast<std::uint64_t>(places);
  set_elements(to, [&](std::int64_t rows, std::int64_t, const auto& set) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto at = static_cast<std::uint64_t>(2 * i);
      const auto step = 2 * uniform_below(draws[at], n / 2) + 1;
      const auto begin = uniform_below(draws[at + 1], n);
      for (std::uint64_t j = 0; j < n; ++j) {
        const auto place = static_cast<double>((step * j + begin) % n);
        set(i, static_cast<std::int64_t>(j),
            (place - static_cast<double>(places - 1) / 2) * (4 / static_cast<double>(places)));
      }
    }
  });
}

void set_angles(Tensor& to, std::int64_t first, bool is_cos) {
  set_elements(to, [&](std::int64_t rows, std::int64_t half, const auto& set) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t l = 0; l < half; ++l) {
        const double share = static_cast<double>(l) / static_cast<double>(half);
        const double angle = static_cast<double>(first + i) * std::pow(kRotaryBase, -share);
        set(i, l, is_cos ? std::cos(angle) : std::sin(angle));
      }
    }
  });
}

}  // namespace

double GraphProblem::bytes(bool weights_alone) const {
  double elements = 0;
  for (const auto& input : inputs) {
    if (weights_alone && !input.is_weight) continue;
    double count = 1;
    for (const auto extent : input.shape) count *= static_cast<double>(extent);
    elements += count;
  }
  return elements * static_cast<double>(size_of(dtype));
}

void fill_graph_inputs(const GraphProblem& problem, int set, bool weights, GraphTensors& to) {
  for (const auto& input : problem.inputs) {
    if (input.is_weight != weights) continue;
    const auto at = to.try_emplace(input.name, problem.dtype, Shape(input.shape));
    auto& tensor = at.first->second;
    const auto stream = [&](std::string_view name) {
      return lab::input_stream(problem.seed, name, weights ? 0 : set);
    };
    using Kind = GraphInput::Kind;
    if (input.kind == Kind::kCos || input.kind == Kind::kSin) {
      set_angles(tensor, input.first, input.kind == Kind::kCos);
      continue;
    }
    fill_uniform(tensor.mutable_view(), stream(input.name), input.low, input.high);
    if (input.kind == Kind::kRoutes) set_ladder(tensor, input.places, stream("routes"));
    if (input.kind == Kind::kRouter) {
      set_elements(tensor, [](std::int64_t rows, std::int64_t, const auto& set_one) {
        for (std::int64_t i = 0; i < rows; ++i) set_one(i, i, 1);
      });
    }
  }
}

}  // namespace assay::cases::llm
