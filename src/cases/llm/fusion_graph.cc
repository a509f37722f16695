// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/llm/oracle/plain_fusion.h"
#include "cases/llm/point_graphs.h"
#include "compiler/graph/graph_tensor.h"

namespace assay::cases::llm {
namespace {

using compiler::GraphTensor;

GraphTensor fused(const std::string& graph, const std::map<std::string, GraphTensor>& in) {
  const auto& a = in.at("a");
  const auto chain = [&] { return sqrt(sin(a + in.at("b"))); };
  if (graph == "chain") return chain();
  if (graph == "chain_sum") return chain().sum(-1);
  if (graph == "affine") return relu(a * in.at("b") + a) - in.at("b");
  if (graph == "gate") return silu(a) * in.at("b");
  if (graph == "norm") return rms_norm(a, in.at("w"), kFusionEpsilon);
  if (graph == "softmax") return softmax(a);
  const auto t = a + in.at("b");
  return t * sin(t) + max(t, a);
}

}  // namespace

compiler::Graph fusion_graph(const FusionPoint& point) {
  compiler::Graph graph;
  std::map<std::string, GraphTensor> in;
  for (const auto& input : point.inputs) {
    const std::vector<compiler::Dim> shape(input.shape.begin(), input.shape.end());
    in.emplace(input.name,
               GraphTensor::input(graph, input.name, point.dtype, shape).cast(DType::kF32));
  }
  fused(point.graph, in).cast(point.dtype).set_output("y");
  return graph;
}

}  // namespace assay::cases::llm
