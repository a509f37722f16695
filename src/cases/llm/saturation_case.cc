// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "cases/llm/case_list.h"
#include "cases/llm/cases.h"
#include "cases/llm/oracle/plain_saturation.h"
#include "cases/llm/saturation_inputs.h"
#include "egraph/mathematics.h"

namespace assay::cases::llm {
namespace {

// Nodes after each iteration of the mathematics benchmark: a number for each that only the right
// graph has.
class SaturationCase : public lab::Case {
 public:
  std::string_view suite() const override { return kSuite; }
  std::string_view name() const override { return "egraph_saturation"; }
  std::string_view description() const override {
    return "equality saturation of the mathematics benchmark: nodes after each iteration";
  }
  const lab::PointSchema& schema() const override {
    static const lab::PointSchema kSchema({{"iterations", "rounds of all rules", 1, 12, {}, ""},
                                           {"dtype", "of the counts", 0, 0, {"i64"}, ""},
                                           {"seed", "of one more expression", 0, 1 << 30, {}, ""}});
    return kSchema;
  }
  static Json point(int iterations) {
    return {{"iterations", iterations}, {"dtype", "i64"}, {"seed", 0}};
  }
  std::vector<Json> representative_points() const override { return {point(8)}; }
  std::vector<Json> standard_points() const override { return {point(8), point(9), point(10)}; }
  std::vector<Json> all_points() const override {
    return {point(5), point(8), point(9), point(10), point(11)};
  }
  std::vector<lab::Provider> providers() const override {
    return {
        {.id = "assay", .description = "our e-graph: indexed joins over what is new"},
        {.id = "assay-explained", .description = "the same, and every join kept with its reason"},
        {.id = "egglog",
         .description = "egglog, its rules declared beforehand",
         .runtime = lab::Runtime::kPython,
         .modules = {"egglog"}}};
  }
  std::string_view baseline() const override { return "egglog"; }
  std::optional<lab::Skip> why_not(const Json&, std::string_view, std::string_view) const override {
    return std::nullopt;
  }
  std::uint64_t memory_estimate(const Json& point, std::string_view) const override {
    // Seven times as many nodes with each iteration; some hundred bytes each.
    double bytes = 256 << 20;
    double nodes = 3200;
    for (auto i = lab::point_int(point, "iterations"); i > 7; --i) nodes *= 7.5;
    return static_cast<std::uint64_t>(bytes + 600 * nodes);
  }
  std::map<std::string, double> work(const Json&) const override { return {}; }
  std::vector<lab::Expectation> expect(const Json& point, int set,
                                       std::int64_t /*draw*/) const override {
    std::vector<PlainRule> rules;
    for (const auto& rule : egraph::mathematics_text().rules)
      rules.push_back({rule.left, rule.right});
    lab::Expectation e;
    e.output = "nodes";
    e.dtype = "i64";
    e.oracle = "sets and maps, all matches anew in each iteration";
    e.integers = plain_saturation(rules, saturation_terms(point, set),
                                  static_cast<int>(lab::point_int(point, "iterations")));
    e.shape = {static_cast<std::int64_t>(e.integers.size())};
    for (std::size_t i = 0; i < e.integers.size(); ++i) {
      e.rows.push_back(static_cast<std::int64_t>(i));
      e.values.push_back(static_cast<double>(e.integers[i]));
    }
    return {e};
  }
};

}  // namespace

std::unique_ptr<lab::Case> saturation_case() { return std::make_unique<SaturationCase>(); }

}  // namespace assay::cases::llm
