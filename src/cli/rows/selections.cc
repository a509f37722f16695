// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/rows/selections.h"

#include <filesystem>

#include "base/error.h"
#include "cli/program.h"
#include "lab/beside/latest.h"
#include "lab/store/store.h"

namespace assay::cli {
namespace {

bool is_source(const std::string& text) {
  return lab::looks_like_store(text) || std::filesystem::exists(text);
}

}  // namespace

std::vector<lab::Row> read_rows(const std::vector<std::string>& sources, lab::Reading reading) {
  std::vector<std::string> from = sources;
  if (from.empty()) {
    if (!std::filesystem::exists("results")) return {};
    from = {"results"};
  }
  auto [rows, warnings] = lab::read_sources(from, reading);
  print_warnings(warnings);
  return rows;
}

SelectedSide select_side(const std::string& text, std::span<const lab::Row> rows, bool pool,
                         lab::Reading reading) {
  SelectedSide side;
  side.selector = lab::resolve_selector(text, rows, is_source);
  if (side.selector.kind == lab::SelectorKind::kSource) {
    side.rows = read_rows({side.selector.value}, reading);
    if (!pool) side.rows = lab::latest_rows(std::move(side.rows));
  } else {
    side.rows = lab::selected_rows(side.selector, rows);
  }
  if (side.rows.empty()) fail("no rows in {}", side.selector.name);
  return side;
}

void refuse_equal_sides(const SelectedSide& a, const SelectedSide& b) {
  if (a.selector.kind == b.selector.kind && a.selector.value == b.selector.value) {
    fail("both sides are the same: {}", a.selector.name);
  }
}

}  // namespace assay::cli
