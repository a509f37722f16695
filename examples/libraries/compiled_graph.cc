// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// assay::compiler: a tensor graph, the program of kernels that it becomes, verified and run.
#include <algorithm>
#include <cstdio>
#include <string>

#include "compiler/choose/compile.h"
#include "compiler/cpu/cpu_runtime.h"
#include "compiler/graph/graph_tensor.h"
#include "compiler/run/executor.h"
#include "compiler/verify/program_verifier.h"

using namespace assay::compiler;
using assay::DType;
using assay::Tensor;

int main() {
  Graph graph;
  const auto rows = graph.symbol("rows", 1, 1000);
  const auto x = GraphTensor::input(graph, "x", DType::kF32, {rows, 4});
  const auto weights = GraphTensor::input(graph, "weights", DType::kF32, {4, 3});
  softmax(matmul(x, weights)).set_output("y");

  const auto program = compile_default(graph);
  std::printf("%zu nodes, %zu kernels:", graph.size(), program.kernels.size());
  for (const auto& kernel : program.kernels) {
    std::printf(" %s", std::string(kind_of(kernel)).c_str());
  }
  const auto runtime = cpu_runtime(2);
  const auto mistake = ProgramVerifier(graph).mistake_of(program, runtime);
  std::printf("; %s\n", mistake ? mistake->c_str() : "verified");

  Tensor given(DType::kF32, {2, 4}), factor(DType::kF32, {4, 3});
  std::ranges::fill(given.as<float>(), 1.0F);
  for (std::size_t i = 0; i < 12; ++i) factor.as<float>()[i] = i % 3 == 2 ? 0.25F : 0.0F;
  Executor executor(program, runtime);
  const auto result =
      run_program(executor, {{"x", given.view()}, {"weights", factor.view()}}, {{"rows", 2}});
  const auto y = result.outputs.at("y").as<float>();
  std::printf("softmax of 0, 0, 1: %.4f %.4f %.4f\n", y[0], y[1], y[2]);
}
