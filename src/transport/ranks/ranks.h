// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A scan over MPI ranks: every rank prepares the surface, rank 0 hands out batches and gathers.

#include <functional>
#include <optional>
#include <vector>

#include "transport/ranks/rank_journal.h"
#include "transport/scan/scan.h"

namespace assay::transport {

// Whether this process was started by an MPI launcher (mpirun, srun with PMI): looked up in the
// environment, so that a program without ranks never touches MPI.
bool started_by_mpi();

// The MPI world, from initialisation to the end. At most one in a process.
class Ranks {
 public:
  Ranks();
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  // Runs `root` on rank 0 with a solver that spreads cases over all ranks, round by round: one for
  // each lane (options.threads of them on every rank), or, where a round is over in a moment, up to
  // options.batch. The other ranks serve it until it returns. An error on any rank is thrown on
  // rank 0 as a UserError with its message.
  void run(const Prepared& prepared, const ScanOptions& options,
           const std::function<void(const CaseSolver&)>& root);

  // Peak memory of all ranks together in bytes, as far as run() has heard of it; on rank 0. What
  // ranks share (the program itself) counts in each.
  double peak_memory() const;

  // The exit status of rank 0 on every rank.
  int agree(int status);

 private:
  // Solves this rank's cases of a batch of (nu_hat, epsi_hat) pairs; all of them come to rank 0.
  std::vector<Solution> solve_share(const Prepared& prepared, const ScanOptions& options,
                                    const std::vector<double>& batch);
  int rank_ = 0, size_ = 1;
  std::vector<double> memory_;  // of each rank
  std::optional<RankJournal> journal_;
};

}  // namespace assay::transport
