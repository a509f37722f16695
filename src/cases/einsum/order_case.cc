// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// The search for an order of contractions, by itself.

#include <algorithm>
#include <map>

#include "base/error.h"
#include "cases/einsum/case_list.h"
#include "cases/einsum/contractions.h"
#include "cases/einsum/draws.h"
#include "cases/einsum/oracle/path_cost.h"
#include "einsum/search/search.h"
#include "einsum/search/search_greedy.h"
#include "tensor/safetensors.h"

namespace assay::cases::einsum {
namespace {

namespace engine = assay::einsum;

constexpr const char* kRandom = "random_100";  // another one for each seed
constexpr double kExact = 1e-12;               // costs are whole numbers below 2^53

const Contraction* named_network(const std::string& name) {
  for (const auto& c : network_contractions()) {
    if (c.name == name) return &c;
  }
  return nullptr;
}

// A connected network: a random tree over the terms, more labels between random pairs of them, and
// two that the result keeps. Extents from 2 to kLargest.
LabelNetwork random_network(std::uint64_t seed) {
  constexpr int kTerms = 100, kShared = 150, kOpen = 2, kLargest = 8;
  Draws draws(seed);
  LabelNetwork network;
  network.terms.resize(kTerms);
  const auto add_label = [&](std::initializer_list<std::size_t> terms) {
    const int label = static_cast<int>(network.extents.size());
    network.extents.push_back(static_cast<double>(2 + draws.below(kLargest - 1)));
    for (const auto term : terms) network.terms[term].insert(label);
    return label;
  };
  for (std::size_t i = 1; i < kTerms; ++i) add_label({i, draws.below(i)});
  while (network.extents.size() < kShared) {
    const auto one = draws.below(kTerms), other = draws.below(kTerms);
    if (one != other) add_label({one, other});
  }
  for (int i = 0; i < kOpen; ++i) network.output.insert(add_label({draws.below(kTerms)}));
  return network;
}

LabelNetwork network_of(const Json& point) {
  const auto* c = named_network(lab::point_word(point, "network"));
  if (c == nullptr) {
    return random_network(static_cast<std::uint64_t>(lab::point_int(point, "seed")));
  }
  LabelNetwork network;
  std::map<char, int> number;
  for (const auto& [letter, extent] : c->extent_of()) {
    number[letter] = static_cast<int>(network.extents.size());
    network.extents.push_back(static_cast<double>(extent));
  }
  const auto labels = [&](const std::string& letters) {
    std::set<int> found;
    for (const char letter : letters) found.insert(number.at(letter));
    return found;
  };
  for (const auto& term : c->terms()) network.terms.push_back(labels(term));
  network.output = labels(c->output());
  return network;
}

engine::Network searched_network(const LabelNetwork& plain) {
  const auto labels = [](const std::set<int>& of) {
    engine::LabelSet set;
    for (const int label : of) set.insert(static_cast<engine::Label>(label));
    return set;
  };
  engine::Network network{plain.extents, {}, labels(plain.output)};
  for (const auto& term : plain.terms) network.terms.push_back(labels(term));
  return network;
}

class EinsumOrder : public lab::Case {
 public:
  std::string_view suite() const override { return "einsum"; }
  std::string_view name() const override { return "einsum_order"; }
  std::string_view description() const override {
    return "the search for an order of pairwise contractions that needs few operations";
  }
  const lab::PointSchema& schema() const override {
    static const lab::PointSchema kSchema(
        {{"network", "which one", 0, 0, network_names(), ""},
         {"seed", "of the random network and of the search", 0, 1 << 30, {}, ""}});
    return kSchema;
  }
  std::vector<Json> representative_points() const override { return {point("attention", 0)}; }
  std::vector<Json> standard_points() const override {
    std::vector<Json> points;
    for (const auto& c : network_contractions()) points.push_back(point(c.name, 0));
    for (const int seed : {1, 2, 3}) points.push_back(point(kRandom, seed));
    return points;
  }
  std::vector<lab::Provider> providers() const override {
    return {{.id = "assay",
             .description = "exact to 16 terms; greedy, bisection and annealing beyond",
             .threads = 1},
            {.id = "random-greedy",
             .description = "the best of 128 random greedy orders",
             .threads = 1,
             .unequal_work = "finds some order, not the best one"}};
  }
  std::string_view baseline() const override { return "assay"; }
  std::optional<lab::Skip> why_not(const Json&, std::string_view, std::string_view) const override {
    return std::nullopt;
  }
  std::uint64_t memory_estimate(const Json&, std::string_view) const override {
    return std::uint64_t{512} << 20;
  }
  std::map<std::string, double> work(const Json&) const override { return {}; }
  std::vector<lab::Expectation> expect(const Json&, int, std::int64_t) const override { return {}; }
  // Every step takes nodes that are there; where the least number of operations is known, a
  // search that promises it has found it.
  std::optional<lab::Certificate> certify(const Json& json, int, std::string_view provider,
                                          const std::string& file) const override {
    const SafetensorsFile output(file);
    const auto& view = output.view("path");
    if (view.dtype() != DType::kI32) fail("'path' is not of i32");
    const auto* path = view.data<std::int32_t>();
    const auto cost = path_cost(network_of(json), {path, path + view.element_count()});
    lab::Certificate certificate{"operations counted step by step; the least that are known",
                                 view.element_count(),
                                 cost.wrong,
                                 {}};
    if (!cost.wrong.empty()) return certificate;
    certificate.metrics["path_flop"] = cost.flop;
    const auto* known = named_network(lab::point_word(json, "network"));
    if (known != nullptr && provider == "assay" && cost.flop > (1 + kExact) * known->flop) {
      certificate.wrong =
          fmt::format("an order of {:.0f} operations; {:.0f} are enough", cost.flop, known->flop);
    }
    return certificate;
  }

 private:
  static Json point(const std::string& network, int seed) {
    return {{"network", network}, {"seed", seed}};
  }
  static std::vector<std::string> network_names() {
    std::vector<std::string> names;
    for (const auto& c : network_contractions()) names.push_back(c.name);
    names.emplace_back(kRandom);
    return names;
  }
};

class OrderWorkload : public lab::Workload {
 public:
  OrderWorkload(const Json& point, bool greedy)
      : network_(searched_network(network_of(point))),
        path_(DType::kI32, Shape({static_cast<std::int64_t>(network_.terms.size()) - 1, 2})),
        greedy_(greedy) {
    options_.objective = engine::Objective::kFlop;
    options_.seed = static_cast<std::uint64_t>(lab::point_int(point, "seed"));
  }
  void load(int, int) override {}  // a network has no inputs beside itself
  void call(int) override {
    engine::Tree tree;
    if (greedy_) {
      tree =
          engine::search_random_greedy(network_, options_).back();  // each is better than the last
    } else {
      tree = engine::search(network_, options_)->tree;
    }
    flop_ = engine::cost_of(network_, tree, engine::Objective::kFlop, nullptr);
    auto path = path_.as<std::int32_t>();
    for (std::size_t i = 0; i < tree.merges.size(); ++i) {
      path[2 * i] = tree.merges[i].first;
      path[2 * i + 1] = tree.merges[i].second;
    }
  }
  void poison_outputs() override { std::ranges::fill(path_.bytes(), std::byte{0xFF}); }
  void write_outputs(const std::string& path) override {
    write_safetensors(path, {{"path", path_.view()}});
  }
  std::map<std::string, double> metrics() const override { return {{"path_flop", flop_}}; }

 private:
  engine::Network network_;
  engine::SearchOptions options_;
  Tensor path_;
  bool greedy_;
  double flop_ = 0;
};

}  // namespace

std::unique_ptr<lab::Case> einsum_order_case() { return std::make_unique<EinsumOrder>(); }

void add_order_workloads(lab::WorkloadRegistry& workloads) {
  for (const bool greedy : {false, true}) {
    workloads.add("einsum_order", greedy ? "random-greedy" : "assay",
                  [greedy](const Json& point, int) {
                    return std::make_unique<OrderWorkload>(point, greedy);
                  });
  }
}

}  // namespace assay::cases::einsum
