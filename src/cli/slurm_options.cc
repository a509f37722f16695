// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/slurm_options.h"

#include "base/error.h"

namespace assay::cli {

void check_executor(const ExecutorArguments& a) {
  if (a.executor == "slurm") return;
  const auto refuse = [](const char* option, const std::string& value) {
    fail("{} is for --executor slurm, got '{}'", option, value);
  };
  if (!a.partition.empty()) refuse("--partition", a.partition);
  if (!a.account.empty()) refuse("--account", a.account);
  if (!a.time.empty()) refuse("--time", a.time);
  if (!a.constraint.empty()) refuse("--constraint", a.constraint);
  if (!a.pin_kind.empty()) refuse("--pin-kind", a.pin_kind);
  if (a.nodes) refuse("--nodes", std::to_string(*a.nodes));
  if (a.gpus_per_node) refuse("--gpus-per-node", std::to_string(*a.gpus_per_node));
  if (a.on_each_kind) fail("--on-each-kind is for --executor slurm");
}

lab::SlurmOptions slurm_options(const ExecutorArguments& a) {
  if (a.nodes && *a.nodes < 1) fail("--nodes must be at least 1, got {}", *a.nodes);
  if (a.gpus_per_node && *a.gpus_per_node < 0) {
    fail("--gpus-per-node must be at least 0, got {}", *a.gpus_per_node);
  }
  if (!a.time.empty()) lab::slurm_time_s(a.time);
  return {a.partition,  a.account,           a.time,
          a.constraint, a.nodes.value_or(0), a.gpus_per_node.value_or(0),
          a.excluded};
}

}  // namespace assay::cli
