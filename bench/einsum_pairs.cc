// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Contracts pairs that it is told of, for bench/einsum_pairs.py, which times NumPy in between:
//
//   plan EXPRESSION SHAPES DTYPE   e.g. plan ij,jk->ik 64x64,64x64 f32; answers kernel and
//   prediction time COUNT                     answers the seconds of the fastest of so many calls
//
// One thread, the calibration of this machine if there is one. Results are C-contiguous.
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <limits>
#include <optional>
#include <sstream>

#include "base/clock.h"
#include "base/error.h"
#include "einsum/calibrate/calibration.h"
#include "einsum/einsum.h"
#include "tensor/fill.h"

namespace {

using namespace assay;

std::vector<Shape> shapes_from(const std::string& text) {
  std::vector<Shape> shapes;
  std::istringstream all(text);
  for (std::string one; std::getline(all, one, ',');) {
    std::vector<std::int64_t> extents;
    std::istringstream parts(one);
    for (std::string part; std::getline(parts, part, 'x');) extents.push_back(std::stoll(part));
    shapes.emplace_back(extents);
  }
  return shapes;
}

struct Pair {
  std::vector<Tensor> operands;
  std::vector<TensorView> views;
  std::shared_ptr<const einsum::Plan> plan;
  Tensor out;
};

Pair read_pair(einsum::Engine& engine, std::istream& words) {
  std::string expression, shapes, dtype;
  words >> expression >> shapes >> dtype;
  Pair pair{{}, {}, nullptr, Tensor(DType::kF32, Shape())};
  for (const auto& shape : shapes_from(shapes)) {
    pair.operands.emplace_back(dtype_from_name(dtype, "dtype"), shape);
    fill_uniform(pair.operands.back().mutable_view(), Philox(pair.operands.size()), -1, 1);
  }
  for (const auto& operand : pair.operands) pair.views.push_back(operand.view());
  pair.plan = engine.plan(expression, pair.views);
  pair.out = Tensor(pair.plan->result, pair.plan->output_shape());
  return pair;
}

}  // namespace

int main() {
  try {
    einsum::Engine engine({.threads = 1, .model = einsum::machine_model(1)});
    einsum::Workspace workspace;
    std::optional<Pair> pair;
    for (std::string line; std::getline(std::cin, line);) {
      std::istringstream words(line);
      std::string verb;
      words >> verb;
      if (verb == "plan") {
        pair.emplace(read_pair(engine, words));
        std::string kernels;
        for (const auto& step : pair->plan->steps) {
          kernels += fmt::format("{}{}{}", kernels.empty() ? "" : "+", name_of(step.lowered.kernel),
                                 step.lowered.copies > 0 ? "(copy)" : "");
        }
        fmt::print("{} {}\n", kernels, pair->plan->predicted_s);
      } else {
        check(verb == "time" && pair.has_value(), "a pair is planned before it is timed");
        int count = 1;
        words >> count;
        double best = std::numeric_limits<double>::infinity();
        for (int i = 0; i < count; ++i) {
          const auto begin = monotonic_ns();
          pair->plan->run_into(pair->views, pair->out.mutable_view(), workspace);
          best = std::min(best, 1e-9 * static_cast<double>(monotonic_ns() - begin));
        }
        fmt::print("{}\n", best);
      }
      std::fflush(stdout);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "einsum_pairs: %s\n", e.what());
    return 1;
  }
  return 0;
}
