// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every number a row may carry, with its unit. A suite that measures something new adds a line
// here; a name that is not in this table does not compile where a case names it (`metric("…")`),
// and is refused where a worker reports it.

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace assay::lab {

enum class Direction { kLowerIsBetter, kHigherIsBetter, kNeutral };
enum class MetricKind { kTime, kRate, kFraction, kBytes, kCount, kEnergy };

struct Metric {
  std::string_view name;
  std::string_view unit;  // SI; "1" for a pure number
  Direction direction;
  MetricKind kind;
  std::string_view description;
  bool of_run = false;  // a run has one value of it, which all its rows carry
};

// What a stage's name begins with where it is a metric: of the steady calls, of the first one.
inline constexpr std::string_view kStage = "stage_", kColdStage = "cold_stage_";

namespace metric_tables {

// Stages of a call, in the order they have in it. Each is two metrics: cold_stage_NAME, of the
// first call, and what follows "cold_" in it, the median over the steady batches.
inline constexpr auto kStages = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"cold_stage_surface", "stage of a call: reading a flux surface"},
    {"cold_stage_prepare", "stage of a call: what a surface has for all cases"},
    {"cold_stage_scan", "stage of a call: solving the cases"},
    {"cold_stage_database", "stage of a call: tables of the coefficients"},
    {"cold_stage_integrals", "stage of a call: energy integrals of the tables"},
    {"cold_stage_output", "stage of a call: writing the results"},
    {"cold_stage_first_token", "stage of a call: reading a prompt, until its first token"},
    {"cold_stage_tokens", "stage of a call: the tokens after it"},
});

inline constexpr auto kOthers = [] {
  using enum Direction;
  using enum MetricKind;
  return std::to_array<Metric>({
      {"steady_time", "s", kLowerIsBetter, kTime, "one call: median over the steady batches"},
      {"steady_time_min", "s", kLowerIsBetter, kTime, "one call in the fastest batch"},
      {"steady_time_p10", "s", kLowerIsBetter, kTime, "one call: 10 % quantile over batches"},
      {"steady_time_p95", "s", kLowerIsBetter, kTime, "one call: 95 % quantile over batches"},
      {"steady_time_iqr", "s", kLowerIsBetter, kTime, "interquartile range over batches"},
      {"steady_time_n", "1", kNeutral, kCount, "number of steady batches"},
      {"device_time", "s", kLowerIsBetter, kTime,
       "one call by the device's own clock: median over the steady batches"},
      {"energy", "J", kLowerIsBetter, kEnergy,
       "one call: the device's mean power in the steady phase times steady_time"},
      {"cold_time", "s", kLowerIsBetter, kTime, "the first call, alone"},
      {"user_time", "s", kLowerIsBetter, kTime,
       "processor time of a command's own code, median over the calls"},
      {"system_time", "s", kLowerIsBetter, kTime,
       "processor time that the system spent for a command, median over the calls"},
      {"shell_time", "s", kNeutral, kTime,
       "start of the shell that runs a command, taken off its times"},
      {"cpu_time", "s", kLowerIsBetter, kTime,
       "processor time of one call, as a benchmark that times itself says"},
      {"item_rate", "1/s", kHigherIsBetter, kRate,
       "items per second, as a benchmark that times itself says"},
      {"compile_time", "s", kLowerIsBetter, kTime, "compilation, where it can be told apart"},
      {"search_time", "s", kLowerIsBetter, kTime, "search for a faster program"},
      {"search_tried", "1", kNeutral, kCount, "programs that a search looked at"},
      {"search_rejected", "1", kNeutral, kCount,
       "of those, too large for memory or given up at twice the best one's time"},
      {"search_speedup", "1", kHigherIsBetter, kFraction,
       "what a search found over the program without one, as the search timed them"},
      {"prepare_time", "s", kNeutral, kTime, "making the inputs; not part of any other time"},
      {"throughput", "1/s", kHigherIsBetter, kRate, "calls per second in the steady state"},
      {"flop_rate", "flop/s", kHigherIsBetter, kRate, "the case's operations over steady_time"},
      {"token_time", "s", kLowerIsBetter, kTime,
       "steady_time, or its stage of tokens where there is one, over the tokens of a call"},
      {"case_rate", "1/s", kHigherIsBetter, kRate, "cases of a call over steady_time"},
      {"bandwidth", "B/s", kHigherIsBetter, kRate, "the case's bytes over steady_time"},
      {"fraction_of_limit", "1", kHigherIsBetter, kFraction, "of this machine's measured ceiling"},
      {"recomputed_share", "1", kLowerIsBetter, kFraction,
       "of the results, refused by a certificate and computed again"},
      {"peak_rss_start", "B", kLowerIsBetter, kBytes, "peak memory until the inputs were ready"},
      {"peak_rss_cold", "B", kLowerIsBetter, kBytes,
       "peak memory during the first call, child processes included"},
      {"peak_rss_steady", "B", kLowerIsBetter, kBytes,
       "peak memory during all later calls, child processes included"},
      {"peak_device_memory", "B", kLowerIsBetter, kBytes, "peak of the provider's own device use"},
      {"lanes", "1", kNeutral, kCount, "threads, processes or ranks that a call keeps busy"},
      {"difference_from_baseline", "1", kLowerIsBetter, kFraction,
       "largest relative difference of an output from what the baseline computes"},
      {"harness_overhead", "s", kLowerIsBetter, kTime, "an empty attempt of this run, spawn to end",
       true},
      {"predicted_time", "s", kNeutral, kTime, "one call, as the provider's own model has it"},
      {"path_flop", "1", kLowerIsBetter, kCount, "operations of an order of contractions"},
      {"simulated_time", "s", kLowerIsBetter, kTime, "time inside a simulation, end to end"},
      {"composite_time", "s", kLowerIsBetter, kTime,
       "the same without operands that are loaded up front"},
      {"memory_intensity", "flop/B", kNeutral, kRate,
       "operations for each byte on the busier path of memory, up-front loads included"},
      {"simulator_time", "s", kLowerIsBetter, kTime, "one simulation, by the clock on the wall"},
      {"simulator_events", "1", kNeutral, kCount, "events of one simulation"},
      {"simulator_event_rate", "1/s", kHigherIsBetter, kRate,
       "events of a simulation over its time"},
      {"mac_utilisation", "1", kHigherIsBetter, kFraction,
       "multiply-accumulates, padding included, of what the chip can do in the time"},
      {"useful_efficiency", "1", kHigherIsBetter, kFraction, "the same without padding"},
      {"padded_utilisation", "1", kLowerIsBetter, kFraction, "the padding alone"},
      {"dma_in_busy", "1", kNeutral, kFraction, "of the time: operands are being read"},
      {"dma_in_blocked", "1", kNeutral, kFraction, "a read waits for a buffer or for memory"},
      {"dma_in_queued", "1", kNeutral, kFraction, "of dma_in_blocked: memory serves another"},
      {"dma_in_held", "1", kNeutral, kFraction, "of dma_in_blocked: no buffer is free"},
      {"dma_in_starved", "1", kNeutral, kFraction, "no read to be made"},
      {"fetch_busy", "1", kNeutral, kFraction, "of the time: operands move to the MAC array"},
      {"fetch_blocked", "1", kNeutral, kFraction, "a fetch waits"},
      {"fetch_starved", "1", kNeutral, kFraction, "no fetch to be made"},
      {"gemm_busy", "1", kNeutral, kFraction, "of the time: the MAC array works"},
      {"gemm_blocked", "1", kNeutral, kFraction, "the MAC array waits for an output buffer"},
      {"gemm_starved", "1", kNeutral, kFraction, "the MAC array has no operands"},
      {"dma_out_busy", "1", kNeutral, kFraction, "of the time: results are being written"},
      {"dma_out_blocked", "1", kNeutral, kFraction, "a write waits for memory"},
      {"dma_out_starved", "1", kNeutral, kFraction, "no write to be made"},
      {"hbm_read_use", "1", kHigherIsBetter, kFraction,
       "bytes read, up-front loads included, of what memory can read in the time"},
      {"hbm_write_use", "1", kHigherIsBetter, kFraction, "bytes written, the same"},
      {"channel_use", "1", kNeutral, kFraction, "of the time: the busiest memory channel works"},
      {"link_use", "1", kNeutral, kFraction, "of the time: the busiest link carries bytes"},
      {"sram_use", "1", kNeutral, kFraction, "of a processing element's memory, at most"},
      {"algbw", "B/s", kHigherIsBetter, kRate, "bytes of the vector over the time"},
      {"busbw", "B/s", kHigherIsBetter, kRate,
       "algbw times the share of the vector that each link must carry"},
  });
}();

}  // namespace metric_tables

inline constexpr auto kMetrics = [] {
  using namespace metric_tables;
  std::array<Metric, kOthers.size() + 2 * kStages.size()> all{};
  auto next = std::copy(kOthers.begin(), kOthers.end(), all.begin());
  const auto add_stages = [&next](std::size_t skipped) {
    for (const auto& [name, description] : kStages) {
      *next++ = {name.substr(skipped), "s", Direction::kLowerIsBetter, MetricKind::kTime,
                 description};
    }
  };
  add_stages(kColdStage.size() - kStage.size());
  add_stages(0);
  return all;
}();

// The metric of that name, or null.
constexpr const Metric* find_metric(std::string_view name) {
  for (const auto& metric : kMetrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

// Whether more of it is better; false for unknown names.
constexpr bool more_is_better(std::string_view name) {
  const Metric* metric = find_metric(name);
  return metric != nullptr && metric->direction == Direction::kHigherIsBetter;
}

// Whether a run has one value of it; false for unknown names.
constexpr bool is_of_run(std::string_view name) {
  const Metric* metric = find_metric(name);
  return metric != nullptr && metric->of_run;
}

// The metric of that name; an unknown name does not compile.
consteval const Metric& metric(std::string_view name) {
  for (const auto& known : kMetrics) {
    if (known.name == name) return known;
  }
  throw "unknown metric";
}

}  // namespace assay::lab
