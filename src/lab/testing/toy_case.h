// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A case for the tests of the runner: y = 2x, small enough to be read at a glance.

#include <cmath>
#include <string>
#include <vector>

#include "lab/record/case.h"

namespace assay::lab {

class ToyCase : public Case {
 public:
  explicit ToyCase(std::vector<Provider> providers = {{.id = "plain", .description = "doubles"}})
      : providers_(std::move(providers)) {}

  std::string_view suite() const override { return "toy"; }
  std::string_view name() const override { return "toy_double"; }
  std::string_view description() const override { return "y = 2 x"; }
  const PointSchema& schema() const override {
    static const PointSchema kSchema({{"n", "elements", 1, 1 << 20, {}, ""},
                                      {"dtype", "element type", 0, 0, {"f64"}, ""},
                                      {"seed", "of the inputs", 0, 1000, {}, ""}});
    return kSchema;
  }
  Json point(int n) const { return {{"n", n}, {"dtype", "f64"}, {"seed", 0}}; }
  std::vector<Json> representative_points() const override { return {point(8)}; }
  std::vector<Json> standard_points() const override { return {point(8), point(16)}; }
  std::vector<Provider> providers() const override { return providers_; }
  std::string_view baseline() const override { return providers_.front().id; }
  std::optional<Skip> why_not(const Json& p, std::string_view provider,
                              std::string_view) const override {
    if (provider == "even-only" && p["n"].get<int>() % 2 != 0) {
      return Skip{"provider_not_applicable", "even sizes only"};
    }
    return std::nullopt;
  }
  std::uint64_t memory_estimate(const Json& p, std::string_view provider) const override {
    return p["n"].get<std::uint64_t>() * (provider == "greedy" ? 1ull << 50 : 16);
  }
  std::map<std::string, double> work(const Json& p) const override {
    return {{"flops", p["n"].get<double>()}, {"bytes", 16 * p["n"].get<double>()}};
  }
  std::vector<Expectation> expect(const Json& p, int set, std::int64_t /*draw*/) const override {
    Expectation e;
    e.output = "y";
    e.dtype = "f64";
    e.shape = {p["n"].get<std::int64_t>()};
    e.rtol = 1e-12;
    e.atol = 1e-300;
    e.oracle = "exact";
    const auto stream = input_stream(p["seed"].get<std::int64_t>(), "x", set);
    for (std::int64_t i = 0; i < e.shape[0]; ++i) {
      e.rows.push_back(i);
      e.values.push_back(2 * unit_interval(stream[static_cast<std::uint64_t>(i)]));
    }
    return {e};
  }

 private:
  std::vector<Provider> providers_;
};

}  // namespace assay::lab
