// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Bars as people write them.

#include <algorithm>
#include <sstream>

#include "base/names.h"
#include "base/text.h"
#include "base/toml.h"
#include "lab/decide/bars.h"
#include "lab/record/metrics.h"

namespace assay::lab {
namespace {

constexpr auto kScopes = make_names<BarScope>({{BarScope::kOne, "one"},
                                               {BarScope::kEach, "each"},
                                               {BarScope::kMean, "mean"},
                                               {BarScope::kTotal, "total"}});

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

int read_cores(const TomlTable& table, double number) {
  if (number < 1 || number > 1 << 20 || number != static_cast<int>(number)) {
    table.reject("cores", "expected a number of cores, got {}", number);
  }
  return static_cast<int>(number);
}

Json read_point(const TomlTable& table, const std::string& text) {
  Json point;
  try {
    point = parse_json(text, "JSON");
  } catch (const UserError& error) {
    table.reject("point", "{}", error.what());
  }
  if (!point.is_object()) table.reject("point", "expected a JSON object, got '{}'", text);
  return point;
}

// What a table says of a side, the rest from `side`.
BarSide read_side(const TomlTable& table, BarSide side) {
  if (table.has("case")) side.case_name = table.text("case");
  if (table.has("provider")) side.provider = table.text("provider");
  if (table.has("metric")) {
    side.metric = table.text("metric");
    if (find_metric(side.metric) == nullptr) {
      table.reject("metric", "there is no metric '{}'", side.metric);
    }
  }
  if (table.has("point")) {
    const auto text = table.text("point");
    side.point.update(read_point(table, text));
  }
  return side;
}

// The side to divide by, or to subtract: the bar's own with what the table says instead.
BarSide read_other(const TomlTable& table, const BarSide& side) {
  BarSide other = side;
  other.point = Json::object();
  other = read_side(table, other);
  if (table.has("cores")) other.cores = read_cores(table, table.number("cores"));
  if (other.case_name == side.case_name && other.provider == side.provider &&
      other.metric == side.metric && other.cores == side.cores && other.point.empty()) {
    table.reject("provider", "nothing differs from the bar's own side");
  }
  return other;
}

Bar read_bar(const TomlTable& table, const BarSide& defaults) {
  Bar bar;
  bar.what = table.text("what");
  bar.side = read_side(table, defaults);
  if (bar.side.case_name.empty()) table.reject("case", "missing, here and in the table above");
  if (bar.side.provider.empty()) table.reject("provider", "missing, here and in the table above");
  if (table.has("over") && table.has("minus")) table.reject("minus", "there is `over` already");
  if (table.has("over")) bar.over = read_other(table.table("over"), bar.side);
  if (table.has("minus")) bar.minus = read_other(table.table("minus"), bar.side);
  if (table.has("factor")) bar.factor = table.number("factor");
  if (!(bar.factor > 0)) table.reject("factor", "expected more than 0, got {}", bar.factor);
  if (table.has("at_least")) bar.at_least = table.number("at_least");
  if (table.has("at_most")) bar.at_most = table.number("at_most");
  if (!bar.at_least && !bar.at_most) table.reject("at_least", "neither it nor at_most is there");
  if (bar.at_least && bar.at_most && *bar.at_least > *bar.at_most) {
    table.reject("at_least", "{} is above at_most = {}", *bar.at_least, *bar.at_most);
  }
  if (table.has("points")) {
    const auto text = table.text("points");
    const auto scope = kScopes.find(text);
    if (!scope) table.reject("points", "expected {}, got '{}'", kScopes.list(), text);
    bar.scope = *scope;
  }
  if (bar.minus && bar.scope == BarScope::kMean) {
    table.reject("points", "differences have no geometric mean");
  }
  if (table.has("share")) {
    bar.share = table.number("share");
    if (bar.scope != BarScope::kEach) table.reject("share", "only with points = \"each\"");
    if (!(bar.share > 0 && bar.share <= 1)) table.reject("share", "expected 0 to 1");
  }
  if (table.has("expected")) {
    if (bar.scope == BarScope::kOne) table.reject("expected", "only with points");
    bar.expected = static_cast<int>(table.integer("expected"));
    if (bar.expected < 1) table.reject("expected", "expected 1 or more, got {}", bar.expected);
  }
  if (bar.over && bar.scope == BarScope::kTotal) table.reject("points", "ratios have no sum");
  if (table.has("note")) bar.note = table.text("note");
  return bar;
}

// A bar for each number of cores that the table names, or the one bar.
void add_bars(const TomlTable& table, const BarSide& defaults, std::vector<Bar>& bars) {
  if (!table.has("cores")) return bars.push_back(read_bar(table, defaults));
  const auto numbers = table.numbers("cores");
  for (auto number = numbers.begin(); number != numbers.end(); ++number) {
    if (std::find(numbers.begin(), number, *number) != number) {
      table.reject("cores", "{} is there twice", *number);
    }
    auto side = defaults;
    side.cores = read_cores(table, *number);
    bars.push_back(read_bar(table, side));
    if (numbers.size() > 1) {
      bars.back().what += ", " + plural(*side.cores, "core");
    }
  }
}

}  // namespace

BarFile parse_bars(std::string_view text, const std::string& name) {
  const auto root = TomlTable::parse(text, name);
  BarFile file;
  file.title = root.text("title");
  if (root.has("machines")) {
    const auto names = root.table("machines");
    for (const auto& key : names.keys()) file.machines[key] = names.text(key);
  }
  for (const auto& part : root.tables("table")) {
    BarTable table;
    table.title = part.text("title");
    if (part.has("commands")) table.commands = lines_of(part.text("commands"));
    BarSide defaults = read_side(part, {});
    if (part.has("cores")) defaults.cores = read_cores(part, part.number("cores"));
    for (const auto& bar : part.tables("bar")) add_bars(bar, defaults, table.bars);
    if (table.bars.empty()) part.reject("bar", "a table without a bar");
    file.tables.push_back(std::move(table));
  }
  root.refuse_unread_keys();
  if (file.tables.empty()) root.reject("table", "there is none");
  return file;
}

}  // namespace assay::lab
