// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "lab/record/protocol.h"
#include "lab/record/status.h"

namespace assay::lab {

// What a program says of calls that it timed by its own clock.
struct OwnTimes {
  std::vector<double> steady_s;  // seconds of one call, one value for each repetition
  std::int64_t batch_calls = 0;  // calls behind each value, at least
  std::map<std::string, std::vector<double>> samples;  // further values, as in a report
};

// What the calls of a batch took by the device's own clock, in seconds.
struct DeviceTimes {
  double calls_s = 0;   // 0: there is no such clock
  double sweeps_s = 0;  // between the calls, to empty caches: part of no call (flush_l2)
};

// One provider at one point, inside an attempt. It owns two slots of input buffers and one set of
// outputs; the measurement decides what goes where and when. A call does all of its work before it
// returns; work on a device may go on until end_batch() has returned.
class Workload {
 public:
  virtual ~Workload() = default;

  // How it will be measured; told once, before all else.
  virtual void prepare_for(const MeasureSettings&) {}

  // Generates input set `set` into the buffers of slot `slot` (0 or 1). Untimed.
  virtual void load(int slot, int set) = 0;
  // Computes the outputs from the inputs of that slot. This is what is timed.
  virtual void call(int slot) = 0;
  // Overwrites every output with a value no right answer contains (NaN, or a byte pattern).
  virtual void poison_outputs() = 0;
  // Writes the outputs of the last call, in the form the judge reads (.safetensors).
  virtual void write_outputs(const std::string& path) = 0;

  // Told before and after the calls that are timed together.
  virtual void begin_batch() {}
  // Waits until all work of the batch's calls is done.
  virtual DeviceTimes end_batch() { return {}; }

  // A provider that times its calls itself is asked for them once, in place of all that is above;
  // it has no output that could be judged (Provider::judged).
  virtual bool times_itself() const { return false; }
  virtual OwnTimes own_times(const MeasureSettings&) { return {}; }

  // The stages of the last call in their order, with their seconds; empty: a call is one thing.
  // Each is a metric "stage_NAME" and "cold_stage_NAME" (lab/record/metrics.h).
  virtual std::vector<std::pair<std::string, double>> stages() const { return {}; }
  // What the last call took by a clock of the workload's own, in seconds, where more than the work
  // lies around it; nothing: it is timed from outside.
  virtual std::optional<double> own_seconds() const { return std::nullopt; }
  // Whether each call is the whole run of a program and a sample by itself. Then an attempt has no
  // calls but those that count and the warm-up before them, and the last of them is judged.
  virtual bool is_whole_run() const { return false; }
  // Calls before those that count; nothing: as many as the settings say. For whole runs.
  virtual std::optional<int> warm_up_calls() const { return std::nullopt; }
  // What else is known of the last call, by name: each a list of the row's samples. For whole runs.
  virtual std::map<std::string, double> call_values() const { return {}; }
  // Whether the judged call is made once more on the same inputs, and that answer judged too: code
  // that somebody else wrote may do its work only at the first call of a state.
  virtual bool is_judged_again() const { return false; }
  // Bytes that child processes of the last call held at their peak, beyond what they share with
  // this one; those of this process are seen from outside.
  virtual double child_memory() const { return 0; }

  // Metrics that only the provider knows (compile_time, simulated_time, …), after all calls.
  virtual std::map<std::string, double> metrics() const { return {}; }
  // Versions of the libraries behind it.
  virtual std::map<std::string, std::string> versions() const { return {}; }
};

// A provider that cannot serve says why in the terms of a row: status and code.
class ProviderFailure : public std::runtime_error {
 public:
  ProviderFailure(Status status, std::string code, const std::string& message)
      : std::runtime_error(message), status_(status), code_(std::move(code)) {}
  Status status() const { return status_; }
  const std::string& code() const { return code_; }

 private:
  Status status_;
  std::string code_;
};

// Native providers by (case, provider), and those of cases that a spec defines. Filled by the
// cases, read by the worker.
class WorkloadRegistry {
 public:
  // Makes the workload of a canonical point for that many threads.
  using Factory = std::function<std::unique_ptr<Workload>(const Json& point, int cores)>;

  void add(std::string_view case_name, std::string_view provider, Factory factory);
  // Throws ProviderFailure (failed, unknown_provider) for a pair nobody added.
  std::unique_ptr<Workload> make(std::string_view case_name, std::string_view provider,
                                 const Json& point, int cores) const;

  // Makes the workload of a point where the spec has a definition.
  using DefinedFactory =
      std::function<std::unique_ptr<Workload>(const WorkerSpec& spec, const Json& point)>;
  void serve_definitions(DefinedFactory factory) { defined_ = std::move(factory); }
  // The workload of one of the spec's points. Throws ProviderFailure as above.
  std::unique_ptr<Workload> make(const WorkerSpec& spec, const Json& point) const;

 private:
  std::map<std::pair<std::string, std::string>, Factory> factories_;
  DefinedFactory defined_;
};

}  // namespace assay::lab
