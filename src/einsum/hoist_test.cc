// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/plan/hoist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/error.h"
#include "einsum/einsum.h"
#include "einsum/testing/example_operands.h"

namespace assay::einsum {
namespace {

using testing::ElementsAre;

LabelSet set_of(std::initializer_list<Label> labels) {
  LabelSet set;
  for (const Label l : labels) set.insert(l);
  return set;
}

// A step over nodes that makes `elements` and takes `seconds`.
Step step(std::vector<int> operands, std::int64_t elements, double seconds) {
  Step s;
  s.operands = std::move(operands);
  s.c = {{0, elements, 1}};
  s.lowered.predicted_s = seconds;
  s.lowered.size = {.m = static_cast<double>(elements)};
  return s;
}

std::vector<int> depths(const std::vector<Step>& steps) {
  std::vector<int> all;
  for (const auto& s : steps) all.push_back(s.depth);
  return all;
}

TEST(Hoist, StepsThatSeeNoSliceRunOnceIfTheirResultCanStay) {
  // Operands 0, 1 do not have label 5, which is cut; steps 0 and 1 of four are the same each time.
  const HoistInput none{
      .operands = {set_of({1}), set_of({2}), set_of({3}), set_of({5}), set_of({5})},
      .element_bytes = 1};
  const std::vector<Step> plain = {step({0, 1}, 10, 1), step({5, 2}, 30, 1), step({6, 3}, 10, 1),
                                   step({7, 4}, 1, 1)};
  std::vector<Slice> slices = {{5, 1, 8, true}};
  auto steps = plain;
  auto found = hoist(steps, slices, none);
  EXPECT_THAT(depths(steps), ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(found.predicted_s, 1 + 1 + 8 + 8);
  EXPECT_EQ(found.mac, 10 + 30 + 8 * 10 + 8 * 1);
  // The first part: 10, then 10 + 30, then 30 + 10; the 30 stay.
  EXPECT_EQ(found.peak_bytes, 40);
  // That peak is there without hoisting too; a bound below it is not for hoisting to meet.
  auto bounded = none;
  bounded.available = 39;
  steps = plain;
  EXPECT_EQ(hoist(steps, slices, bounded).peak_bytes, 40);
  EXPECT_THAT(depths(steps), ElementsAre(1, 1, 1, 1));
}

TEST(Hoist, KeepsToTheMemoryStepByStep) {
  // Step 0 makes 10 that step 1 reads; later, steps 2 and 3 have 30 + 30 alive. Keeping the 10 all
  // the while costs 70, not keeping them 60.
  const HoistInput input{
      .operands = {set_of({1}), set_of({2}), set_of({5}), set_of({3}), set_of({5})},
      .element_bytes = 1};
  const std::vector<Step> plain = {step({0, 1}, 10, 1), step({5, 2}, 30, 1), step({6, 3}, 30, 1),
                                   step({7, 4}, 1, 1)};
  std::vector<Slice> slices = {{5, 1, 4, false}};
  for (const auto& [available, first, peak] :
       {std::tuple{70.0, 0, 70.0}, std::tuple{69.0, 1, 60.0}, std::tuple{60.0, 1, 60.0}}) {
    auto bounded = input;
    bounded.available = available;
    auto steps = plain;
    EXPECT_EQ(hoist(steps, slices, bounded).peak_bytes, peak);
    EXPECT_THAT(depths(steps), ElementsAre(first, 1, 1, 1));
  }
}

TEST(Hoist, OrdersTheSlicesForIt) {
  // The expensive step sees label 6 alone: with 6 as the outer loop it runs 3 times, not 12.
  const HoistInput input{.operands = {set_of({6}), set_of({1}), set_of({5})}};
  std::vector<Step> steps = {step({0, 1}, 10, 100), step({3, 2}, 1, 1)};
  std::vector<Slice> slices = {{5, 1, 4, false}, {6, 1, 3, true}};
  EXPECT_EQ(hoist(steps, slices, input).predicted_s, 3 * 100 + 12 * 1);
  EXPECT_EQ(slices[0].label, 6);
  EXPECT_THAT(depths(steps), ElementsAre(1, 2));
}

std::int64_t step_runs(const RunReport& report) {
  return std::accumulate(report.counters.kernels.begin(), report.counters.kernels.end(),
                         std::int64_t{0});
}

TEST(Hoist, AProductBesideTheSlicesIsMadeOnce) {
  // Before it meets the last operand, the product over p, q and r is as large as the result, 512
  // KiB: cuts of i and a help, and pq,qr->pr sees neither.
  const std::string e = "ip,pq,qr,ra,ia->ia";
  const auto tensors = operands_of(e, {256, 16, 16, 16, 256});
  const auto views = views_of(tensors);
  std::uint64_t bytes = 256 * 256 * sizeof(double) + 80 * 1024;
  for (const auto& v : views) bytes += static_cast<std::uint64_t>(v.byte_count());
  Engine engine;
  const CallOptions options{.memory = bytes};
  const auto plan = engine.plan(e, views, options);
  ASSERT_GT(plan->slice_count(), 4);
  Tensor out(DType::kF64, Shape({256, 256}));
  const auto report = engine.einsum_into(e, views, out.mutable_view(), options);
  std::int64_t expected = 0, once = 0;
  double mac = 0;
  for (const auto& s : plan->steps) {
    expected += plan->runs_of(s);
    once += plan->runs_of(s) == 1 ? 1 : 0;
    mac += static_cast<double>(plan->runs_of(s)) * s.lowered.size.mac();
  }
  EXPECT_GE(once, 1);
  EXPECT_EQ(step_runs(report), expected);
  EXPECT_LE(expected, (plan->slice_count() - 1) * static_cast<std::int64_t>(plan->steps.size()));
  EXPECT_EQ(plan->mac, mac);
  EXPECT_LE(report.peak_bytes, bytes);
  EXPECT_LE(plan->peak_bytes, static_cast<double>(bytes));
  const auto free = engine.einsum(e, views);
  for (std::size_t i = 0; i < 256 * 256; ++i) {  // sums of 16³ products of numbers below 1
    ASSERT_NEAR(out.as<double>()[i], free.as<double>()[i], 1e-10);
  }
}

TEST(Hoist, TheOrderOfTheUncutProblemIsTakenWhereItSavesMore) {
  // Within a slice of a few columns a, two products with those columns are cheapest: qr,ra and
  // pq,qa. Over all slices pq,qr is made once, and one product with the columns is left.
  const std::string e = "ip,pq,qr,ra,ia->ia";
  const auto tensors = operands_of(e, {1024, 64, 64, 64, 256});
  const auto views = views_of(tensors);
  std::uint64_t fixed = 1024 * 256 * sizeof(double);
  for (const auto& v : views) fixed += static_cast<std::uint64_t>(v.byte_count());
  Engine engine;
  const auto uncut = engine.plan(e, views);
  // How small the room must be depends on the kernels' own memory: it shrinks from what the uncut
  // plan takes to where no plan fits.
  double room = uncut->peak_bytes - static_cast<double>(fixed);
  int taken = 0;
  for (; room > 1024; room *= 0.85) {
    const auto bound = fixed + static_cast<std::uint64_t>(room);
    std::shared_ptr<const Plan> plan;
    try {
      plan = engine.plan(e, views, {.memory = bound});
    } catch (const UserError&) {
      break;
    }
    EXPECT_LE(plan->peak_bytes, static_cast<double>(bound));
    // No work is done twice: what is predicted to be multiplied is what the uncut plan multiplies.
    taken += plan->slice_count() > 1 && plan->path.tree.merges == uncut->path.tree.merges &&
             plan->mac <= 1.001 * uncut->mac;
  }
  EXPECT_GT(taken, 0);
}

TEST(Hoist, SlicedNetworksGiveTheSameWithinTheirMemory) {
  Engine engine;
  std::int64_t hoisted = 0;
  for (const auto& [e, extents] : std::vector<std::pair<std::string, std::vector<std::int64_t>>>{
           {"abc,cfd,dbe,efa->", {6, 8, 10, 12, 9, 8}},
           {"ab,bc,cd,de,ea->", {12, 20, 30, 8, 15}},
           {"abx,bcx,cdy,dey->axe", {8, 9, 4, 10, 12, 6, 7}},
           {"ea,fb,abcd,gc,hd->efgh", {6, 8, 6, 8, 8, 8, 6, 6}},
           {"ij,jk,kl,lm,mn->in", {24, 30, 10, 28, 16, 20}},
           {"ab,cd,ac,bd,ef,fa->e", {16, 18, 20, 22, 12, 14}},
       }) {
    const auto tensors = operands_of(e, extents);
    const auto views = views_of(tensors);
    const auto right = engine.einsum(e, views);
    double largest = 1;
    for (const double v : right.as<double>()) largest = std::max(largest, std::abs(v));
    std::uint64_t fixed = static_cast<std::uint64_t>(right.byte_count());
    for (const auto& v : views) fixed += static_cast<std::uint64_t>(v.byte_count());
    int met = 0;
    for (std::uint64_t room = 1 << 16; room >= 64; room /= 2) {
      const CallOptions options{.memory = fixed + room};
      Tensor out(DType::kF64, right.shape());
      std::shared_ptr<const Plan> plan;
      try {
        plan = engine.plan(e, views, options);
      } catch (const UserError&) {
        break;  // no plan is that small
      }
      ++met;
      const auto report = engine.einsum_into(e, views, out.mutable_view(), options);
      EXPECT_LE(report.peak_bytes, fixed + room) << e;
      EXPECT_LE(static_cast<double>(report.peak_bytes), plan->peak_bytes) << e;
      // What the workspace keeps for later is within the bound as well, but for blocks of less
      // than a cache line, which take one.
      Workspace own;
      plan->run_into(views, out.mutable_view(), own);
      EXPECT_LE(own.held_bytes(), room + 64 * plan->steps.size()) << e;
      for (const auto& s : plan->steps) {
        hoisted += plan->runs_of(s) < plan->slice_count() ? 1 : 0;
      }
      for (std::size_t i = 0; i < out.as<double>().size(); ++i) {
        // Other orders of at most 1e6 terms.
        ASSERT_NEAR(out.as<double>()[i], right.as<double>()[i], 1e-10 * largest) << e;
      }
    }
    EXPECT_GT(met, 0) << e;
  }
  EXPECT_GT(hoisted, 0);
}

}  // namespace
}  // namespace assay::einsum
