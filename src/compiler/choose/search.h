// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The fastest program within a budget: candidates are planned, verified, and only then timed beside
// the best so far.
//
// What is found is written down as it is found, one line for each candidate, under a name that says
// graph, machine, runtime and version. A search that was killed goes on from there.
//
// Candidate i depends on the seed, on i, and on which candidates before it took the first place: on
// nothing else that a clock says. A place is only lost to a program that is clearly faster
// (referee.h), so that a search of the same seed that begins anew proposes the same candidates and
// ends at the same program, unless two of them are about that margin apart. Journals of other seeds
// are not looked at while a search runs, only for what is fastest in the end.

#include <functional>
#include <optional>
#include <string>

#include "compiler/choose/candidate.h"
#include "compiler/choose/referee.h"
#include "compiler/verify/wrong_program.h"

namespace assay::compiler {

struct SearchOptions {
  int candidates = 0;   // beside the default program; 0: no search, but what others found
  double seconds = 60;  // no candidate is begun after that
  std::uint64_t seed = 0;
  Bindings symbols;               // that candidates are timed at; none: the greatest
  std::int64_t memory_limit = 0;  // of the arena, in bytes; 0: none
  std::string folder;             // where results are kept; empty: nowhere
  std::string machine;            // whose results they are
  CompileOptions compile;
  VerifyOptions verify;
  bool verifies_result = false;  // also where nothing is tried, or another search found it
  RefereeMaker referee;          // none: the clock
  std::function<void(const std::string&)> progress;  // one line for each candidate
  // What is not as it should be with what is kept: lines that were changed, once; a folder that
  // cannot be written, once, and the search goes on without it.
  std::function<void(const std::string&)> warn;
};

struct SearchResult {
  Program program;
  Genome genome;
  // Over the default program, in the rounds in which it was timed, and what that is between
  // (timing.h). All 1 where that is the default program.
  double speedup = 1, speedup_low = 1, speedup_high = 1;
  int tried = 0, timed = 0, duplicates = 0, too_large = 0, abandoned = 0, from_before = 0;
  double seconds = 0;
  std::string stop;  // "candidates", "seconds", "nothing new"
  // Elements that were held to a bound; nothing where the program was not verified now: no search
  // was asked for, or an earlier one has verified it.
  std::optional<ProgramVerifier::Coverage> verified;
};

// Throws WrongProgram where a candidate is wrong: the search stops. The default program is verified
// too, once for all searches that share a journal.
SearchResult search(const Graph& graph, const Runtime& runtime, const SearchOptions& options);

// For graphs that are small themselves: symbols to 6, ordinary and adversarial inputs.
VerifyOptions small_sizes();

// "" where `count` candidates by chance, the default program first, all are right; else what is
// wrong. `seed` is that of the options, too.
std::string mistake_among_candidates(const Graph& graph, const Runtime& runtime, int count,
                                     std::uint64_t seed, VerifyOptions options = small_sizes());

// Where the results for a graph are kept below options.folder.
std::string search_file(const Graph& graph, const Runtime& runtime, const SearchOptions& options);
// The greatest values, but none above 256.
Bindings default_symbols(const Graph& graph);

}  // namespace assay::compiler
