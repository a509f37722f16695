// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lab/beside/pairs.h"
#include "lab/beside/place.h"
#include "lab/run/runner.h"

namespace assay::cli {

// Progress on standard error: one line that is rewritten on a terminal, a line now and then
// elsewhere. Shows case, round, provider, the ratio so far with its interval, and the time left;
// where that is too much for the terminal, the point is what is cut. What went wrong stays, once
// for each kind.
class TerminalProgress : public lab::Progress {
 public:
  TerminalProgress();
  ~TerminalProgress() override;

  void planned(const lab::Plan& plan, int already_done) override;
  void starting(const lab::PointPlan& point, const lab::Contender& contender, int round) override;
  void finished(const lab::Row& row) override;
  void note(const std::string& message) override;
  // A note for the moment when a run is begun: one that is refused says nothing but why.
  void note_when_planned(std::string message) { when_planned_ = std::move(message); }
  // Only warnings from here on.
  void be_quiet() { quiet_ = true; }
  // Takes the line under way off the terminal, before something else is printed there.
  void clear_line();
  // How many providers at points were planned and have no row: the budget was spent before them.
  int not_reached(std::span<const lab::Row> rows) const;

 private:
  std::string ratio_so_far(const lab::Row& row) const;
  std::string time_left() const;
  std::string round_text(int round) const;  // "round 3/6"
  // What an attempt is, and what is known of it, as one line that fits.
  void show(const std::string& place, int round, const std::string& rest);

  bool terminal_, quiet_ = false;
  std::string when_planned_;
  std::int64_t shown_ns_ = 0;    // when the last line off a terminal was
  std::set<std::string> noted_;  // what went wrong and has been said
  bool open_ended_ = false;      // precision or budget may end the run early
  int total_ = 0, done_ = 0, done_here_ = 0;
  int rounds_ = 0;  // of the point under way
  std::int64_t start_ns_ = 0;
  using Planned = std::tuple<std::string, Json, std::string, std::string>;
  std::set<Planned> planned_;                    // case, point, provider, platform
  std::map<lab::SeriesId, lab::ByRound> times_;  // of the primary metric, for the ratio shown
};

}  // namespace assay::cli
