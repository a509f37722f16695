// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/row_parts.h"

#include <gtest/gtest.h>

#include "lab/record/request.h"

namespace assay::lab {
namespace {

// What another hand or a later version wrote: null, of another type, unknown, at every depth.
TEST(RowParts, WhatIsNotKnownPassesThroughUnchanged) {
  const Json odd = {{"commit", nullptr},
                    {"dirty", "perhaps"},
                    {"start_ns", 1.5},
                    {"cpus", {0, "one"}},
                    {"noise", {{"before", {{"load", {1, 2}}, {"later", 3}}}, {"after", 7}}},
                    {"versions", {{"fmt", 9}}},
                    {"side", {{"label", "a"}, {"worker_sha256", nullptr}, {"later", true}}},
                    {"later", {{"deep", {1, nullptr}}}},
                    {"device", nullptr},
                    {"unequal_work", nullptr},
                    {"identity", nullptr}};
  const auto p = provenance_from_json(odd);
  EXPECT_FALSE(p.commit);
  EXPECT_FALSE(p.dirty);
  EXPECT_FALSE(p.start_ns);
  EXPECT_FALSE(p.load_before());
  EXPECT_EQ(p.side->label, "a");
  EXPECT_EQ(to_json(p), odd);
}

TEST(RowParts, KnownFactsComeBackAsTheyWere) {
  const Json known = {{"commit", "abc"},
                      {"dirty", true},
                      {"start_ns", std::int64_t{1} << 62},
                      {"order_seed", ~std::uint64_t{0}},
                      {"noise", {{"before", {{"load", 0.5}}}, {"steal_fraction", "nan"}}},
                      {"phases_s", {{"cold", "inf"}}},
                      {"device", nullptr},
                      {"unequal_work", "less"}};
  const auto p = provenance_from_json(known);
  EXPECT_EQ(p.order_seed, ~std::uint64_t{0});
  EXPECT_EQ(p.load_before(), 0.5);
  EXPECT_EQ(p.unequal_work, "less");
  EXPECT_EQ(to_json(p), known);
}

TEST(RowParts, SamplesThatAreNoNumbersAreKeptAside) {
  const Json odd = {{"steady_s", {1e-3, "nan"}}, {"stage_scan", "x"}, {"batch_calls", "two"}};
  const auto samples = samples_from_json(odd);
  EXPECT_EQ(samples.steady_s().size(), 2u);
  EXPECT_TRUE(samples["stage_scan"].empty());
  EXPECT_FALSE(samples.batch_calls);
  EXPECT_EQ(to_json(samples), odd);
}

TEST(RowParts, ARequestThatCannotBeReadIsNotKnown) {
  Provenance p;
  EXPECT_FALSE(p.asked());
  p.request = Json{{"rounds", "many"}};
  EXPECT_FALSE(p.asked());
  p.request = Json{{"rounds", 7}};
  EXPECT_EQ(p.asked()->rounds, 7);
}

}  // namespace
}  // namespace assay::lab
