// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/terminal.h"
#include "lab/record/point.h"
#include "lab/show/terminal/cells.h"

namespace assay::cli {
namespace {

constexpr std::int64_t kBetweenLinesNs =
    10'000'000'000;  // where every line stays, as in a CI's log
constexpr int kLongestProvider = 20, kShortestPlace = 12;

std::string place_of(std::string_view case_name, const Json& point) {
  return fmt::format("{} {}", case_name, lab::point_label(point));
}

std::string shown_provider(const std::string& name) {
  return fit(printable(name), kLongestProvider);
}

// Parts that say something, with gaps between them.
std::string joined(std::initializer_list<std::string> parts) {
  std::string line;
  for (const auto& part : parts) {
    if (!part.empty()) line += (line.empty() ? "" : "  ") + part;
  }
  return line;
}

// The place is cut as far as it must be, then the round is left out, then the place: provider,
// ratio and time left are what a reader waits for.
std::string fitted(const std::string& count, const std::string& place, const std::string& round,
                   const std::string& rest, int columns) {
  const int left = columns - display_width(count) - display_width(rest) - 2;
  if (left < kShortestPlace) return fit(count + rest, columns);
  const int beside_round = left - display_width(round) - 2;
  if (beside_round < kShortestPlace) return joined({count + fit(printable(place), left), rest});
  return joined({count + fit(printable(place), beside_round), round, rest});
}

}  // namespace

TerminalProgress::TerminalProgress() : terminal_(isatty(STDERR_FILENO) == 1) {}

TerminalProgress::~TerminalProgress() { clear_line(); }

void TerminalProgress::clear_line() {
  if (terminal_) std::fputs("\r\033[K", stderr);
}

void TerminalProgress::show(const std::string& place, int round, const std::string& rest) {
  if (quiet_) return;
  const auto count = fmt::format("[{}/{}] ", done_, total_);
  if (terminal_) {
    const auto line =
        fitted(count, place, round_text(round), rest, terminal_columns(STDERR_FILENO) - 1);
    std::fputs(("\r\033[K" + line).c_str(), stderr);
  } else {
    const bool last = done_ >= total_;
    if (!last && monotonic_ns() - shown_ns_ < kBetweenLinesNs) return;
    shown_ns_ = monotonic_ns();
    std::fputs((count + joined({printable(place), round_text(round), rest}) + "\n").c_str(),
               stderr);
  }
  std::fflush(stderr);
}

void TerminalProgress::note(const std::string& message) {
  if (quiet_ && !message.starts_with("warning")) return;
  clear_line();
  std::fputs((message + "\n").c_str(), stderr);
}

void TerminalProgress::planned(const lab::Plan& plan, int already_done) {
  total_ = plan.attempts;
  open_ended_ = plan.may_end_early;
  done_ = already_done;
  done_here_ = 0;  // a program may make several runs
  planned_.clear();
  start_ns_ = monotonic_ns();
  for (const auto& point : plan.points) {
    for (const auto& contender : point.contenders) {
      planned_.emplace(point.definition->name(), point.point, contender.name, contender.platform);
    }
  }
  note(fmt::format("{}{} attempts at {} points{}", plan.may_end_early ? "at most " : "", total_,
                   plan.points.size(),
                   already_done > 0 ? fmt::format(", {} done before", already_done) : ""));
  if (!when_planned_.empty()) note(std::exchange(when_planned_, ""));
}

int TerminalProgress::not_reached(std::span<const lab::Row> rows) const {
  auto left = planned_;
  for (const auto& row : rows) left.erase({row.case_name, row.point, row.provider, row.platform});
  return static_cast<int>(left.size());
}

void TerminalProgress::starting(const lab::PointPlan& point, const lab::Contender& contender,
                                int round) {
  rounds_ = static_cast<int>(point.order.size());
  if (!terminal_) return;
  show(place_of(point.definition->name(), point.point), round,
       joined({shown_provider(contender.name), time_left()}));
}

void TerminalProgress::finished(const lab::Row& row) {
  const bool counts = !lab::is_void(row.status);  // a void attempt is made again
  done_ += counts;
  done_here_ += counts;
  const auto place = place_of(row.case_name, row.point);
  const auto who = shown_provider(row.provider);
  if (row.status == lab::Status::kOk) {
    const double value = row.metric_or_nan(row.primary_metric());
    if (value > 0) times_[lab::series_of(row)][lab::round_of(row)] = value;
    const auto ratio = ratio_so_far(row);
    show(place, row.round,
         joined({who, ratio.empty() ? format_seconds(value) : ratio, time_left()}));
    return;
  }
  // What was refused by the plan is in the table, what was excluded is told by the runner and
  // counted; what went wrong is worth a line that stays, once.
  const auto what =
      fmt::format("{}: {}", lab::name_of(row.status), printable(row.failure_message()));
  const bool planned = row.failure && row.failure->phase == "plan";
  if (planned || row.status == lab::Status::kExcluded)
    return show(place, row.round, joined({who, what}));
  if (quiet_ || !noted_.insert(place + row.provider + what).second) return;
  note(fmt::format("[{}/{}] ", done_, total_) +
       joined({printable(place), round_text(row.round), who, what}));
}

std::string TerminalProgress::round_text(int round) const {
  return rounds_ > 0 ? fmt::format("round {}/{}", round + 1, rounds_) : "";
}

std::string TerminalProgress::ratio_so_far(const lab::Row& row) const {
  const auto own = times_.find(lab::series_of(row));
  const auto base = times_.find({lab::place_of(row), row.provenance.baseline.value_or("")});
  if (own == times_.end() || base == times_.end() || own == base) return "";
  const auto known = lab::pair_rounds(own->second, base->second).ratio();
  if (!known) return "";
  const auto& ratio = *known;
  return lab::format_ratio(ratio.ratio, ratio.interval);
}

std::string TerminalProgress::time_left() const {
  if (done_here_ == 0 || done_ >= total_) return "";
  const double elapsed = 1e-9 * static_cast<double>(monotonic_ns() - start_ns_);
  const double left = elapsed / done_here_ * (total_ - done_);
  const char* how = open_ended_ ? "≤" : "about";
  if (left >= 90) return fmt::format("{} {:.0f} min left", how, std::ceil(left / 60));
  return fmt::format("{} {:.0f} s left", how, std::ceil(left));
}

}  // namespace assay::cli
