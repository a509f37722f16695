// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/show/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/json.h"
#include "base/units.h"

namespace assay::chip {
namespace {

std::string formula_text(const ClosedForm& form, const GemmPlan& plan, const Topology& topology) {
  const auto& t = form.stages;
  const Time m = std::max({t.in, t.fetch, t.gemm});
  const Time sum = t.in + t.fetch + t.gemm;
  const Time span =
      t.in + t.fetch + (topology.pe.buffer_release == BufferRelease::kGemm ? t.gemm : 0);
  const std::int64_t depth = topology.pe.buffer_depth;
  const std::int64_t n = form.steps;
  if (t.out > plan.k_tiles * m) {
    return fmt::format("{} + ({} - 1) * {} + {} * {} ns: outputs limit", to_ns(sum), plan.k_tiles,
                       to_ns(m), n / plan.k_tiles, to_ns(t.out));
  }
  if (depth * m < span) {
    return fmt::format("{} + {} * {} + {} * {} + {} ns: {} buffers limit", to_ns(sum),
                       (n - 1) / depth, to_ns(span), (n - 1) % depth, to_ns(m), to_ns(t.out),
                       depth);
  }
  return fmt::format("{} + ({} - 1) * {} + {} ns", to_ns(sum), n, to_ns(m), to_ns(t.out));
}

// Appends formatted lines to a text.
class Lines {
 public:
  template <typename... Args>
  void operator()(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void head_line(Lines& line, const GemmResult& result) {
  line("{} {} on {} ({})", to_string(result.options.shape), name_of(result.options.variant),
       result.topology.name, result.topology.hash());
}

void utilisation_line(Lines& line, const GemmMetrics& metrics) {
  line("MAC utilisation {:.2f} %, useful efficiency {:.2f} %, padded {:.2f} %",
       100 * metrics.mac_utilisation, 100 * metrics.useful_efficiency,
       100 * metrics.padded_fraction);
}

}  // namespace

std::string to_text(const GemmResult& result) {
  const GemmMetrics& metrics = result.metrics;
  Lines line;
  head_line(line, result);
  line("{:.3f} ns end to end, {:.3f} ns in the {} window, {} tiles, {} events",
       to_ns(result.end_to_end), to_ns(metrics.window.length()), name_of(metrics.window.options),
       result.tiles, result.events);
  utilisation_line(line, metrics);
  line("{:8} {:>8} {:>14} {:>14} {:>14} {:>14} {:>14}", "stage", "records", "busy ns", "queued ns",
       "no buffer ns", "starved ns", "bytes");
  for (const Stage stage : kStages) {
    const StageMetrics& m = metrics[stage];
    line("{:8} {:8} {:14.3f} {:14.3f} {:14.3f} {:14.3f} {:14}", name_of(stage), m.records,
         to_ns(m.busy), to_ns(m.queued), to_ns(m.blocked - m.queued), to_ns(m.starved), m.bytes);
  }
  const auto whole = static_cast<double>(std::max<Time>(1, result.end_to_end));
  line("use: HBM reads {:.1f} %, writes {:.1f} %, busiest mesh link {:.1f} %, SRAM {} B",
       100 * static_cast<double>(result.use.channel_read) / whole,
       100 * static_cast<double>(result.use.channel_write) / whole,
       100 * static_cast<double>(result.use.link) / whole, result.use.sram_bytes);
  line("closed form {:.3f} ns{}", to_ns(result.closed_form.time),
       result.closed_form.exact ? "" : " (an estimate: " + result.closed_form.why_not_exact + ")");
  return line.take();
}

GemmExplanation explain_gemm(const GemmOptions& options, const Topology& topology) {
  GemmExplanation explanation;
  explanation.result = simulate_gemm(options, topology);
  const GemmResult& result = explanation.result;
  const GemmPlan plan = plan_gemm(options, topology);
  const StageTimes& t = result.closed_form.stages;
  const std::int64_t outputs = plan.m_tiles * plan.n_tiles;
  const Time per_tile[] = {t.in, t.fetch, t.gemm, t.out};
  const Time per_step[] = {t.in, t.fetch, t.gemm, t.out / plan.k_tiles};
  const Time longest = *std::max_element(std::begin(per_step), std::end(per_step));
  for (const Stage stage : kStages) {
    const auto s = static_cast<std::size_t>(stage);
    const StageMetrics& metrics = result.metrics[stage];
    const std::int64_t count = stage == Stage::kDmaOut ? outputs : plan.tiles();
    explanation.stages.push_back({stage, per_tile[s], per_tile[s] * count, metrics.busy,
                                  metrics.blocked, metrics.starved, per_step[s] == longest});
  }
  explanation.formula = formula_text(result.closed_form, plan, topology);
  explanation.residual = result.metrics.window.length() - result.closed_form.time;
  return explanation;
}

std::string to_text(const GemmExplanation& explanation) {
  const GemmResult& result = explanation.result;
  Lines line;
  head_line(line, result);
  line("{:8} {:>12} {:>14} {:>14} {:>14} {:>14}", "stage", "per tile ns", "closed form ns",
       "simulated ns", "blocked ns", "starved ns");
  for (const auto& s : explanation.stages) {
    line("{:8} {:12.3f} {:14.3f} {:14.3f} {:14.3f} {:14.3f}{}", name_of(s.stage), to_ns(s.per_tile),
         to_ns(s.work), to_ns(s.simulated), to_ns(s.blocked), to_ns(s.starved),
         s.bottleneck ? "  <- bottleneck" : "");
  }
  const ClosedForm& form = result.closed_form;
  line("closed form  {:14.3f} ns = {}{}", to_ns(form.time), explanation.formula,
       form.exact ? "" : " (an estimate: " + form.why_not_exact + ")");
  line("simulated    {:14.3f} ns, residual {:+.3f} ns", to_ns(result.metrics.window.length()),
       to_ns(explanation.residual));
  line("lower bound  {:14.3f} ns, roofline {:.3f} ns", to_ns(result.bounds.best()),
       to_ns(result.bounds.roofline));
  utilisation_line(line, result.metrics);
  return line.take();
}

Json to_json(const GemmExplanation& explanation) {
  Json out = to_json(explanation.result);
  Json stages;
  for (const auto& s : explanation.stages) {
    stages[std::string(name_of(s.stage))] = {{"per_tile_ns", to_ns(s.per_tile)},
                                             {"closed_form_ns", to_ns(s.work)},
                                             {"simulated_ns", to_ns(s.simulated)},
                                             {"bottleneck", s.bottleneck}};
  }
  out["explanation"] = {{"stages", stages},
                        {"formula", explanation.formula},
                        {"residual_ns", to_ns(explanation.residual)},
                        {"why_not_exact", explanation.result.closed_form.why_not_exact}};
  return out;
}

std::string to_text(const CollectiveResult& result) {
  const auto& options = result.options;
  Lines line;
  line("{} by {} on a {} of {} ranks, {}, {} contention, {} split(s)", name_of(options.collective),
       name_of(options.algorithm), name_of(result.topology.network.kind),
       result.topology.network.ranks, format_bytes(static_cast<double>(options.bytes)),
       name_of(options.contention), options.splits);
  line("simulated            {:14.3f} ns   algbw {}, busbw {}", to_ns(result.time),
       format_rate(result.algbw, "B/s"), format_rate(result.busbw, "B/s"));
  line("cost of the schedule {:14.3f} ns", to_ns(result.alpha_beta));
  line("lower bound          {:14.3f} ns", to_ns(result.bound));
  if (!models_links(options.contention)) {
    line("{} knows no contention: its time may be below the lower bound",
         name_of(options.contention));
  }
  line("{} messages, {} sent in all; {}", result.messages.size(),
       format_bytes(static_cast<double>(result.bytes_sent)),
       result.verified ? "the data came out right" : "no data was carried");
  return line.take();
}

Json describe(const Topology& topology) {
  Json out = topology.to_json();
  out["hash"] = topology.hash();
  Json variants;
  for (const Variant variant : {Variant::kRefRef, Variant::kLoadRef, Variant::kLoadLoad}) {
    GemmOptions options;
    options.variant = variant;
    const StageTimes t = stage_times(options, topology);
    variants[std::string(name_of(variant))] = {{"dma_in", to_ns(t.in)},
                                               {"fetch", to_ns(t.fetch)},
                                               {"gemm", to_ns(t.gemm)},
                                               {"dma_out", to_ns(t.out)}};
  }
  const double macs = topology.peak_macs_per_second() * static_cast<double>(topology.pe_count());
  out["derived"] = {{"processing_elements", topology.pe_count()},
                    {"peak_macs_per_s", macs},
                    {"memory_bytes_per_s", topology.hbm_bytes_per_second()},
                    {"balance_macs_per_byte", macs / topology.hbm_bytes_per_second()},
                    {"tile_stage_ns", variants}};
  return out;
}

std::string describe_text(const Topology& topology) {
  const Json d = describe(topology);
  const Json& derived = d["derived"];
  Lines line;
  line("{} ({})", topology.name, topology.hash());
  line("{} processing element(s), {} each, {}", topology.pe_count(),
       format_rate(topology.peak_macs_per_second(), "MAC/s"),
       format_bytes(static_cast<double>(topology.pe.sram_bytes)) + " SRAM");
  line("memory {} over {} channel(s), balance {:.1f} MAC/byte",
       format_rate(topology.hbm_bytes_per_second(), "B/s"), topology.hbm.channels,
       derived["balance_macs_per_byte"].get<double>());
  for (const auto& [variant, t] : derived["tile_stage_ns"].items()) {
    line("{:9} one tile: dma_in {:.3f}, fetch {:.3f}, gemm {:.3f}, dma_out {:.3f} ns", variant,
         t["dma_in"].get<double>(), t["fetch"].get<double>(), t["gemm"].get<double>(),
         t["dma_out"].get<double>());
  }
  line("network {} of {} ranks, {} a link, {:.1f} ns", name_of(topology.network.kind),
       topology.network.ranks,
       format_rate(static_cast<double>(topology.network.link.per_second()), "B/s"),
       to_ns(topology.network.link_latency));
  return line.take();
}

}  // namespace assay::chip
