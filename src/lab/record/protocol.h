// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the runner and a worker say to each other: JSON and files in one folder, so that any
// language can be a provider. docs/worker_protocol.md describes it for people who write one.
//
//   spec.json             runner → worker: what to do
//   phase                 worker → runner: the phase under way, for crashes and time-outs
//   output-I.safetensors  worker → runner: the outputs of the judged call at point I
//   report-I.json         worker → runner: all else about point I, written last and atomically
//
// A worker that could do what was asked, or can say why not, exits 0.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "lab/record/status.h"

namespace assay::lab {

inline constexpr int kProtocol = 1;
// The environment variable with the attempt's identity (attempt_id), for workers that must tell
// attempts apart; not set for deterministic providers, whose process serves many.
inline constexpr const char* kAttemptVariable = "ASSAY_ATTEMPT";
// `assay-worker --can-load LIBRARY` exits 0 when the library is there, which it loads to see.
inline constexpr const char* kCanLoadOption = "--can-load";
// `assay-worker-cuda --smoke` exits 0 when the device computes rightly, and says what it is.
inline constexpr const char* kSmokeOption = "--smoke";
// A device's worker measures its ceilings, and prints {"name": …, "rates": {…}} (ceilings.h).
inline constexpr const char* kPeaksOption = "--peaks";

// How an attempt measures. Every value is recorded in its row.
struct MeasureSettings {
  int warm_up_calls = 2;       // after the first call, which is timed alone
  int batches = 10;            // the same for every provider of a point, at least kMinBatches
  double steady_s = 0.5;       // of steady time in all
  double batch_min_s = 1e-3;   // a batch is never shorter than this …
  int batch_min_ticks = 1000;  // … nor than this many steps of the clock
  bool flush_l2 = false;       // on a device: its cache is overwritten between calls
};
inline constexpr int kMinBatches = 5;

// Every setting by its name in JSON, for both directions.
template <typename Settings, typename Visit>
void each_setting(Settings& s, const Visit& visit) {
  visit("warm_up_calls", s.warm_up_calls);
  visit("batches", s.batches);
  visit("steady_s", s.steady_s);
  visit("batch_min_s", s.batch_min_s);
  visit("batch_min_ticks", s.batch_min_ticks);
  visit("flush_l2", s.flush_l2);
}

struct WorkerSpec {
  std::string case_name;
  std::string provider;
  std::string platform;
  int cores = 1;
  std::vector<int> cpus;     // the core group; empty: not pinned
  std::vector<Json> points;  // one, or several for a deterministic provider
  bool deterministic = false;
  MeasureSettings settings;
  std::string directory;  // where all files of the attempt are
  // What the worker must know of a case that it was not built with (Case::definition); else null.
  Json definition;
};

// A part of an attempt's time, by the worker's monotonic clock.
struct PhaseTime {
  std::string name;
  std::int64_t start_ns = 0, end_ns = 0;
};

struct WorkerReport {
  Status status = Status::kOk;  // ok, or what the worker itself knows: failed, env_missing, …
  std::string phase, code, message;  // of a failure
  std::map<std::string, double> metrics;
  std::vector<double> steady_s;  // one call, in seconds, for each batch
  std::int64_t batch_calls = 0;
  std::map<std::string, std::vector<double>> samples;  // further raw values by name
  std::map<std::string, std::string> versions;
  std::vector<PhaseTime> phases;
};

Json settings_to_json(const MeasureSettings& settings);
MeasureSettings settings_from_json(const Json& json, std::string_view what);

Json spec_to_json(const WorkerSpec& spec);
WorkerSpec spec_from_json(const Json& json, std::string_view what);

Json report_to_json(const WorkerReport& report);
// Checks everything a foreign worker could get wrong: unknown metrics, statuses that are not a
// worker's to give, steady times that are not positive numbers. Throws UserError.
WorkerReport report_from_json(const Json& json, std::string_view what);

std::string spec_path(const std::string& directory);
std::string phase_path(const std::string& directory);
std::string output_path(const std::string& directory, std::size_t point);
// Where the answer of a second call on the same inputs is, for providers that are judged again.
std::string again_path(const std::string& output_path);
std::string report_path(const std::string& directory, std::size_t point);

}  // namespace assay::lab
