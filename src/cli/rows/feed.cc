// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/installation.h"
#include "cli/program.h"
#include "cli/rows/selections.h"
#include "lab/beside/latest.h"
#include "lab/decide/op_matrix.h"

namespace assay::cli {
namespace {

// The first representative point of each case, changed as asked.
std::map<std::string, Json> points_of(const std::string& text) {
  const Json given = text.empty() ? Json::object() : parse_json(text, "--point");
  if (!given.is_object()) fail("--point: expected a JSON object, got '{}'", text);
  std::map<std::string, Json> points;
  const auto cases = all_cases();
  for (const auto& known : cases.all()) {
    const auto representative = known->representative_points();
    if (representative.empty()) continue;
    Json own = Json::object();
    for (const auto& [key, value] : given.items()) {
      if (representative.front().contains(key)) own[key] = value;
    }
    try {
      points[std::string(known->name())] = known->complete_point(own, representative.front());
    } catch (const UserError&) {
      // A value that this case does not have: it has no such point, and no figure.
    }
  }
  return points;
}

std::map<std::string, std::string> names_of(const std::vector<std::string>& list) {
  std::map<std::string, std::string> names;
  for (const auto& text : list) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      fail("--name: expected CASE=QUALNAME, got '{}'", text);
    }
    names[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return names;
}

}  // namespace

int feed(const FeedArguments& a) {
  check(a.kind == "op-matrix", "every feed has a function");
  if (!a.apply.empty() && a.out.empty()) fail("--apply needs --out: the original is never changed");
  const lab::OpMatrixOptions options{.points = points_of(a.point),
                                     .ours = a.ours,
                                     .reference = a.reference,
                                     .quick_rows = a.quick_rows};
  const auto fragment = lab::op_matrix_fragment(lab::latest_rows(read_rows(a.sources)), options);
  if (fragment.empty()) fail("no rows of any case at its representative point");
  if (a.apply.empty()) {
    put_text(a.out, pretty_json(fragment) + "\n");
    return kFine;
  }
  std::error_code ignored;
  if (std::filesystem::equivalent(a.apply, a.out, ignored)) {
    fail("--out must be another file than --apply, which is never changed: '{}'", a.out);
  }
  const auto applied =
      lab::apply_op_matrix(fragment, read_json_file(a.apply), names_of(a.names), a.apply);
  write_file_atomically(a.out, pretty_json(applied.matrix) + "\n");
  for (const auto& name : applied.filled) std::fputs((name + "\n").c_str(), stdout);
  for (const auto& name : applied.unknown) {
    std::fputs(fmt::format("note: no operation is named after case '{}'\n", name).c_str(), stderr);
  }
  return kFine;
}

}  // namespace assay::cli
