// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Many cases on one surface: shared preparation, one case for each core, results kept as they come.

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "transport/solve.h"

namespace assay::transport {

struct ScanOptions {
  Method method = Method::kAuto;
  bool whole_system = true;  // see SolveOptions
  // Lanes that solve at the same time, each with single-threaded BLAS and memory of its own
  // (see memory.h). MONKES' threaded LU gains 4.4× on 8 cores; one case per core gains 8×.
  int threads = 1;
  // Most cases that MPI's ranks are given at a time; threads take one after the other.
  int batch = 32;
  // Told after each case; may be empty.
  std::function<void(std::size_t done, std::size_t total)> on_progress;
  // Whose arithmetic it is, where that is not this processor's: part of what a journal belongs to.
  std::string device;
  // Polled between cases; when true the scan stops with what it has (see ScanResult::complete).
  const std::atomic<bool>* interrupt = nullptr;
  // File that keeps every case from the moment it is done; empty: none. A scan that finds its own
  // file there goes on where that one ended; any other file is refused and left as it is.
  std::string journal;
};

struct ScanResult {
  std::vector<Solution> solutions;  // in the order of the cases
  std::size_t solved = 0;           // by this call
  std::size_t resumed = 0;          // taken from the journal
  std::size_t mirrored = 0;         // cases that share another one's solution
  bool complete = true;
};

// Told of each case as it is done, one after the other: its place among the cases that were given.
using OnSolved = std::function<void(std::size_t index, Solution solution)>;
// Solves cases somewhere: threads here, ranks elsewhere. May leave some out when interrupted.
using CaseSolver = std::function<void(std::span<const Case>, const OnSolved&)>;

// All cases, on options.threads threads. Equal cases, and with a cosine-only B those that differ in
// the sign of Ê, are solved once: D(−Ê) = D(Ê). Throws what solve() throws, before anything is
// solved where that can be known.
ScanResult solve_scan(const Prepared& prepared, std::span<const Case> cases,
                      const ScanOptions& options = {});
// The same with the cases given to `solver`.
ScanResult solve_scan(const Prepared& prepared, std::span<const Case> cases,
                      const ScanOptions& options, const CaseSolver& solver);
// What they share: cases that must be solved are told apart, those in the journal are taken from
// it, `solver` gets all, with what is solved so far, and tells of each by its index among them;
// `settings` is what makes the journal that of this scan.
using Solved = std::vector<std::optional<Solution>>;
using OpenSolver = std::function<void(std::span<const Case>, const Solved&, const OnSolved&)>;
ScanResult keep_cases(const Prepared& prepared, std::span<const Case> cases,
                      const ScanOptions& options,
                      const std::function<Json(std::span<const Case>)>& settings,
                      const OpenSolver& solver);
// The solver of the first form.
void solve_on_threads(const Prepared& prepared, std::span<const Case> cases,
                      const ScanOptions& options, const OnSolved& on_solved);

// Every pair of the two lists, ν̂ slowest.
std::vector<Case> case_grid(std::span<const double> nu_hat, std::span<const double> epsi_hat);

// A solution without its modes as one JSON object that reads back bit for bit, and that object for
// people (`coefficients`, `residual`, `onsager`, `warnings`, …).
Json solution_to_json(const Solution& solution);
Solution solution_from_json(const Json& json, std::string_view what);

}  // namespace assay::transport
