// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Prints journal lines of every status for row_schema_test.py.

#include <cmath>
#include <iostream>

#include "lab/record/row.h"

namespace assay::lab {
namespace {

Row row_with(Status status) {
  Row row;
  row.run_id = "20260131T235959.000001Z-abc1234";
  row.suite = "semiring";
  row.case_name = "semiring_matmul";
  row.point = {{"n", 64}, {"algebra", "log"}, {"dtype", "f32"}, {"seed", 0}};
  row.provider = "naive";
  row.platform = "cpu";
  row.machine = machine_from_json(Json{{"fingerprint", "0123456789abcdef"},
                                       {"cpu_model", "Example"},
                                       {"sockets", 1},
                                       {"cores", 2},
                                       {"memory_bytes", std::int64_t{1} << 33},
                                       {"gpus", Json::array()},
                                       {"os", "Debian"},
                                       {"kernel", "6.1"},
                                       {"governor", nullptr}});
  row.cores = 2;
  row.status = status;
  if (status != Status::kOk) {
    Failure failure;
    failure.phase = "steady";
    failure.code = std::string(name_of(status));
    failure.message = "why";
    if (status == Status::kCrashed) failure.signal = 11;
    if (status == Status::kFailed) failure.exit_code = 3;
    row.failure = failure;
  }
  if (is_measured(status)) {
    row.metrics = {{"steady_time", 1e-5}, {"flop_rate", INFINITY}, {"bandwidth", NAN}};
    row.samples = samples_from_json(Json{{"steady_s", {1e-5, "nan"}}, {"batch_calls", 64}});
    row.fidelity = fidelity_from_json(
        Json{{"status", status == Status::kOk ? "pass" : "fail"},
             {"error", number_to_json(status == Status::kOk ? 0.5 : INFINITY)},
             {"ulp_p50", nullptr},
             {"nan_count", 0},
             {"checked", {{"elements", 4096}, {"rows", 64}, {"sampled", false}, {"seed", nullptr}}},
             {"oracle", "fp64"}});
    row.work = {{"flops", 524288}};
  }
  row.provenance = provenance_from_json(Json{{"time_start", "2026-01-31T23:59:59.000001Z"},
                                             {"dirty", false},
                                             {"isolation", "process"},
                                             {"cpus", {0, 1}},
                                             {"unequal_work", nullptr},
                                             {"noise", {{"before", {{"load", 0.5}}}}},
                                             {"a_key_of_tomorrow", {1, 2}}});
  row.unknown = {{"a_field_of_tomorrow", {{"x", 1}}}};
  row.attempt_id = make_attempt_id(row.case_name, row.point, row.provider, row.platform, row.cores,
                                   row.round, row.try_number);
  return row;
}

}  // namespace
}  // namespace assay::lab

int main() {
  using assay::lab::Status;
  for (const Status status :
       {Status::kOk, Status::kWrongResult, Status::kSkipped, Status::kEnvMissing,
        Status::kOutOfMemory, Status::kTimeout, Status::kCrashed, Status::kFailed,
        Status::kExcluded, Status::kInterrupted}) {
    std::cout << assay::lab::row_to_line(assay::lab::row_with(status)) << "\n";
  }
}
