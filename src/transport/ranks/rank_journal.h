// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "transport/solve.h"

namespace assay::transport {

// What each rank of a scan has solved, from the moment it is solved, in a file of its own beside
// the scan's journal (JOURNAL.rank-3): the journal itself hears of a round when all of it is done.
// A scan that goes on, with however many ranks, has all of them again.
class RankJournal {
 public:
  // Reads what earlier ranks left for the same `settings`; other files of those names are ignored.
  RankJournal(const std::string& journal, const Json& settings);
  // Begins this rank's own file, or goes on in it. Every rank must have read before any begins.
  void begin(int rank);

  const Solution* find(const Case& c) const;
  void append(const Case& c, const Solution& solution);

 private:
  std::string journal_, path_;
  Json settings_;
  UniqueFd fd_;
  std::map<std::pair<double, double>, Solution> solved_;
};

// Takes them away, when the scan's output has what is in them.
void remove_rank_journals(const std::string& journal);

}  // namespace assay::transport
