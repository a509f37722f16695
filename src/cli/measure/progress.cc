// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "base/clock.h"
#include "base/units.h"
#include "cli/terminal.h"
#include "lab/record/point.h"

namespace assay::cli {
namespace {

std::string point_of(const lab::Row& row) {
  return fmt::format("{} {}", row.case_name, lab::point_label(row.point));
}

}  // namespace

TerminalProgress::TerminalProgress() : terminal_(isatty(STDERR_FILENO) == 1) {}

TerminalProgress::~TerminalProgress() { clear_line(); }

void TerminalProgress::clear_line() {
  if (terminal_) std::fputs("\r\033[K", stderr);
}

void TerminalProgress::show(const std::string& line) {
  clear_line();
  std::fputs(
      terminal_
          ? line.substr(0, static_cast<std::size_t>(terminal_columns(STDERR_FILENO) - 1)).c_str()
          : (line + "\n").c_str(),
      stderr);
  std::fflush(stderr);
}

void TerminalProgress::note(const std::string& message) {
  clear_line();
  std::fputs((message + "\n").c_str(), stderr);
}

void TerminalProgress::planned(const lab::Plan& plan, int already_done) {
  total_ = plan.attempts;
  open_ended_ = plan.may_end_early;
  done_ = already_done;
  start_ns_ = monotonic_ns();
  note(fmt::format("{}{} attempts at {} points{}", plan.may_end_early ? "at most " : "", total_,
                   plan.points.size(),
                   already_done > 0 ? fmt::format(", {} done before", already_done) : ""));
}

void TerminalProgress::starting(const lab::PointPlan& point, const lab::Contender& contender,
                                int round) {
  if (!terminal_) return;
  show(fmt::format("[{}/{}] {} {}  round {}/{}  {}  {}", done_ + 1, total_,
                   point.definition->name(), lab::point_label(point.point), round + 1,
                   point.order.size(), contender.name, time_left()));
}

void TerminalProgress::finished(const lab::Row& row) {
  const bool counts = !lab::is_void(row.status);  // a void attempt is made again
  done_ += counts;
  done_here_ += counts;
  const auto who = fmt::format("[{}/{}] {}  round {}  {}", done_, total_, point_of(row),
                               row.round + 1, row.provider);
  if (row.status == lab::Status::kOk) {
    const double value = row.metric_or_nan(row.primary_metric());
    if (value > 0) times_[lab::series_of(row)][{row.run_id, row.round}] = value;
    show(fmt::format("{}  {}  {}  {}", who, format_seconds(value), ratio_so_far(row), time_left()));
    return;
  }
  // What was refused by the plan is in the table; what went wrong is worth a line that stays.
  const bool planned = row.failure && row.failure->phase == "plan";
  const auto line = fmt::format("{}  {}: {}", who, lab::name_of(row.status), row.failure_message());
  planned ? show(line) : note(line);
}

std::string TerminalProgress::ratio_so_far(const lab::Row& row) const {
  const auto own = times_.find(lab::series_of(row));
  const auto base = times_.find({lab::place_of(row), row.provenance.baseline.value_or("")});
  if (own == times_.end() || base == times_.end() || own == base) return "";
  const auto known = lab::pair_rounds(own->second, base->second).ratio();
  if (!known) return "";
  const auto& ratio = *known;
  if (!ratio.interval) return fmt::format("{:.3f}", ratio.ratio);
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", ratio.ratio, ratio.interval->low,
                     ratio.interval->high);
}

std::string TerminalProgress::time_left() const {
  if (done_here_ == 0 || done_ >= total_) return "";
  const double elapsed = 1e-9 * static_cast<double>(monotonic_ns() - start_ns_);
  const double left = elapsed / done_here_ * (total_ - done_);
  const char* how = open_ended_ ? "at most" : "about";
  if (left >= 90) return fmt::format("{} {:.0f} min left", how, std::ceil(left / 60));
  return fmt::format("{} {:.0f} s left", how, std::ceil(left));
}

}  // namespace assay::cli
