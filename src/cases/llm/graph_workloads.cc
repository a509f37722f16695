// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>

#include "cases/llm/case_list.h"
#include "cases/llm/point_graphs.h"
#include "compiler/choose/compile.h"
#include "compiler/choose/search.h"
#include "compiler/cpu/cpu_runtime.h"
#include "compiler/reference/interpret.h"
#include "compiler/run/executor.h"
#include "tensor/safetensors.h"

namespace assay::cases::llm {
namespace {

// What a search may cost: some tens of candidates of a block, each verified and timed.
constexpr int kCandidates = 40;
constexpr double kSearchSeconds = 20;

// The weights once, what else goes in once for each slot.
class GraphSlots {
 public:
  explicit GraphSlots(GraphProblem problem) : problem_(std::move(problem)) {
    fill_graph_inputs(problem_, 0, true, weights_);
  }
  void load(int slot, int set) {
    fill_graph_inputs(problem_, set, false, slots_[static_cast<std::size_t>(slot)]);
  }
  Tensor& tensor(int slot, const std::string& name) {
    const auto weight = weights_.find(name);
    return weight != weights_.end() ? weight->second
                                    : slots_[static_cast<std::size_t>(slot)].at(name);
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

// A program of the compiler. Caches are its state: they are replaced where they lie.
class CompiledGraph : public lab::Workload {
 public:
  CompiledGraph(GraphProblem problem, const compiler::Graph& graph,
                const std::function<compiler::Program()>& program, const compiler::Runtime& runtime)
      : slots_(std::move(problem)),
        graph_outputs_(graph.outputs()),
        started_(Clock::now()),
        executor_(program(), runtime),
        compile_s_(std::chrono::duration<double>(Clock::now() - started_).count()) {
    for (const auto& buffer : executor_.program().buffers) {
      if (buffer.kind != Kind::kOutput) continue;
      std::vector<std::int64_t> shape;
      for (const auto& extent : buffer.shape) shape.push_back(extent.at({}));
      outputs_.emplace(buffer.name, Tensor(buffer.dtype, Shape(shape)));
    }
  }

  void load(int slot, int set) override {
    slots_.load(slot, set);
    auto& pointers = pointers_[static_cast<std::size_t>(slot)];
    pointers.clear();
    for (const auto& buffer : executor_.program().buffers) {
      if (buffer.kind == Kind::kTemporary) continue;
      auto& tensor = buffer.kind == Kind::kOutput ? outputs_.at(buffer.name)
                                                  : slots_.tensor(slot, buffer.name);
      pointers.push_back(tensor.bytes().data());
    }
  }
  void call(int slot) override {
    last_slot_ = slot;
    executor_.run({}, pointers_[static_cast<std::size_t>(slot)]);
  }
  void poison_outputs() override {
    for (auto& [name, tensor] : outputs_)
      std::memset(tensor.bytes().data(), 0xFF, tensor.bytes().size());
  }
  void write_outputs(const std::string& path) override {
    std::vector<std::pair<std::string, TensorView>> all;
    for (const auto& output : graph_outputs_) {
      all.emplace_back(output.name, output.replaces.empty()
                                        ? outputs_.at(output.name).view()
                                        : slots_.tensor(last_slot_, output.replaces).view());
    }
    write_safetensors(path, all);
  }
  std::map<std::string, double> metrics() const override { return {{"compile_time", compile_s_}}; }

 private:
  using Kind = compiler::Buffer::Kind;
  using Clock = std::chrono::steady_clock;

  GraphSlots slots_;
  std::vector<compiler::Output> graph_outputs_;
  Clock::time_point started_;
  compiler::Executor executor_;
  double compile_s_;
  GraphTensors outputs_;
  std::array<std::vector<std::byte*>, 2> pointers_;
  int last_slot_ = 0;
};

// Without a search the program is the one that the compiler chooses; what a search finds is kept by
// nobody, so that every attempt pays for its own.
template <typename Point, compiler::Graph (*kGraph)(const Point&), bool kSearched>
std::unique_ptr<lab::Workload> compiled(const Json& json, int cores) {
  const Point point(json);
  const auto graph = kGraph(point);
  const auto runtime = compiler::cpu_runtime(cores);
  if constexpr (!kSearched) {
    return std::make_unique<CompiledGraph>(
        point, graph, [&] { return compiler::compile_default(graph); }, runtime);
  } else {
    const compiler::SearchOptions options{.candidates = kCandidates, .seconds = kSearchSeconds};
    return std::make_unique<CompiledGraph>(
        point, graph, [&] { return compiler::search(graph, runtime, options).program; }, runtime);
  }
}
template <typename Point, compiler::Graph (*kGraph)(const Point&)>
std::unique_ptr<lab::Workload> interpreted(const Json& json, int) {
  const Point point(json);
  return std::make_unique<InterpretedGraph>(point, kGraph(point));
}

}  // namespace

void add_graph_workloads(lab::WorkloadRegistry& workloads) {
  workloads.add("graph_fusion", "assay-reference", interpreted<FusionPoint, fusion_graph>);
  workloads.add("graph_fusion", "assay", compiled<FusionPoint, fusion_graph, false>);
  workloads.add("graph_fusion", "assay-searched", compiled<FusionPoint, fusion_graph, true>);
  workloads.add("graph_blocks", "assay-reference", interpreted<BlockPoint, block_graph>);
  workloads.add("graph_blocks", "assay", compiled<BlockPoint, block_graph, false>);
  workloads.add("graph_blocks", "assay-searched", compiled<BlockPoint, block_graph, true>);
}

}  // namespace assay::cases::llm
