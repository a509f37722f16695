// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/executor.h"

#include <filesystem>

#include "base/error.h"
#include "cli/slurm_options.h"
#include "lab/cluster/kinds.h"

namespace assay::cli {

std::optional<lab::SlurmRunOptions> slurm_asked(const ExecutorArguments& a,
                                                const lab::RunContext& context) {
  check_executor(a);
  if (a.executor != "slurm") return std::nullopt;
  lab::need_slurm();
  lab::SlurmRunOptions options{slurm_options(a), a.pin_kind};
  if (!a.pin_kind.empty()) {
    options.slurm.excluded =
        lab::nodes_of_other_kinds(options.slurm, a.pin_kind, context.own_program, *context.stop,
                                  [&](const std::string& line) { context.progress->note(line); });
  }
  return options;
}

std::vector<RunArguments> on_each_kind(const RunArguments& typed,
                                       const std::vector<RunArguments>& runs,
                                       const std::atomic<bool>& stop) {
  check_executor(typed.cluster);
  if (!typed.resume.empty())
    fail("--on-each-kind begins runs, --resume continues one: '{}'", typed.resume);
  if (!typed.cluster.pin_kind.empty()) {
    fail("--on-each-kind and --pin-kind exclude each other, got '{}'", typed.cluster.pin_kind);
  }
  if (!typed.out.empty() && !typed.out.ends_with('/') &&
      !std::filesystem::is_directory(typed.out)) {
    fail("--on-each-kind makes several journals: --out must be a folder, got '{}'", typed.out);
  }
  lab::need_slurm();
  const auto kinds = lab::node_kinds(lab::slurm_nodes(slurm_options(typed.cluster), stop));
  std::vector<RunArguments> all;
  for (const auto& run : runs) {
    for (const auto& kind : kinds) {
      all.push_back(run);
      all.back().cluster.kind = kind.name;
      all.back().cluster.excluded = kind.others;
      all.back().cluster.kind_works = kind.works;
    }
  }
  return all;
}

}  // namespace assay::cli
