// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lab/beside/pairs.h"
#include "lab/beside/place.h"
#include "lab/run/runner.h"

namespace assay::cli {

// Progress on standard error: one line that is rewritten on a terminal, a line for each attempt
// elsewhere. Shows case, round, provider, the ratio so far with its interval, and the time left.
class TerminalProgress : public lab::Progress {
 public:
  TerminalProgress();
  ~TerminalProgress() override;

  void planned(const lab::Plan& plan, int already_done) override;
  void starting(const lab::PointPlan& point, const lab::Contender& contender, int round) override;
  void finished(const lab::Row& row) override;
  void note(const std::string& message) override;
  // Takes the line under way off the terminal, before something else is printed there.
  void clear_line();

 private:
  std::string ratio_so_far(const lab::Row& row) const;
  std::string time_left() const;
  void show(const std::string& line);

  bool terminal_;
  bool open_ended_ = false;  // precision or budget may end the run early
  int total_ = 0, done_ = 0, done_here_ = 0;
  std::int64_t start_ns_ = 0;
  std::map<lab::SeriesId, lab::ByRound> times_;  // of the primary metric, for the ratio shown
};

}  // namespace assay::cli
