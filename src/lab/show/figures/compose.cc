// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/figures/compose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/error.h"
#include "lab/beside/place.h"
#include "lab/show/figures/page.h"
#include "lab/show/figures/row_quantity.h"

namespace assay::lab {
namespace {

std::string file_name(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool keep = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || c == '.';
    if (keep) {
      out += c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  // What a file system takes, with room for an extension.
  return out.substr(0, 200);
}

// What must not be mixed in one figure.
std::string drawn_place_of(const Row& row) {
  // A simulation gives the same anywhere.
  if (origin_of(row) != "measured") return "";
  const auto& isolation = row.provenance.isolation;
  return fmt::format("{} {} core{} on {}{}", row.platform, row.cores, row.cores == 1 ? "" : "s",
                     row.machine.fingerprint,
                     isolation == "in-process" ? ", in the runner's process" : "");
}

// Which GPUs rows are of, in words: "NVIDIA H200", "NVIDIA H200 (2 devices)"; empty without one.
std::string gpus_of(const std::vector<const Row*>& rows) {
  std::set<std::string> names, devices;
  for (const Row* row : rows) {
    if (row->platform != "cuda" || row->status != Status::kOk) continue;
    if (const auto& gpu = row->provenance.gpu; gpu && gpu->name) names.insert(*gpu->name);
    if (const auto device = device_of(*row); !device.empty()) devices.insert(device);
  }
  if (names.empty()) return {};
  const auto all = fmt::format("{}", fmt::join(names, ", "));
  return devices.size() < 2 ? all : fmt::format("{} ({} devices)", all, devices.size());
}

Json identity_of(const Row& row) { return row.provenance.identity.value_or(Json()); }

// Every row's identity against the case's own today, or the first row's where that is not known.
void check_identities(const std::vector<const Row*>& rows, const Json& today) {
  const Json expected = today.is_null() ? identity_of(*rows.front()) : today;
  for (const Row* row : rows) {
    const Json identity = identity_of(*row);
    if (identity == expected) continue;
    fail("rows of '{}' were made with {}, {} {}: run it again, or leave them out ({})",
         row->case_name, canonical_json(identity), today.is_null() ? "others with" : "today it is",
         canonical_json(expected), row->run_id);
  }
}

// What the answers depend on beside the point, in words: "topology 0123456789abcdef, engine 2".
std::string identity_in_words(const Json& identity) {
  if (identity.is_string()) return identity.get<std::string>();
  std::vector<std::string> parts;
  if (identity.is_object()) {
    for (const auto& [key, value] : identity.items()) {
      parts.push_back(fmt::format("{} {}", key, in_words(value)));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void add_figures(const std::string& case_name, const FigureRecipe& recipe,
                 const std::vector<const Row*>& rows, const std::string& identity,
                 std::vector<Figure>& out) {
  // Rows that hold in any place (simulated) stand beside those of each place.
  std::set<std::string> places;
  for (const Row* row : rows) {
    if (takes_part(*row, recipe.only)) places.insert(drawn_place_of(*row));
  }
  if (places.size() > 1) places.erase("");
  for (const auto& place : places) {
    std::map<std::string, std::vector<const Row*>> pages;
    for (const Row* row : rows) {
      const auto where = drawn_place_of(*row);
      if (!takes_part(*row, recipe.only) || (where != place && !where.empty())) continue;
      pages[describe(*row, recipe.pages)].push_back(row);
    }
    for (auto& [page, page_rows] : pages) {
      const auto gpus = gpus_of(page_rows);
      auto figure = compose_page(recipe, std::move(page_rows));
      if (!figure) continue;
      figure->title = fmt::format("{}: {}", case_name, figure->title);
      figure->name = file_name(
          fmt::format("{}-{}{}{}{}{}", case_name, recipe.name, page.empty() ? "" : "-", page,
                      places.size() > 1 ? "-" : "", places.size() > 1 ? place : ""));
      std::vector<std::string> under;
      for (const auto& part : {page, place, gpus, identity}) {
        if (!part.empty()) under.push_back(part);
      }
      figure->subtitle = fmt::format("{}", fmt::join(under, " · "));
      out.push_back(std::move(*figure));
    }
  }
}

}  // namespace

std::vector<Figure> compose_figures(std::span<const Row> rows, const CaseDrawings& cases) {
  std::map<std::string, std::vector<const Row*>> by_case;
  // What was wrong once wins nothing, in any round.
  const auto contender = [](const Row& row) {
    return fmt::format("{} {} {}", row.case_name, row.provider, canonical_json(row.point));
  };
  std::set<std::string> wrong;
  for (const Row& row : rows) {
    if (row.status == Status::kWrongResult) wrong.insert(contender(row));
  }
  for (const Row& row : rows) {
    const bool is_drawn = row.status == Status::kOk && !wrong.contains(contender(row));
    if (is_drawn) by_case[row.case_name].push_back(&row);
  }
  std::vector<Figure> out;
  for (auto& [name, of_case] : by_case) {
    const auto known = cases.find(name);
    const Json identity = known == cases.end() ? Json() : known->second.identity;
    check_identities(of_case, identity);
    std::ranges::sort(of_case, [](const Row* a, const Row* b) {
      return std::tie(a->run_id, a->order, a->attempt_id) <
             std::tie(b->run_id, b->order, b->attempt_id);
    });
    const bool own = known != cases.end() && !known->second.recipes.empty();
    const auto recipes = own ? known->second.recipes : standard_recipes(of_case);
    const auto words = identity_in_words(identity_of(*of_case.front()));
    for (const auto& recipe : recipes) add_figures(name, recipe, of_case, words, out);
  }
  std::ranges::sort(out, {}, &Figure::name);
  std::map<std::string, int> seen;  // a long name may have been cut to another's
  for (auto& figure : out) {
    if (const int before = seen[figure.name]++; before > 0) {
      figure.name += fmt::format("-{}", before + 1);
    }
  }
  return out;
}

}  // namespace assay::lab
