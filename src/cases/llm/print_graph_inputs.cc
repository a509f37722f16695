// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// print_graph_inputs CASE POINT SET OUT         the inputs of a point, as .safetensors
#include <cstdio>
#include <cstdlib>

#include "cases/llm/block_point.h"
#include "cases/llm/fusion_point.h"
#include "tensor/safetensors.h"

int main(int argc, char** argv) {
  using namespace assay;
  if (argc != 5) {
    std::fputs("usage: print_graph_inputs CASE POINT SET OUT\n", stderr);
    return 2;
  }
  try {
    const auto point = parse_json(argv[2], "point");
    const cases::llm::GraphProblem problem =
        std::string_view(argv[1]) == "graph_fusion"
            ? cases::llm::GraphProblem(cases::llm::FusionPoint(point))
            : cases::llm::GraphProblem(cases::llm::BlockPoint(point));
    cases::llm::GraphTensors tensors;
    for (const bool weights : {false, true})
      fill_graph_inputs(problem, std::atoi(argv[3]), weights, tensors);
    std::vector<std::pair<std::string, TensorView>> views;
    for (const auto& [name, tensor] : tensors) views.emplace_back(name, tensor.view());
    write_safetensors(argv[4], views);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "print_graph_inputs: %s\n", e.what());
    return 1;
  }
  return 0;
}
