// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/installation.h"
#include "cli/program.h"
#include "lab/beside/latest.h"
#include "lab/show/figures/compose.h"
#include "lab/show/figures/render.h"
#include "lab/store/source.h"

namespace assay::cli {

int figures(const FiguresArguments& a) {
  std::vector<lab::ImageFormat> formats;
  for (const auto& name : a.formats) formats.push_back(lab::image_format(name));
  const auto sources = sources_or_default(a.sources);
  auto [rows, warnings] = lab::read_sources(sources);
  print_warnings(warnings);
  if (!a.all) rows = lab::latest_rows(std::move(rows));
  const auto registry = all_cases();
  lab::CaseDrawings drawings;
  for (const auto& c : registry.all()) {
    drawings[std::string(c->name())] = {c->figures(), c->identity()};
  }
  if (!a.cases.empty()) {
    std::erase_if(rows, [&](const lab::Row& row) {
      return std::ranges::find(a.cases, row.case_name) == a.cases.end();
    });
  }
  const auto composed = lab::compose_figures(rows, drawings);
  if (composed.empty()) {
    fail("no row to draw in {} (measure something: assay run CASE)", fmt::join(sources, ", "));
  }
  std::filesystem::create_directories(a.out);
  std::size_t done = 0;
  for (const auto& figure : composed) {
    for (const auto& path : lab::render(figure, formats, a.out)) fmt::print("{}\n", path);
    std::fflush(stdout);
    fmt::print(stderr, "figure {} of {}: {}\n", ++done, composed.size(), figure.name);
  }
  return kFine;
}

}  // namespace assay::cli
