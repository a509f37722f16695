// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "cli/arguments/arguments_add.h"

namespace assay::cli {

void add_executor_options(CLI::App& app, ExecutorArguments& a, const ExecutorHelp& help) {
  const std::string group = "On a cluster (docs/cluster.md)";
  app.add_option("--executor", a.executor, help.executor)
      ->check(CLI::IsMember({"local", "slurm"}))
      ->group(group);
  app.add_option("--partition", a.partition, "Slurm's partition (its default)")->group(group);
  app.add_option("--nodes", a.nodes, help.nodes)->group(group);
  app.add_option("--account", a.account, "whom Slurm charges")->group(group);
  app.add_option("--time", a.time, help.time)->group(group);
  app.add_option("--constraint", a.constraint, "features that nodes must have, as sbatch has it")
      ->group(group);
  app.add_option("--gpus-per-node", a.gpus_per_node, "GPUs that a job asks for (0)")->group(group);
  if (!help.kinds) return;
  app.add_flag("--on-each-kind", a.on_each_kind,
               "a run on each kind of node there is, one after the other: a survey of the fleet")
      ->group(group);
  app.add_option("--pin-kind", a.pin_kind,
                 "only on machines of this fingerprint (assay doctor): the nodes are asked")
      ->group(group);
}

}  // namespace assay::cli
