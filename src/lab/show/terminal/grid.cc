// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/terminal/grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"

namespace assay::lab {
namespace {

constexpr int kGap = 2, kIndent = 2;

class Renderer {
 public:
  Renderer(const Grid& grid, const TableStyle& style) : grid_(grid), style_(style) {
    for (std::size_t i = 0; i < grid.columns.size(); ++i) {
      shown_.push_back(i);
      int width = display_width(grid.columns[i].title);
      for (const auto& row : grid.rows) {
        check(row.cells.size() == grid.columns.size(), "a row has a cell for each column");
        width = std::max(width, display_width(row.cells[i]));
      }
      widths_.push_back(width);
    }
    leave_out_columns();
  }

  std::string render() {
    const bool fits = style_.width == 0 || total_width() <= style_.width;
    if (fits && !grid_.rows.empty()) add_titles();
    std::string group;
    for (const auto& row : grid_.rows) {
      if (row.group != group) {
        group = row.group;
        add_line(group, kBold);
      }
      fits ? add_cells(row.cells, row.colour) : add_stack(row);
    }
    if (fits && !left_out_.empty()) {
      add_line(fmt::format("not shown, for want of room: {}", fmt::join(left_out_, ", ")), kFaint);
    }
    for (const auto& note : grid_.notes) wrap(note);
    return std::move(text_);
  }

 private:
  int total_width() const {
    int total = kIndent - kGap;
    for (const auto i : shown_) total += widths_[i] + kGap;
    return total;
  }

  void leave_out_columns() {
    while (style_.width > 0 && total_width() > style_.width) {
      auto victim = shown_.end();
      const auto drop = [&](auto it) { return grid_.columns[*it].drop; };
      for (auto it = shown_.begin(); it != shown_.end(); ++it) {
        if (drop(it) > 0 && (victim == shown_.end() || drop(it) < drop(victim))) victim = it;
      }
      if (victim == shown_.end()) return;
      left_out_.push_back(grid_.columns[*victim].title);
      shown_.erase(victim);
    }
  }

  std::string coloured(const std::string& text, const std::string& code) const {
    if (!style_.colour || code.empty()) return text;
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
  }

  void add_line(const std::string& line, const std::string& colour) {
    text_ += coloured(style_.width > 0 ? fit(line, style_.width) : line, colour) + "\n";
  }

  // Cells side by side; nothing is padded at the end of a line.
  void add_cells(const std::vector<std::string>& cells, const std::string& colour_of_last) {
    text_ += std::string(kIndent, ' ');
    for (const auto i : shown_) {
      const bool last = i == shown_.back();
      text_ += grid_.columns[i].right_aligned ? pad_left(cells[i], widths_[i])
                                              : coloured(pad_right(cells[i], last ? 0 : widths_[i]),
                                                         last ? colour_of_last : "");
      if (!last) text_ += std::string(kGap, ' ');
    }
    text_ += "\n";
  }

  void add_titles() {
    std::vector<std::string> titles;
    for (const auto& column : grid_.columns) titles.push_back(column.title);
    add_cells(titles, "");
  }

  void add_stack(const GridRow& row) {
    add_line(fmt::format("  {}: {}", row.cells.front(), row.cells.back()), row.colour);
    for (const auto i : shown_) {
      if (i == 0 || i + 1 == row.cells.size()) continue;
      add_line(fmt::format("    {} {}", grid_.columns[i].title, row.cells[i]), "");
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

  const Grid& grid_;
  const TableStyle& style_;
  std::vector<std::size_t> shown_;
  std::vector<int> widths_;
  std::vector<std::string> left_out_;
  std::string text_;
};

}  // namespace

bool wants_colour(bool is_terminal) {
  const char* no_colour = std::getenv("NO_COLOR");
  return is_terminal && (no_colour == nullptr || *no_colour == '\0');
}

std::string render_grid(const Grid& grid, const TableStyle& style) {
  return Renderer(grid, style).render();
}

}  // namespace assay::lab
