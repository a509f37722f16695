// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/transport/workloads.h"

#include <array>
#include <functional>

#include "cases/transport/lanes.h"
#include "cases/transport/point.h"
#include "tensor/safetensors.h"
#include "transport/blas.h"
#include "transport/scan.h"

namespace assay::cases::transport {
namespace {

// Two slots of cases, one table of coefficients, and a way between them.
class CoefficientsWorkload : public lab::Workload {
 public:
  using Solve = std::function<std::vector<tr::Solution>(std::span<const tr::Case>)>;

  CoefficientsWorkload(const TransportPoint& point, Solve solve)
      : point_(point), d_(DType::kF64, Shape({point.cases, 4})), solve_(std::move(solve)) {}

  void load(int slot, int set) override {
    slots_[static_cast<std::size_t>(slot)] = point_.inputs(set);
  }
  void call(int slot) override {
    auto out = d_.as<double>();
    std::size_t i = 0;
    for (const auto& s : solve_(slots_[static_cast<std::size_t>(slot)])) {
      for (const double value : {s.d.d11, s.d.d31, s.d.d13, s.d.d33}) out[i++] = value;
    }
  }
  void poison_outputs() override {
    std::fill(d_.bytes().begin(), d_.bytes().end(), std::byte{0xFF});
  }
  void write_outputs(const std::string& path) override {
    write_safetensors(path, {{"d", d_.view()}});
  }
  std::map<std::string, std::string> versions() const override {
    return {{"blas", tr::blas::description()}};
  }

 private:
  TransportPoint point_;
  std::array<std::vector<tr::Case>, 2> slots_;
  Tensor d_;
  Solve solve_;
};

using Factory = lab::WorkloadRegistry::Factory;

int lanes_of(const TransportPoint& point, int cores) {
  return point.lanes > 0 ? point.lanes : cores;
}

// One case by one method, on a surface prepared beforehand.
Factory single(tr::Method method) {
  return [method](const Json& json, int) {
    const TransportPoint point(json);
    const auto prepared = tr::prepare(point.surface, point.grid);
    auto workspace = std::make_shared<tr::Workspace>();
    return std::make_unique<CoefficientsWorkload>(
        point, [=](std::span<const tr::Case> cases) -> std::vector<tr::Solution> {
          return {tr::solve(prepared, cases[0], {.method = method}, *workspace)};
        });
  };
}

// All cases by the engine's scan on some threads. 0: as many as the attempt has.
Factory scan(int fixed_threads) {
  return [fixed_threads](const Json& json, int cores) {
    const TransportPoint point(json);
    const auto prepared = tr::prepare(point.surface, point.grid);
    tr::ScanOptions options;
    options.threads = fixed_threads > 0 ? fixed_threads : lanes_of(point, cores);
    options.batch = point.batch;
    return std::make_unique<CoefficientsWorkload>(point, [=](std::span<const tr::Case> cases) {
      return tr::solve_scan(prepared, cases, options).solutions;
    });
  };
}

std::unique_ptr<lab::Workload> processes(const Json& json, int cores) {
  const TransportPoint point(json);
  const auto prepared = tr::prepare(point.surface, point.grid);
  const int lanes = lanes_of(point, cores);
  return std::make_unique<CoefficientsWorkload>(point, [=](std::span<const tr::Case> cases) {
    return solve_in_processes(prepared, cases, lanes);
  });
}

std::unique_ptr<lab::Workload> ranks(const Json& json, int cores) {
  const TransportPoint point(json);
  const int lanes = lanes_of(point, cores);
  return std::make_unique<CoefficientsWorkload>(point, [=](std::span<const tr::Case> cases) {
    return solve_in_ranks(point.surface, point.grid, cases, lanes, point.batch);
  });
}

std::unique_ptr<lab::Workload> direct(const Json& json, int) {
  const TransportPoint point(json);
  return std::make_unique<CoefficientsWorkload>(point, [=](std::span<const tr::Case> cases) {
    std::vector<tr::Solution> solutions;
    for (const auto& c : cases) {
      solutions.push_back(tr::solve(tr::prepare(point.surface, point.grid), c));
    }
    return solutions;
  });
}

// Prepares in the first call, which the lab times alone.
Factory prepared_once(bool batched) {
  return [batched](const Json& json, int cores) {
    const TransportPoint point(json);
    auto prepared = std::make_shared<std::optional<tr::Prepared>>();
    tr::ScanOptions options;
    options.threads = batched ? cores : 1;
    return std::make_unique<CoefficientsWorkload>(point, [=](std::span<const tr::Case> cases) {
      if (!*prepared) *prepared = tr::prepare(point.surface, point.grid);
      return tr::solve_scan(**prepared, cases, options).solutions;
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
}

}  // namespace assay::cases::transport
