// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One job that is many processes of one program, started by srun: found again by its name, followed
// to its end, submitted again where it was lost.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lab/cluster/slurm.h"

namespace assay::lab {

struct SlurmJobRequest {
  struct File {
    std::string path, sha256;
  };
  SlurmOptions slurm;
  std::string name;                  // the same for the same work, and for no other
  std::string folder;                // of its files, which the nodes see as well: one per output
  std::string output;                // the file that the command writes where it ends with 0
  std::vector<std::string> command;  // that every process runs
  std::vector<File> files;           // that it reads; the nodes refuse others
  int processes = 1;
  int cpus_per_process = 1;
};

// The exit status of the command, after its standard output went to ours and its standard error,
// while it came, to ours as well; 130 where `stop` became true, and the job was cancelled, or
// somebody else cancelled it. A job of that name that is there is followed, not submitted again;
// one that ended meanwhile is believed where the output is still the very file that it wrote. One
// that was lost is submitted again for as long as `progress` (bytes of journals, say) grows in
// between. What an earlier job of another name left in the folder is removed.
//
// Throws UserError where somebody follows a job in this folder already, or a job of another name is
// at the same output; EnvironmentError where Slurm refuses, or the job comes to nothing;
// Interrupted where `stop` became true before there was a job.
int run_slurm_job(const SlurmJobRequest& request, const std::atomic<bool>& stop,
                  const std::function<std::uint64_t()>& progress);

}  // namespace assay::lab
