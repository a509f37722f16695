// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// print_own_inputs PROBLEM POINT SET OUT: the inputs of a problem (JSON, as in a definition) at a
// point, for the comparison with Python's (tests/inputs).
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cases/own/inputs.h"
#include "cases/own/problem.h"
#include "tensor/safetensors.h"
#include "tensor/tensor.h"

int main(int argc, char** argv) {
  using namespace assay;
  if (argc != 5) return 2;
  try {
    const auto problem = cases::own::problem_from_json(parse_json(argv[1], "problem"), "problem");
    const auto point = parse_json(argv[2], "point");
    std::vector<Tensor> tensors;
    for (const auto& input : problem.inputs) {
      tensors.emplace_back(input.dtype_at(point), input.shape_at(point));
      cases::own::fill_input(input, point, std::atoi(argv[3]), tensors.back().mutable_view());
    }
    std::vector<std::pair<std::string, TensorView>> named;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      named.emplace_back(problem.inputs[i].name, tensors[i].view());
    }
    write_safetensors(argv[4], named);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
