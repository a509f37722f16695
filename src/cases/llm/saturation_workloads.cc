// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "cases/llm/case_list.h"
#include "cases/llm/saturation_inputs.h"
#include "egraph/mathematics.h"
#include "tensor/safetensors.h"

namespace assay::cases::llm {
namespace {

class Saturation : public lab::Workload {
 public:
  Saturation(const Json& point, bool explains)
      : point_(point),
        explains_(explains),
        nodes_(static_cast<std::size_t>(lab::point_int(point, "iterations"))) {}

  void load(int slot, int set) override {
    auto& terms = terms_[static_cast<std::size_t>(slot)];
    terms.clear();
    for (const auto& text : saturation_terms(point_, set)) {
      terms.push_back(egraph::parse_term(text, mathematics_.vocabulary));
    }
  }
  void call(int slot) override {
    egraph::EGraph graph(nullptr, explains_);
    for (const auto& term : terms_[static_cast<std::size_t>(slot)]) egraph::add_term(graph, *term);
    const auto report = egraph::saturate(graph, mathematics_.rules,
                                         {.nodes = ~std::size_t{0},
                                          .iterations = static_cast<int>(nodes_.size()),
                                          .seconds = 3600,
                                          .matches = ~std::size_t{0}});
    // Where nothing follows any more, it stays as it is.
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto& counts = report.nodes_after;
      nodes_[i] = static_cast<std::int64_t>(counts[std::min(i, counts.size() - 1)]);
    }
  }
  void poison_outputs() override { std::ranges::fill(nodes_, -1); }
  void write_outputs(const std::string& path) override {
    const Shape shape({static_cast<std::int64_t>(nodes_.size())});
    write_safetensors(path, {{"nodes", TensorView(DType::kI64, nodes_.data(), shape)}});
  }

 private:
  const Json point_;
  const bool explains_;
  egraph::Mathematics mathematics_ = egraph::mathematics();
  std::array<std::vector<egraph::TermPtr>, 2> terms_;
  std::vector<std::int64_t> nodes_;
};

}  // namespace

void add_saturation_workloads(lab::WorkloadRegistry& workloads) {
  for (const bool explains : {false, true}) {
    workloads.add("egraph_saturation", explains ? "assay-explained" : "assay",
                  [explains](const Json& point, int) -> std::unique_ptr<lab::Workload> {
                    return std::make_unique<Saturation>(point, explains);
                  });
  }
}

}  // namespace assay::cases::llm
