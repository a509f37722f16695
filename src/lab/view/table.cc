// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/view/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <vector>

#include "lab/record/point.h"
#include "lab/view/cells.h"
#include "lab/view/text.h"

namespace assay::lab {
namespace {

constexpr int kGap = 2, kIndent = 2;
constexpr int kSparkline = 20;
constexpr int kLongestName = 40;

struct Column {
  std::string title;
  std::string (*cell)(const Summary&);
  bool right_aligned;
  int drop;  // leaves first when the smallest; 0: stays
};

std::string provider_cell(const Summary& s) { return fit(printable(s.provider), kLongestName); }
std::string attempts_cell(const Summary& s) { return sparkline(s.attempts, kSparkline); }

const std::array<Column, 8>& columns() {
  static const std::array<Column, 8> kColumns = {{
      {"provider", provider_cell, false, 0},
      {"median", median_cell, true, 0},
      {"ratio", ratio_cell, false, 0},
      {"of limit", limit_cell, true, 4},
      {"error/tol", fidelity_cell, true, 3},
      {"memory", memory_cell, true, 2},
      {"attempts", attempts_cell, false, 1},
      {"verdict", verdict_cell, false, 0},
  }};
  return kColumns;
}

// A line of at most `width` columns (0: any).
std::string cut(const std::string& line, int width) { return width > 0 ? fit(line, width) : line; }

class Table {
 public:
  Table(std::span<const Summary> summaries, const TableStyle& style) : style_(style) {
    for (const Summary& s : summaries) order_.push_back(&s);
    if (style.worst_first) put_worst_first();
    for (const auto& column : columns()) shown_.push_back(&column);
    for (const Summary* s : order_) {
      for (const auto& column : columns()) widen(&column, column.cell(*s));
    }
    for (const auto& column : columns()) widen(&column, column.title);
    leave_out_columns();
  }

  std::string render(std::span<const std::string> notes) {
    if (order_.empty()) return "no rows\n";
    const bool fits = style_.width == 0 || total_width() <= style_.width;
    if (fits) add_titles();
    std::string group;
    for (const Summary* s : order_) {
      if (const auto title = group_title(*s); title != group) {
        group = title;
        add_line(group, "1");
      }
      fits ? add_row(*s) : add_stack(*s);
    }
    if (fits && !left_out_.empty()) {
      add_line(fmt::format("not shown, for want of room: {}", fmt::join(left_out_, ", ")), "2");
    }
    add_caveats();
    for (const auto& note : notes) wrap("note: " + printable(note));
    return std::move(text_);
  }

 private:
  static std::string group_title(const Summary& s) {
    const auto point = fit(printable(point_label(s.point)), 200);
    // Files of other tools do not say how many cores an attempt had.
    const auto cores = s.cores == 0   ? std::string("cores not known")
                       : s.cores == 1 ? std::string("1 core")
                                      : fmt::format("{} cores", s.cores);
    return fmt::format("{} {}{}{}, {}{}{}", fit(printable(s.case_name), kLongestName), point,
                       point.empty() ? "" : ", ", fit(printable(s.platform), kLongestName), cores,
                       s.fingerprint.empty() ? "" : ", machine ",
                       fit(printable(s.fingerprint), 16)) +
           (s.isolation == "in-process" ? ", in process" : "");
  }

  void put_worst_first() {
    const auto badness = [](const Summary* s) {
      return s->status != Status::kOk ? 1e300 : s->ratio ? s->ratio->ratio : 0;
    };
    for (auto first = order_.begin(); first != order_.end();) {
      const auto title = group_title(**first);
      const auto last = std::find_if(first, order_.end(),
                                     [&](const Summary* s) { return group_title(*s) != title; });
      std::ranges::stable_sort(first, last, std::greater<>(), badness);
      first = last;
    }
  }

  void widen(const Column* column, const std::string& text) {
    auto& width = widths_[column];
    width = std::max(width, display_width(text));
  }

  int total_width() const {
    int total = kIndent - kGap;
    for (const auto* column : shown_) total += widths_.at(column) + kGap;
    return total;
  }

  void leave_out_columns() {
    while (style_.width > 0 && total_width() > style_.width) {
      auto victim = shown_.end();
      for (auto it = shown_.begin(); it != shown_.end(); ++it) {
        const bool sooner = victim == shown_.end() || (*it)->drop < (*victim)->drop;
        if ((*it)->drop > 0 && sooner) victim = it;
      }
      if (victim == shown_.end()) return;
      left_out_.push_back((*victim)->title);
      shown_.erase(victim);
    }
  }

  // The codes are terminal colours: 1 bold, 2 faint, 31 red, 32 green, 33 yellow.
  std::string coloured(const std::string& text, const std::string& code) const {
    if (!style_.colour || code.empty()) return text;
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
  }

  static std::string colour_of(const Summary& s) {
    if (s.status == Status::kSkipped || s.status == Status::kEnvMissing || is_void(s.status)) {
      return "33";
    }
    if (s.status != Status::kOk) return "31";
    const auto verdict = verdict_cell(s);
    return verdict.starts_with("faster") ? "32" : verdict.starts_with("slower") ? "33" : "";
  }

  void add_line(const std::string& line, const std::string& colour) {
    text_ += coloured(cut(line, style_.width), colour) + "\n";
  }

  // Cells side by side; nothing is padded at the end of a line.
  void add_cells(const std::vector<std::string>& cells, const std::string& colour_of_last) {
    text_ += std::string(kIndent, ' ');
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool last = i + 1 == cells.size();
      const int width = last ? 0 : widths_[shown_[i]];
      text_ += shown_[i]->right_aligned
                   ? pad_left(cells[i], widths_[shown_[i]])
                   : coloured(pad_right(cells[i], width), last ? colour_of_last : "");
      if (!last) text_ += std::string(kGap, ' ');
    }
    text_ += "\n";
  }

  void add_titles() {
    std::vector<std::string> titles;
    for (const auto* column : shown_) titles.push_back(column->title);
    add_cells(titles, "");
  }

  void add_row(const Summary& s) {
    std::vector<std::string> cells;
    for (const auto* column : shown_) cells.push_back(column->cell(s));
    add_cells(cells, colour_of(s));
  }

  void add_stack(const Summary& s) {
    add_line(fmt::format("  {}: {}", provider_cell(s), verdict_cell(s)), colour_of(s));
    for (const auto* column : shown_) {
      if (column->title == "provider" || column->title == "verdict") continue;
      add_line(fmt::format("    {} {}", column->title, column->cell(s)), "");
    }
  }

  // Each caveat once, with those it is about.
  void add_caveats() {
    std::vector<std::string> order;
    std::map<std::string, std::vector<const Summary*>> about;
    for (const Summary* s : order_) {
      for (const auto& caveat : s->caveats) {
        auto& list = about[caveat];
        if (list.empty()) order.push_back(caveat);
        list.push_back(s);
      }
    }
    for (const auto& caveat : order) {
      const auto& list = about[caveat];
      std::vector<std::string> names;
      for (const Summary* s : list) {
        if (std::ranges::find(names, provider_cell(*s)) == names.end()) {
          names.push_back(provider_cell(*s));
        }
      }
      const auto more = names.size() > 4 ? fmt::format(" and {} more", names.size() - 4) : "";
      if (names.size() > 4) names.resize(4);
      const bool everywhere = list.size() == order_.size() && order_.size() > 1;
      wrap(everywhere ? fmt::format("note: {}", caveat)
                      : fmt::format("note: {}{}: {}", fmt::join(names, ", "), more, caveat));
    }
  }

  // Breaks a sentence at spaces so that all of it can be read.
  void wrap(const std::string& sentence) {
    if (style_.width == 0) return add_line(sentence, "");
    std::string line;
    std::size_t at = 0;
    while (at < sentence.size()) {
      auto end = sentence.find(' ', at);
      if (end == std::string::npos) end = sentence.size();
      const auto word = sentence.substr(at, end - at);
      const auto longer = line.empty() ? word : line + " " + word;
      if (!line.empty() && display_width(longer) > style_.width) {
        add_line(line, "");
        line = "  " + word;
      } else {
        line = longer;
      }
      at = end + 1;
    }
    if (!line.empty()) add_line(line, "");
  }

  const TableStyle& style_;
  std::vector<const Summary*> order_;
  std::vector<const Column*> shown_;
  std::map<const Column*, int> widths_;
  std::vector<std::string> left_out_;
  std::string text_;
};

}  // namespace

bool wants_colour(bool is_terminal) {
  const char* no_colour = std::getenv("NO_COLOR");
  return is_terminal && (no_colour == nullptr || *no_colour == '\0');
}

std::string terminal_table(std::span<const Summary> summaries, const TableStyle& style,
                           std::span<const std::string> notes) {
  return Table(summaries, style).render(notes);
}

}  // namespace assay::lab
