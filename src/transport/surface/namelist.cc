// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/surface/namelist.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/error.h"

namespace assay::transport {
namespace {

constexpr int kMostRepeats = 100'000;

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool in_name(char c) { return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Scanner {
 public:
  Scanner(std::string_view text, const std::string& file) : text_(text), file_(file) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      if (c < 0x20 && !is_blank(text[i]) && c != 0x1a) {  // ^Z ended files once
        fail("{}: not a text file: byte {} has the value {}", file, i, c);
      }
    }
  }

  bool at_end() const { return at_ >= text_.size(); }
  char next() const { return at_end() ? '\0' : text_[at_]; }
  std::size_t position() const { return at_; }
  void go_to(std::size_t position) { at_ = position; }
  void step() { ++at_; }
  // Counted on from the last place asked for: a file has many assignments.
  int line() {
    const auto [from, to] = std::minmax(counted_, at_);
    const auto between = std::ranges::count(text_.substr(from, to - from), '\n');
    line_ += static_cast<int>(at_ >= counted_ ? between : -between);
    counted_ = at_;
    return line_;
  }

  // Blanks and comments; newlines too unless the line is to be kept.
  void skip_blanks(bool over_lines = true) {
    while (!at_end()) {
      if (next() == '!') {
        while (!at_end() && next() != '\n') step();
      } else if (is_blank(next()) && (over_lines || next() != '\n')) {
        step();
      } else {
        return;
      }
    }
  }

  std::string name() {
    const auto from = at_;
    while (!at_end() && in_name(next())) step();
    return to_lower(text_.substr(from, at_ - from));
  }

  // "&name" or "$name" at this place: the name, and the place behind it. Else nothing happens.
  std::optional<std::string> group_mark() {
    if ((next() != '&' && next() != '$') || at_ + 1 >= text_.size() ||
        !begins_name(text_[at_ + 1])) {
      return std::nullopt;
    }
    step();
    return name();
  }

  // "name =" or "name(…) =" at this place; else nothing happens.
  std::optional<NamelistItem> assignment() {
    const auto from = at_;
    NamelistItem item;
    item.line = line();
    if (begins_name(next())) {
      item.name = name();
      skip_blanks();
      bool closed = true;
      if (next() == '(') {
        const auto end = text_.find_first_of(")=\n", at_);
        closed = end != std::string_view::npos && text_[end] == ')';
        if (closed) {
          item.subscripts = text_.substr(at_ + 1, end - at_ - 1);
          at_ = end + 1;
          skip_blanks();
        }
      }
      if (closed && next() == '=') {
        step();
        return item;
      }
    }
    at_ = from;
    return std::nullopt;
  }

  // A quoted text, or whatever stands until the next separator.
  std::string value() {
    const auto from = at_;
    if (next() == '\'' || next() == '"') {
      const char quote = next();
      step();
      while (!at_end() && next() != quote) step();
      if (at_end()) fail("{}: a quotation has no end", file_);
      step();
    } else {
      while (!at_end() && !is_blank(next()) && std::string_view(",/!;").find(next()) == npos)
        step();
    }
    return std::string(text_.substr(from, at_ - from));
  }

 private:
  static constexpr auto npos = std::string_view::npos;
  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0, counted_ = 0;
  int line_ = 1;
};

// "3*0.1" is three values, "3*" three times none.
void append_value(NamelistItem& item, const std::string& text, const std::string& file) {
  const auto star = text.find('*');
  if (star == std::string::npos || text.front() == '\'' || text.front() == '"') {
    item.values.push_back(text);
    return;
  }
  const auto count = fortran_integer(text.substr(0, star));
  if (!count || *count < 1 || *count > kMostRepeats) {
    fail("{}:{}: {}: a repeat count must be from 1 to {}, got '{}'", file, item.line, item.name,
         kMostRepeats, text);
  }
  const auto repeated = text.substr(star + 1);
  item.values.insert(item.values.end(), static_cast<std::size_t>(*count),
                     repeated.empty() ? std::nullopt : std::optional(repeated));
}

// The values behind "=", up to whatever is no value.
void read_values(Scanner& in, NamelistItem& item, bool over_lines, const std::string& file) {
  bool separated = true;  // nothing since the last separator: a comma stands for no value
  while (true) {
    in.skip_blanks(over_lines);
    const auto here = in.position();
    if (in.at_end() || in.next() == '/' || in.next() == '\n' || in.group_mark()) {
      in.go_to(here);
      return;
    }
    if (in.assignment()) {
      in.go_to(here);
      return;
    }
    if (in.next() == ',' || in.next() == ';') {
      in.step();
      if (separated) item.values.push_back(std::nullopt);
      separated = true;
      continue;
    }
    append_value(item, in.value(), file);
    separated = false;
  }
}

// From behind "&group" to behind its end.
std::vector<NamelistItem> read_group(Scanner& in, const std::string& group,
                                     const std::string& file) {
  std::vector<NamelistItem> items;
  while (true) {
    in.skip_blanks();
    const int line = in.line();
    if (in.at_end())
      fail("{}: the namelist '&{}' has no end '/': is the file cut short?", file, group);
    if (in.next() == ',' || in.next() == ';') {
      in.step();
    } else if (in.next() == '/') {
      in.step();
      return items;
    } else if (const auto mark = in.group_mark()) {
      if (*mark == "end") return items;
      fail("{}:{}: the namelist '&{}' has no end '/' before '&{}'", file, line, group, *mark);
    } else if (auto item = in.assignment()) {
      read_values(in, *item, true, file);
      items.push_back(std::move(*item));
    } else {
      fail("{}:{}: expected 'name = value' in the namelist '&{}', got '{}'", file, line, group,
           in.value());
    }
  }
}

}  // namespace

std::string to_lower(std::string_view text) {
  std::string out(text);
  for (auto& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::optional<double> fortran_number(std::string_view text) {
  std::string s = to_lower(text);
  std::ranges::replace(s, 'd', 'e');
  if (s.starts_with('+')) s.erase(0, 1);
  double value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error != std::errc() || end != s.data() + s.size()) return std::nullopt;
  return value;
}

std::optional<int> fortran_integer(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<NamelistItem> read_namelists(std::string_view text, std::string_view group,
                                         std::string_view loose, const std::string& file) {
  Scanner in(text, file);
  std::vector<NamelistItem> items;
  bool found = false;
  while (true) {
    in.skip_blanks();
    if (in.at_end()) break;
    const auto here = in.position();
    if (const auto mark = in.group_mark()) {
      const bool wanted = *mark == group;
      if (!wanted && (*mark == "end" || !begins_name(mark->front()))) continue;
      try {
        auto inside = read_group(in, *mark, file);
        if (wanted) std::ranges::move(inside, std::back_inserter(items));
      } catch (const UserError&) {
        if (wanted) throw;  // what is no namelist of ours may be no namelist at all
        in.go_to(here + 1);
      }
      found = found || wanted;
    } else if (auto item = in.assignment()) {
      if (found && item->name == loose && !item->subscripts.empty()) {
        read_values(in, *item, false, file);
        items.push_back(std::move(*item));
      }
    } else if (begins_name(in.next())) {
      in.name();
    } else {
      in.step();
    }
  }
  if (!found) fail("{}: no namelist '&{}'", file, group);
  return items;
}

}  // namespace assay::transport
