// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of a row. Rows of other versions and other hands lack some facts, or have more:
// whatever is absent or of another type is not known, never an error, and `rest` keeps it.
// docs/row.schema.json says what each member means.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace assay::lab {

struct RunRequest;

// Why a row is not ok. `code` comes from a structured source, never from searching text.
struct Failure {
  std::string phase;    // start, prepare, cold, … or plan, judge
  std::string code;     // "timeout", "module_missing", "value", …
  std::string message;  // one line for a person
  std::optional<std::int64_t> signal, exit_code;
  std::string stderr_tail;
  Json rest = Json::object();
  static void fields(auto& self, auto&& field);
};

// The machine that the attempt ran on: a hash of the hardware, and facts beside it.
struct MachineFacts {
  std::string fingerprint;
  std::optional<std::string> cpu_model, os, kernel, governor;
  std::optional<std::int64_t> sockets, cores;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::vector<std::string>> gpus;
  std::optional<std::string> fingerprint_from;  // of imported rows: what the hash was made of
  Json rest = Json::object();
  static void fields(auto& self, auto&& field);
};

// Raw values of an attempt: one call's seconds for each batch, stages, … by name.
struct Samples {
  std::map<std::string, std::vector<double>> lists;
  std::optional<std::int64_t> batch_calls;
  Json rest = Json::object();

  // Those of this name; empty where there are none.
  const std::vector<double>& operator[](const std::string& name) const;
  const std::vector<double>& steady_s() const { return (*this)["steady_s"]; }
};

// The output against the oracle.
struct Fidelity {
  // Text, not an enumeration: a status that a later version gives is still shown and exported.
  inline static constexpr const char* kPass = "pass";
  inline static constexpr const char* kFail = "fail";
  inline static constexpr const char* kNoOracle = "no_oracle";
  inline static constexpr const char* kNotApplicable = "not_applicable";

  struct Checked {
    std::int64_t elements = 0, rows = 0;
    bool sampled = false;
    std::optional<std::int64_t> seed;
    Json rest = Json::object();
    static void fields(auto& self, auto&& field);
  };

  std::string status;
  std::optional<double> error;  // in tolerances: 1 is the limit
  std::optional<double> max_abs, max_rel, ulp_p50, ulp_max;
  std::optional<std::int64_t> nan_count;
  std::optional<Checked> checked;
  std::optional<double> rtol, atol;
  std::optional<std::string> oracle;
  Json rest = Json::object();
  static void fields(auto& self, auto&& field);
};

// What the machine did around the attempt.
struct NoiseRecord {
  struct Moment {
    std::optional<double> load;
    Json rest = Json::object();
    static void fields(auto& self, auto&& field);
  };
  std::optional<Moment> before, after;
  std::optional<double> steal_fraction;
  std::optional<double> foreign_fraction;  // of the cores' time, to programs that were not ours
  Json rest = Json::object();
  static void fields(auto& self, auto&& field);
};

// How the measuring of a point stood at this row, with --precision or --budget.
struct StopRecord {
  std::optional<std::int64_t> rounds;
  std::string decision;  // continue, met, exhausted, budget, no_ratio
  std::optional<double> target, worst;
  std::optional<std::map<std::string, double>> precision;
  Json rest = Json::object();
  static void fields(auto& self, auto&& field);
};

struct CalibrationRecord {
  std::optional<std::string> measured;
  std::optional<std::int64_t> comparisons;
  std::optional<double> floor;
  Json rest = Json::object();
  static void fields(auto& self, auto&& field);
};

// What the driver said of the GPU that an attempt had.
struct GpuRecord {
  std::optional<std::string> uuid, name, driver;
  // In the steady phase; clocks are those of the multiprocessors.
  std::optional<std::int64_t> clock_mhz_min, clock_mhz_max, memory_clock_mhz, temperature_c_max;
  std::optional<double> power_w;  // mean, by the energy counter
  std::optional<std::int64_t> looks;
  // At any time of the attempt.
  std::optional<std::vector<std::string>> throttled;
  std::optional<std::uint64_t> memory_bytes_max;  // beyond what was taken before
  std::optional<std::int64_t> strangers;          // other processes that computed on it, at most
  Json rest = Json::object();
  static void fields(auto& self, auto&& field);
};

struct LimitRecord {
  std::optional<double> seconds;
  std::optional<std::string> ceiling, measured;
  std::optional<bool> is_bound;
  Json rest = Json::object();
  static void fields(auto& self, auto&& field);
};

struct SideRecord {
  std::optional<std::string> label, worker_sha256, case_file_sha256;
  Json rest = Json::object();
  static void fields(auto& self, auto&& field);
};

struct ImportRecord {
  std::optional<std::string> tool, file, file_sha256, benchmark, time_from, steady_time_is;
  std::optional<Json> details;
  Json rest = Json::object();
  static void fields(auto& self, auto&& field);
};

// How a row came to be.
struct Provenance {
  // When.
  std::optional<std::string> time_start, time_end;
  std::optional<std::int64_t> start_ns, end_ns;
  std::optional<double> duration_s;  // that the run spent on it, by the monotonic clock
  // By which program, of which source.
  std::optional<std::string> assay_version, commit, branch, binary_sha256, compiler, flags;
  std::optional<bool> dirty;
  std::optional<std::string> tree_commit;  // of the checkout it was started in, where that differs
  std::optional<std::map<std::string, std::string>> versions, environment;
  // As part of which run.
  std::optional<std::string> label, mode;
  std::optional<std::uint64_t> order_seed;
  std::optional<Json> settings, request;  // asked() reads them
  std::optional<std::string> isolation;   // "process" or "in-process"
  std::optional<bool> interleaved;        // false: its rounds do not pair
  // What the case and the provider say.
  std::optional<std::string> baseline, primary_metric, unequal_work, expected_status, origin;
  std::optional<Json> identity;
  std::optional<SideRecord> side;
  // What happened.
  std::optional<std::vector<int>> cpus;
  std::optional<std::string> device, contaminated;
  std::optional<std::int64_t> orphans_killed;
  std::optional<std::map<std::string, double>> phases_s;
  std::optional<NoiseRecord> noise;
  std::optional<StopRecord> stopping;
  std::optional<GpuRecord> gpu;
  std::optional<CalibrationRecord> calibration;
  std::optional<LimitRecord> limit;
  std::optional<ImportRecord> import;
  Json rest = Json::object();
  static void fields(auto& self, auto&& field);

  // What is one step down, where it is known.
  std::optional<double> load_before() const;
  std::optional<double> steal_fraction() const;
  std::optional<double> foreign_fraction() const;
  std::optional<double> calibration_floor() const;

  // What the user asked for; nothing where the row does not say, or says it in a way that this
  // version does not read.
  std::optional<RunRequest> asked() const;
};

Json to_json(const Failure& failure);
Json to_json(const MachineFacts& machine);
Json to_json(const Samples& samples);
Json to_json(const Fidelity& fidelity);
Json to_json(const StopRecord& stopping);
Json to_json(const Provenance& provenance);

// Of JSON objects.
Failure failure_from_json(Json json);
MachineFacts machine_from_json(Json json);
Samples samples_from_json(Json json);
Fidelity fidelity_from_json(Json json);
NoiseRecord::Moment moment_from_json(Json json);
Provenance provenance_from_json(Json json);

}  // namespace assay::lab
