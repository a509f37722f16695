// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/chip/workloads.h"
#include "cases/chip/events_case.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <functional>

#include "base/clock.h"
#include "base/error.h"
#include "base/process.h"
#include "cases/chip/log_tensors.h"
#include "cases/chip/point.h"
#include "cases/chip/replay.h"
#include "chip/gemm/systolic.h"
#include "tensor/safetensors.h"
#include "tensor/tensor.h"

namespace assay::cases::chip {
namespace {

namespace ch = assay::chip;
using ch::Time;
using Metrics = std::map<std::string, double>;

double seconds(ch::Time picoseconds) { return 1e-12 * static_cast<double>(picoseconds); }

// What a call gives: numbers for the row, and what the judge looks at.
struct Answer {
  Metrics metrics;
  Tensors outputs;
};

// A function of the point and of the seed of its data.
class Model : public lab::Workload {
 public:
  using Evaluate = std::function<Answer(int set)>;
  explicit Model(Evaluate evaluate) : evaluate_(std::move(evaluate)) {}

  void load(int slot, int set) override { sets_.at(static_cast<std::size_t>(slot)) = set; }
  void call(int slot) override {
    answer_ = evaluate_(sets_.at(static_cast<std::size_t>(slot)));
    if (!answer_.outputs.contains("simulated_time")) {
      answer_.outputs.emplace("simulated_time", scalar(answer_.metrics.at("simulated_time")));
    }
  }
  void poison_outputs() override { answer_ = {}; }
  void write_outputs(const std::string& path) override {
    std::vector<std::pair<std::string, TensorView>> tensors;
    for (const auto& [name, tensor] : answer_.outputs) tensors.emplace_back(name, tensor.view());
    write_safetensors(path, tensors);
  }
  Metrics metrics() const override { return answer_.metrics; }
  std::map<std::string, std::string> versions() const override {
    return {{"chip", std::string(ch::kEngineVersion)}};
  }

 private:
  Evaluate evaluate_;
  std::array<int, 2> sets_ = {0, 0};
  Answer answer_;
};

template <typename Point>
lab::WorkloadRegistry::Factory model(Answer (*evaluate)(const Point&)) {
  return [evaluate](const Json& json, int) {
    return std::make_unique<Model>([json, evaluate](int set) {
      Point point(json);
      point.options.seed = data_seed(json, set);
      return evaluate(point);
    });
  };
}

// End to end, and the rate of useful arithmetic in it, over the operations for each byte of the
// busier path of memory: what a roofline shows. `window` is the time without the up-front load.
Metrics gemm_time(const GemmPoint& p, double time, double window) {
  const auto& s = p.options.shape;
  const double flops =
      2.0 * static_cast<double>(s.m) * static_cast<double>(s.k) * static_cast<double>(s.n);
  const auto plan = ch::plan_gemm(p.options, p.topology);
  const auto bytes = std::max(plan.load_bytes + plan.stream_bytes, plan.write_bytes);
  return {{"simulated_time", time},
          {"composite_time", window},
          {"flop_rate", flops / time},
          {"memory_intensity", flops / static_cast<double>(bytes)}};
}

void add_events(Metrics& metrics, std::uint64_t events, std::int64_t began_ns) {
  const double wall =
      1e-9 * static_cast<double>(std::max<std::int64_t>(1, monotonic_ns() - began_ns));
  metrics["simulator_time"] = wall;
  metrics["simulator_events"] = static_cast<double>(events);
  metrics["simulator_event_rate"] = static_cast<double>(events) / wall;
}

// Of memory, links and SRAM, end to end; in the order of oracle/op_laws.h.
std::vector<std::pair<std::string, double>> use_of(const GemmPoint& p,
                                                   const ch::GemmResult& result) {
  const auto whole = static_cast<double>(result.end_to_end);
  const double bytes = p.topology.hbm_bytes_per_second() * ch::to_seconds(result.end_to_end);
  const auto& use = result.use;
  const Time channel = p.topology.hbm.separate_write_path
                           ? std::max(use.channel_read, use.channel_write)
                           : use.channel_read + use.channel_write;
  return {{"hbm_read_use", static_cast<double>(result.planned_read_bytes) / bytes},
          {"hbm_write_use", static_cast<double>(result.planned_write_bytes) / bytes},
          {"channel_use", static_cast<double>(channel) / whole},
          {"link_use", static_cast<double>(use.link) / whole},
          {"sram_use",
           static_cast<double>(use.sram_bytes) / static_cast<double>(p.topology.pe.sram_bytes)}};
}

Answer simulate_gemm(const GemmPoint& p) {
  const auto began = monotonic_ns();
  const auto result = ch::simulate_gemm(p.options, p.topology);
  const auto& m = result.metrics;
  Answer answer;
  Metrics& metrics = answer.metrics;
  metrics = gemm_time(p, seconds(result.end_to_end), seconds(m.window.length()));
  add_events(metrics, result.events, began);
  metrics["mac_utilisation"] = m.mac_utilisation;
  metrics["useful_efficiency"] = m.useful_efficiency;
  metrics["padded_utilisation"] = m.mac_utilisation - m.useful_efficiency;
  std::vector<double> books = {metrics["simulated_time"], metrics["composite_time"],
                               m.mac_utilisation, m.useful_efficiency};
  for (const auto stage : ch::kStages) {
    const auto& s = m[stage];
    const double whole = static_cast<double>(s.busy + s.blocked + s.starved);
    const bool is_used = s.records > 0;  // else nothing is streamed
    const std::string name(ch::name_of(stage));
    for (const auto& [state, time] : {std::pair("_busy", s.busy), std::pair("_blocked", s.blocked),
                                      std::pair("_starved", s.starved)}) {
      books.push_back(is_used ? static_cast<double>(time) / whole : 0);
      if (is_used) metrics[name + state] = books.back();
    }
  }
  if (const auto& in = m[ch::Stage::kDmaIn]; in.records > 0) {
    const double whole = static_cast<double>(in.busy + in.blocked + in.starved);
    metrics["dma_in_queued"] = static_cast<double>(in.queued) / whole;
    metrics["dma_in_held"] = static_cast<double>(in.blocked - in.queued) / whole;
  }
  for (const auto& [name, use] : use_of(p, result)) {
    metrics[name] = use;
    books.push_back(use);
  }
  answer.outputs.emplace("books", numbers(books));
  add_op_log(result.log, answer.outputs);
  return answer;
}

Answer closed_form_gemm(const GemmPoint& p) {
  const auto form = ch::closed_form(ch::plan_gemm(p.options, p.topology), p.topology);
  return {gemm_time(p, seconds(form.load + form.time), seconds(form.time)), {}};
}

Answer roofline_gemm(const GemmPoint& p) {
  const auto bounds = ch::gemm_bounds(ch::plan_gemm(p.options, p.topology), p.topology);
  return {gemm_time(p, seconds(bounds.roofline_with_load), seconds(bounds.roofline)), {}};
}

Answer systolic_gemm(const GemmPoint& p) {
  const double time = seconds(ch::systolic_time(p.options.shape, p.topology));
  return {gemm_time(p, time, time), {}};
}

// algbw and busbw of an all-reduce that takes `time`.
Metrics all_reduce_time(const AllReducePoint& p, double time) {
  const double algbw = static_cast<double>(p.options.bytes) / time;
  const auto factor = ch::bus_factor(ch::Collective::kAllReduce, p.topology.network.ranks);
  return {{"simulated_time", time}, {"algbw", algbw}, {"busbw", algbw * factor}};
}

Answer simulate_all_reduce(const AllReducePoint& p) {
  const auto began = monotonic_ns();
  auto options = p.options;
  options.detail = true;
  const auto result = ch::simulate_collective(options, p.topology);
  Answer answer{all_reduce_time(p, seconds(result.time)), {}};
  add_events(answer.metrics, result.events, began);
  answer.metrics["link_use"] = result.link_use;
  answer.outputs.emplace("link_use", scalar(result.link_use));
  add_message_log(result, answer.outputs);
  return answer;
}

// Theory needs no data and no simulation, but the same schedule: the engine gives all three.
ch::CollectiveResult theory(const AllReducePoint& p) {
  auto options = p.options;
  options.payload = false;
  return ch::simulate_collective(options, p.topology);
}

Answer alpha_beta_all_reduce(const AllReducePoint& p) {
  return {all_reduce_time(p, seconds(theory(p).alpha_beta)), {}};
}

// The program lies beside this one; SimGrid is not part of what Assay needs.
Answer smpi_all_reduce(const AllReducePoint& p) {
  const auto program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "assay-chip-smpi";
  const auto missing = [](const std::string& what) {
    return lab::ProviderFailure(lab::Status::kEnvMissing, "program_missing",
                                fmt::format("cannot find '{}' (package libsimgrid-dev)", what));
  };
  if (!find_program("smpirun")) throw missing("smpirun");
  if (!std::filesystem::exists(program)) throw missing(program.string());
  const auto replay = replay_in_simgrid(p.options, p.topology.network, program.string());
  if (replay.wrong != 0) fail("SimGrid's ranks got {} wrong sums", replay.wrong);
  return {all_reduce_time(p, replay.seconds), {}};
}

Answer bound_all_reduce(const AllReducePoint& p) {
  return {all_reduce_time(p, seconds(theory(p).bound)), {}};
}

}  // namespace

void add_workloads(lab::WorkloadRegistry& workloads) {
  for (const char* name : {"chip_gemm", "chip_buffers"}) {
    workloads.add(name, "simulated", model<GemmPoint>(simulate_gemm));
    workloads.add(name, "closed_form", model<GemmPoint>(closed_form_gemm));
    workloads.add(name, "roofline", model<GemmPoint>(roofline_gemm));
  }
  workloads.add("chip_gemm", "systolic", model<GemmPoint>(systolic_gemm));
  workloads.add("chip_allreduce", "simulated", model<AllReducePoint>(simulate_all_reduce));
  workloads.add("chip_allreduce", "alpha_beta", model<AllReducePoint>(alpha_beta_all_reduce));
  workloads.add("chip_allreduce", "smpi", model<AllReducePoint>(smpi_all_reduce));
  workloads.add("chip_allreduce", "bound", model<AllReducePoint>(bound_all_reduce));
  add_events_workload(workloads);
}

}  // namespace assay::cases::chip
