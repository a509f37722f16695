// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/gemm/closed_form.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "chip/gemm/test_random.h"

namespace assay::chip {
namespace {

// The pipeline by its max-plus recurrence: a stage starts a step when the step has left the stage
// before, the stage has finished the step before, and, in the first stage, a buffer is free.
// Outputs form on every k-th step and pass one more engine.
Time by_recurrence(const std::vector<Time>& stages, std::int64_t n, std::int64_t buffers,
                   std::size_t last, std::int64_t k_steps, Time t_out) {
  const std::size_t width = stages.size();
  std::vector<Time> ends(static_cast<std::size_t>(n) * width, 0);
  const auto end = [&](std::size_t step, std::size_t stage) -> Time& {
    return ends[step * width + stage];
  };
  const auto depth = static_cast<std::size_t>(buffers);
  Time out = 0, total = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    for (std::size_t s = 0; s < width; ++s) {
      Time start = 0;
      if (s > 0) start = std::max(start, end(i, s - 1));
      if (i > 0) start = std::max(start, end(i - 1, s));
      if (s == 0 && i >= depth) start = std::max(start, end(i - depth, last));
      end(i, s) = start + stages[s];
    }
    total = std::max(total, end(i, width - 1));
    if (k_steps > 0 && (static_cast<std::int64_t>(i) + 1) % k_steps == 0) {
      out = std::max(out, end(i, width - 1)) + t_out;
      total = std::max(total, out);
    }
  }
  return total;
}

TEST(ClosedForm, FormulasEqualTheRecurrenceOnRandomPipelines) {
  Random random(11);
  constexpr std::int64_t kUnlimited = 1 << 20;
  for (int round = 0; round < 6000; ++round) {
    std::vector<Time> stages(static_cast<std::size_t>(random.between(1, 6)));
    for (Time& t : stages) t = random.between(0, 40);
    const std::int64_t n = random.between(1, 60);
    const std::int64_t buffers = random.between(1, 9);
    const auto last =
        static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(stages.size()) - 1));
    ASSERT_EQ(pipeline_time(stages, n), by_recurrence(stages, n, kUnlimited, 0, 0, 0));
    ASSERT_EQ(buffered_pipeline_time(stages, n, buffers, last),
              by_recurrence(stages, n, buffers, last, 0, 0))
        << "n " << n << " buffers " << buffers << " last " << last;
    const std::int64_t k_steps = random.between(1, 8), outputs = random.between(1, 8);
    const Time t_out = random.between(0, 200);
    ASSERT_EQ(output_pipeline_time(stages, k_steps, outputs, t_out),
              by_recurrence(stages, k_steps * outputs, kUnlimited, 0, k_steps, t_out))
        << "K " << k_steps << " outputs " << outputs << " t_out " << t_out;
  }
}

TEST(ClosedForm, SmallestPipelines) {
  EXPECT_EQ(pipeline_time(std::vector<Time>{7}, 1), 7);
  EXPECT_EQ(pipeline_time(std::vector<Time>{7, 3}, 2), 17);
  // One buffer: no overlap at all.
  EXPECT_EQ(buffered_pipeline_time(std::vector<Time>{7, 3}, 5, 1, 1), 50);
  EXPECT_EQ(output_pipeline_time(std::vector<Time>{1}, 1, 3, 10), 31);
}

TEST(ClosedForm, StageTimesFollowFromTheTopology) {
  const Topology topology = default_topology();
  const StageTimes t = stage_times({.shape = {1, 1, 1}, .variant = Variant::kRefRef}, topology);
  EXPECT_EQ(t.in, 32 * kNanosecond);
  EXPECT_EQ(t.fetch, 16 * kNanosecond);
  EXPECT_EQ(t.gemm, 16 * kNanosecond);
  EXPECT_EQ(t.out, 8 * kNanosecond);
}

TEST(ClosedForm, SaysWhereItIsOnlyAnEstimate) {
  const auto why = [](auto change) {
    Topology topology = default_topology();
    GemmOptions options{.shape = {64, 128, 64}};
    change(topology, options);
    const ClosedForm form = closed_form(plan_gemm(options, topology), topology);
    EXPECT_EQ(form.exact, form.why_not_exact.empty());
    return form.why_not_exact;
  };
  EXPECT_EQ(why([](Topology&, GemmOptions&) {}), "");
  EXPECT_NE(why([](Topology& t, GemmOptions&) { t.pe.columns = 2; }), "");
  EXPECT_NE(why([](Topology& t, GemmOptions&) { t.hbm.layout = Layout::kRowMajor; }), "");
  EXPECT_NE(why([](Topology& t, GemmOptions&) { t.hbm.separate_write_path = false; }), "");
  EXPECT_NE(why([](Topology& t, GemmOptions&) { t.dma.setup = 1; }), "");
  EXPECT_NE(why([](Topology& t, GemmOptions&) { t.hbm.channels = 7; }), "");
  EXPECT_NE(why([](Topology& t, GemmOptions&) { t.pe.output_buffers = 1; }), "");
  EXPECT_NE(why([](Topology&, GemmOptions& o) { o.order = LoopOrder::kKmn; }), "");
}

}  // namespace
}  // namespace assay::chip
