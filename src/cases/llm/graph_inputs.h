// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The inputs of a graph: what each is called, how large it is and how it is drawn.
// python/assay_worker/graph_inputs.py makes the same bits.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace assay::cases::llm {

struct GraphInput {
  enum class Kind : std::uint8_t {
    kUniform,
    kRoutes,  // the same, but the first `places` columns of each row are a shuffled ladder
    kRouter,  // the same, but ones on the diagonal
    kCos,     // [positions, half]: cos((first + i) θ^(−l/half)), drawn from nothing
    kSin,
  };
  std::string name;  // of the stream too: at most seven characters
  std::vector<std::int64_t> shape;
  double low = 0, high = 1;
  // A weight is the same in every set: a model has its weights once.
  bool is_weight = false;
  Kind kind = Kind::kUniform;
  std::int64_t places = 0;  // kRoutes: steps of the ladder, a power of two
  std::int64_t first = 0;   // kCos, kSin: position of row 0
};
inline constexpr double kRotaryBase = 5e5;  // θ

struct GraphProblem {
  DType dtype = DType::kF32;
  std::int64_t seed = 0;
  std::vector<GraphInput> inputs;

  // Bytes of all inputs, of weights alone.
  double bytes(bool weights_alone = false) const;
};

using GraphTensors = std::map<std::string, Tensor>;
// Draws input set `set` of what is a weight, or of what is none, into `to`.
void fill_graph_inputs(const GraphProblem& problem, int set, bool weights, GraphTensors& to);

}  // namespace assay::cases::llm
