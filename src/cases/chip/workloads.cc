// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/chip/workloads.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>

#include "base/clock.h"
#include "base/error.h"
#include "base/process.h"
#include "cases/chip/point.h"
#include "cases/chip/replay.h"
#include "chip/systolic.h"
#include "tensor/safetensors.h"
#include "tensor/tensor.h"

namespace assay::cases::chip {
namespace {

namespace ch = assay::chip;
using Metrics = std::map<std::string, double>;

double seconds(ch::Time picoseconds) { return 1e-12 * static_cast<double>(picoseconds); }

// A function of the point alone: no inputs to load, one number to leave behind.
class Model : public lab::Workload {
 public:
  explicit Model(std::function<Metrics()> evaluate)
      : evaluate_(std::move(evaluate)), time_(DType::kF64, Shape({1})) {}

  void load(int, int) override {}
  void call(int) override {
    metrics_ = evaluate_();
    time_.as<double>()[0] = metrics_.at("simulated_time");
  }
  void poison_outputs() override {
    std::fill(time_.bytes().begin(), time_.bytes().end(), std::byte{0xFF});
  }
  void write_outputs(const std::string& path) override {
    write_safetensors(path, {{"simulated_time", time_.view()}});
  }
  Metrics metrics() const override { return metrics_; }
  std::map<std::string, std::string> versions() const override {
    return {{"chip", std::string(ch::kEngineVersion)}};
  }

 private:
  std::function<Metrics()> evaluate_;
  Tensor time_;
  Metrics metrics_;
};

template <typename Point>
lab::WorkloadRegistry::Factory model(Metrics (*evaluate)(const Point&)) {
  return [evaluate](const Json& json, int) {
    return std::make_unique<Model>([point = Point(json), evaluate] { return evaluate(point); });
  };
}

// Time, and the rate of useful arithmetic in it, as a roofline shows it.
Metrics gemm_time(const GemmPoint& p, double time) {
  const auto& s = p.options.shape;
  const double flops =
      2.0 * static_cast<double>(s.m) * static_cast<double>(s.k) * static_cast<double>(s.n);
  return {{"simulated_time", time}, {"flop_rate", flops / time}};
}

void add_events(Metrics& metrics, std::uint64_t events, std::int64_t began_ns) {
  const double wall =
      1e-9 * static_cast<double>(std::max<std::int64_t>(1, monotonic_ns() - began_ns));
  metrics["simulator_time"] = wall;
  metrics["simulator_events"] = static_cast<double>(events);
  metrics["simulator_event_rate"] = static_cast<double>(events) / wall;
}

Metrics simulate_gemm(const GemmPoint& p) {
  const auto began = monotonic_ns();
  const auto result = ch::simulate_gemm(p.options, p.topology);
  const auto& m = result.metrics;
  auto metrics = gemm_time(p, seconds(m.window.length()));
  add_events(metrics, result.events, began);
  metrics["mac_utilisation"] = m.mac_utilisation;
  metrics["useful_efficiency"] = m.useful_efficiency;
  metrics["padded_utilisation"] = m.mac_utilisation - m.useful_efficiency;
  for (const auto stage : ch::kStages) {
    const auto& s = m[stage];
    const double whole = static_cast<double>(s.busy + s.blocked + s.starved);
    if (whole == 0) continue;  // nothing is streamed
    const std::string name(ch::name_of(stage));
    metrics[name + "_busy"] = static_cast<double>(s.busy) / whole;
    metrics[name + "_blocked"] = static_cast<double>(s.blocked) / whole;
    metrics[name + "_starved"] = static_cast<double>(s.starved) / whole;
  }
  return metrics;
}

Metrics closed_form_gemm(const GemmPoint& p) {
  return gemm_time(p,
                   seconds(ch::closed_form(ch::plan_gemm(p.options, p.topology), p.topology).time));
}

Metrics roofline_gemm(const GemmPoint& p) {
  const auto plan = ch::plan_gemm(p.options, p.topology);
  return gemm_time(p, seconds(ch::gemm_bounds(plan, p.topology).roofline));
}

Metrics systolic_gemm(const GemmPoint& p) {
  return gemm_time(p, seconds(ch::systolic_time(p.options.shape, p.topology)));
}

// algbw and busbw of an all-reduce that takes `time`.
Metrics all_reduce_time(const AllReducePoint& p, double time) {
  const double algbw = static_cast<double>(p.options.bytes) / time;
  const auto factor = ch::bus_factor(ch::Collective::kAllReduce, p.topology.network.ranks);
  return {{"simulated_time", time}, {"algbw", algbw}, {"busbw", algbw * factor}};
}

Metrics simulate_all_reduce(const AllReducePoint& p) {
  const auto began = monotonic_ns();
  const auto result = ch::simulate_collective(p.options, p.topology);
  auto metrics = all_reduce_time(p, seconds(result.time));
  add_events(metrics, result.events, began);
  return metrics;
}

// Theory needs no data and no simulation, but the same schedule: the engine gives all three.
ch::CollectiveResult theory(const AllReducePoint& p) {
  auto options = p.options;
  options.payload = false;
  return ch::simulate_collective(options, p.topology);
}

Metrics alpha_beta_all_reduce(const AllReducePoint& p) {
  return all_reduce_time(p, seconds(theory(p).alpha_beta));
}

// The program lies beside this one; SimGrid is not part of what Assay needs.
Metrics smpi_all_reduce(const AllReducePoint& p) {
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
  return all_reduce_time(p, replay.seconds);
}

Metrics bound_all_reduce(const AllReducePoint& p) {
  return all_reduce_time(p, seconds(theory(p).bound));
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
}

}  // namespace assay::cases::chip
