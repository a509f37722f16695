// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// The event kernel by itself: processes that only wait, so that a call is the queue and the switch
// between coroutines, and nothing else.

#include <algorithm>

#include "cases/chip/events_case.h"
#include "chip/kernel/simulator.h"
#include "tensor/safetensors.h"
#include "tensor/tensor.h"

namespace assay::cases::chip {
namespace {

namespace ch = assay::chip;

// The times that a process waits, in picoseconds: cheap to draw, since drawing is part of a call.
class WaitingTimes {
 public:
  WaitingTimes(std::int64_t seed, int set, int process)
      : state_(static_cast<std::uint64_t>(seed * 8 + set) * 0x9E3779B97F4A7C15u +
               static_cast<std::uint64_t>(process) * 0xD1342543DE82EF95u + 1) {}
  std::int64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>(state_ >> 54) + 1;
  }

 private:
  std::uint64_t state_;
};

struct EventsPoint {
  int processes;
  std::int64_t waits, seed;
  explicit EventsPoint(const Json& json)
      : processes(static_cast<int>(lab::point_int(json, "processes"))),
        waits(lab::point_int(json, "waits")),
        seed(lab::point_int(json, "seed")) {}
};

class EventsCase : public lab::Case {
 public:
  std::string_view suite() const override { return "chip"; }
  std::string_view name() const override { return "chip_events"; }
  std::string_view description() const override {
    return "the simulator's event kernel: processes that wait, each for times of its own";
  }
  const lab::PointSchema& schema() const override {
    static const lab::PointSchema kSchema(
        {{"processes", "coroutines side by side", 1, 1 << 16, {}, ""},
         {"waits", "of each process", 1, 1 << 24, {}, ""},
         {"seed", "of the times", 0, 1 << 30, {}, ""}});
    return kSchema;
  }
  std::vector<Json> representative_points() const override { return {point(64, 1 << 12)}; }
  std::vector<Json> standard_points() const override {
    return {point(1, 1 << 16), point(64, 1 << 12), point(4096, 1 << 8)};
  }
  std::vector<lab::Provider> providers() const override {
    return {{.id = "kernel", .description = "coroutines over a binary heap", .threads = 1}};
  }
  std::string_view baseline() const override { return "kernel"; }
  std::optional<lab::Skip> why_not(const Json&, std::string_view, std::string_view) const override {
    return std::nullopt;
  }
  std::uint64_t memory_estimate(const Json&, std::string_view) const override {
    return std::uint64_t{256} << 20;
  }
  std::map<std::string, double> work(const Json& json) const override {
    const EventsPoint p(json);
    return {{"events", static_cast<double>(p.processes) * static_cast<double>(p.waits)}};
  }
  // A process ends when all of its waits are over, whatever the others do.
  std::vector<lab::Expectation> expect(const Json& json, int set, std::int64_t) const override {
    const EventsPoint p(json);
    lab::Expectation e;
    e.output = "ends";
    e.dtype = "f64";
    e.shape = {p.processes};
    e.atol = 0.5;  // picoseconds: sums of whole numbers are exact
    e.oracle = "the sum of each process's waits";
    for (int process = 0; process < p.processes; ++process) {
      WaitingTimes times(p.seed, set, process);
      std::int64_t end = 0;
      for (std::int64_t i = 0; i < p.waits; ++i) end += times.next();
      e.rows.push_back(process);
      e.values.push_back(static_cast<double>(end));
    }
    lab::Expectation order;
    order.output = "steps_back";
    order.dtype = "f64";
    order.shape = {1};
    order.atol = 0.5;
    order.oracle = "time never goes back";
    order.rows = {0};
    order.values = {0};
    return {e, order};
  }

 private:
  static Json point(int processes, int waits) {
    return {{"processes", processes}, {"waits", waits}, {"seed", 0}};
  }
};

// What all processes see of the clock, one after the other.
struct Clock {
  ch::Time latest = 0;
  std::int64_t steps_back = 0;
};

ch::Process wait_and_note(ch::Simulator& simulator, WaitingTimes times, std::int64_t waits,
                          Clock& clock, double& end) {
  for (std::int64_t i = 0; i < waits; ++i) {
    co_await simulator.delay(times.next());
    clock.steps_back += simulator.now() < clock.latest;
    clock.latest = simulator.now();
  }
  end = static_cast<double>(simulator.now());
}

class EventsWorkload : public lab::Workload {
 public:
  explicit EventsWorkload(const Json& json)
      : point_(json), ends_(DType::kF64, Shape({point_.processes})) {}
  void load(int slot, int set) override { sets_[slot] = set; }
  void call(int slot) override {
    ch::Simulator simulator;
    Clock clock;
    auto ends = ends_.as<double>();
    for (int p = 0; p < point_.processes; ++p) {
      simulator.spawn(wait_and_note(simulator, WaitingTimes(point_.seed, sets_[slot], p),
                                    point_.waits, clock, ends[static_cast<std::size_t>(p)]));
    }
    simulator.run();
    steps_back_.as<double>()[0] = static_cast<double>(clock.steps_back);
  }
  void poison_outputs() override {
    std::ranges::fill(ends_.as<double>(), -1.0);
    steps_back_.as<double>()[0] = -1;
  }
  void write_outputs(const std::string& path) override {
    write_safetensors(path, {{"ends", ends_.view()}, {"steps_back", steps_back_.view()}});
  }

 private:
  EventsPoint point_;
  int sets_[2] = {};
  Tensor ends_, steps_back_{DType::kF64, Shape({1})};
};

}  // namespace

std::unique_ptr<lab::Case> events_case() { return std::make_unique<EventsCase>(); }

void add_events_workload(lab::WorkloadRegistry& workloads) {
  workloads.add("chip_events", "kernel",
                [](const Json& point, int) { return std::make_unique<EventsWorkload>(point); });
}

}  // namespace assay::cases::chip
