// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <memory>

#include "cases/llm/case_list.h"
#include "cases/llm/point_graphs.h"
#include "compiler/reference/interpret.h"
#include "tensor/safetensors.h"

namespace assay::cases::llm {
namespace {

// The weights once, what else goes in once for each slot.
class GraphSlots {
 public:
  explicit GraphSlots(GraphProblem problem) : problem_(std::move(problem)) {
    fill_graph_inputs(problem_, 0, true, weights_);
  }
  void load(int slot, int set) {
    fill_graph_inputs(problem_, set, false, slots_[static_cast<std::size_t>(slot)]);
  }
  compiler::InputViews views(int slot) const {
    compiler::InputViews views;
    for (const auto* some : {&weights_, &slots_[static_cast<std::size_t>(slot)]}) {
      for (const auto& [name, tensor] : *some) views.emplace(name, tensor.view());
    }
    return views;
  }

 private:
  GraphProblem problem_;
  GraphTensors weights_;
  std::array<GraphTensors, 2> slots_;
};

class InterpretedGraph : public lab::Workload {
 public:
  InterpretedGraph(GraphProblem problem, compiler::Graph graph)
      : slots_(std::move(problem)), graph_(std::move(graph)) {}

  void load(int slot, int set) override { slots_.load(slot, set); }
  void call(int slot) override { outputs_ = compiler::interpret(graph_, slots_.views(slot), {}); }
  void poison_outputs() override { outputs_.clear(); }
  void write_outputs(const std::string& path) override {
    std::vector<std::pair<std::string, TensorView>> all;
    for (const auto& [name, tensor] : outputs_) all.emplace_back(name, tensor.view());
    write_safetensors(path, all);
  }

 private:
  GraphSlots slots_;
  compiler::Graph graph_;
  compiler::OutputTensors outputs_;
};

template <typename Point, compiler::Graph (*kGraph)(const Point&)>
std::unique_ptr<lab::Workload> interpreted(const Json& json, int) {
  const Point point(json);
  return std::make_unique<InterpretedGraph>(point, kGraph(point));
}

}  // namespace

void add_graph_workloads(lab::WorkloadRegistry& workloads) {
  workloads.add("graph_fusion", "assay-reference", interpreted<FusionPoint, fusion_graph>);
  workloads.add("graph_blocks", "assay-reference", interpreted<BlockPoint, block_graph>);
}

}  // namespace assay::cases::llm
