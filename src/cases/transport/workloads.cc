// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/transport/workloads.h"

#include <array>
#include <functional>

#include "cases/transport/engine_point.h"
#include "cases/transport/lanes.h"
#include "cases/transport/workflow.h"
#include "kernels/blas/blas.h"
#include "tensor/safetensors.h"
#include "transport/scan/scan.h"

namespace assay::cases::transport {
namespace {

// Two slots of cases, one table of coefficients, and a way between them.
class CoefficientsWorkload : public lab::Workload {
 public:
  using Solve = std::function<LaneResult(std::span<const tr::Case>)>;

  CoefficientsWorkload(const TransportPoint& point, int lanes, Solve solve)
      : point_(point),
        lanes_(lanes),
        d_(DType::kF64, Shape({point.cases, 4})),
        solve_(std::move(solve)) {}

  void load(int slot, int set) override {
    slots_[static_cast<std::size_t>(slot)] = engine_cases(point_, set);
  }
  void call(int slot) override {
    auto out = d_.as<double>();
    std::size_t i = 0;
    const auto result = solve_(slots_[static_cast<std::size_t>(slot)]);
    child_memory_ = result.child_memory;
    for (const auto& s : result.solutions) {
      for (const double value : {s.d.d11, s.d.d31, s.d.d13, s.d.d33}) out[i++] = value;
    }
  }
  void poison_outputs() override {
    std::fill(d_.bytes().begin(), d_.bytes().end(), std::byte{0xFF});
  }
  void write_outputs(const std::string& path) override {
    write_safetensors(path, {{"d", d_.view()}});
  }
  double child_memory() const override { return child_memory_; }
  std::map<std::string, double> metrics() const override {
    return {{"lanes", static_cast<double>(lanes_)}};
  }
  std::map<std::string, std::string> versions() const override {
    return {{"blas", blas::description() + "; 1 thread"}};
  }

 private:
  TransportPoint point_;
  int lanes_;
  double child_memory_ = 0;
  std::array<std::vector<tr::Case>, 2> slots_;
  Tensor d_;
  Solve solve_;
};

using Factory = lab::WorkloadRegistry::Factory;

// Lanes that share a core measure the system's scheduler: such points belong to larger machines.
int lanes_of(const TransportPoint& point, int cores) {
  if (point.lanes > cores) {
    throw lab::ProviderFailure(
        lab::Status::kSkipped, "too_few_cores",
        fmt::format("{} lanes on the {} cores of the attempt", point.lanes, cores));
  }
  return point.lanes > 0 ? point.lanes : cores;
}

// One case by one method, on a surface prepared beforehand.
Factory single(tr::Method method) {
  return [method](const Json& json, int) {
    const TransportPoint point(json);
    const auto prepared = tr::prepare(engine_surface(point), engine_grid(point));
    auto workspace = std::make_shared<tr::Workspace>();
    return std::make_unique<CoefficientsWorkload>(
        point, 1, [=](std::span<const tr::Case> cases) -> LaneResult {
          return {{tr::solve(prepared, cases[0], {.method = method}, *workspace)}};
        });
  };
}

// All cases by the engine's scan on some threads. 0: as many as the attempt has.
Factory scan(int fixed_threads) {
  return [fixed_threads](const Json& json, int cores) {
    const TransportPoint point(json);
    const auto prepared = tr::prepare(engine_surface(point), engine_grid(point));
    tr::ScanOptions options;
    const int lanes = lanes_of(point, cores);
    options.threads = fixed_threads > 0 ? fixed_threads : lanes;
    options.batch = point.batch;
    return std::make_unique<CoefficientsWorkload>(
        point, options.threads, [=](std::span<const tr::Case> cases) -> LaneResult {
          return {tr::solve_scan(prepared, cases, options).solutions};
        });
  };
}

std::unique_ptr<lab::Workload> processes(const Json& json, int cores) {
  const TransportPoint point(json);
  const auto prepared = tr::prepare(engine_surface(point), engine_grid(point));
  const int lanes = lanes_of(point, cores);
  return std::make_unique<CoefficientsWorkload>(point, lanes, [=](std::span<const tr::Case> cases) {
    return solve_in_processes(prepared, cases, lanes);
  });
}

std::unique_ptr<lab::Workload> ranks(const Json& json, int cores) {
  const TransportPoint point(json);
  const auto surface = engine_surface(point);
  const int lanes = lanes_of(point, cores);
  return std::make_unique<CoefficientsWorkload>(point, lanes, [=](std::span<const tr::Case> cases) {
    return solve_in_ranks(surface, engine_grid(point), cases, lanes, point.batch);
  });
}

std::unique_ptr<lab::Workload> direct(const Json& json, int) {
  const TransportPoint point(json);
  const auto surface = engine_surface(point);
  const auto grid = engine_grid(point);
  return std::make_unique<CoefficientsWorkload>(point, 1, [=](std::span<const tr::Case> cases) {
    LaneResult result;
    for (const auto& c : cases)
      result.solutions.push_back(tr::solve(tr::prepare(surface, grid), c));
    return result;
  });
}

// Prepares in the first call, which the lab times alone.
Factory prepared_once(bool batched) {
  return [batched](const Json& json, int cores) {
    const TransportPoint point(json);
    const auto surface = engine_surface(point);
    auto prepared = std::make_shared<std::optional<tr::Prepared>>();
    tr::ScanOptions options;
    options.threads = batched ? cores : 1;
    return std::make_unique<CoefficientsWorkload>(
        point, options.threads, [=](std::span<const tr::Case> cases) -> LaneResult {
          if (!*prepared) *prepared = tr::prepare(surface, engine_grid(point));
          return {tr::solve_scan(**prepared, cases, options).solutions};
        });
  };
}

}  // namespace

void add_workloads(lab::WorkloadRegistry& w) {
  w.add("transport_solve", "assay-dense", single(tr::Method::kDense));
  w.add("transport_solve", "assay-structured", single(tr::Method::kStructured));
  w.add("transport_solve", "assay-parity", single(tr::Method::kParity));
  w.add("transport_solve", "assay-mixed", single(tr::Method::kMixed));
  for (const char* name : {"transport_scan", "transport_strong_scaling"}) {
    w.add(name, "serial", scan(1));
    w.add(name, "threads", scan(0));
    w.add(name, "processes", processes);
    w.add(name, "mpi", ranks);
  }
  w.add("transport_prepared_reuse", "direct", direct);
  w.add("transport_prepared_reuse", "prepared", prepared_once(false));
  w.add("transport_prepared_reuse", "prepared-batched", prepared_once(true));
  w.add("transport_workflow", "assay", [](const Json& p, int) { return make_workflow(p, 1); });
  w.add("transport_workflow", "assay-threads", make_workflow);
}

}  // namespace assay::cases::transport
