// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// stats_validation [--effort SHARE] [--only KIND] [--update FILE]
//
// Draws noise, applies every method of lab/stats to it, and prints what came out beside the bound
// it has to keep. No clock is involved and everything is seeded: the same figures every time.
// --update also writes them between the markers of a document. Exit status 1 when any is outside.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "findings.h"

namespace assay::lab::validation {
namespace {

constexpr const char* kBegin = "<!-- measured: begin -->\n";
constexpr const char* kEnd = "<!-- measured: end -->";

struct Kind {
  const char* name;
  std::vector<Table> (*measure)(const Effort&);
};
constexpr Kind kKinds[] = {{"why", why_attempts},   {"p-values", p_values},
                           {"coverage", coverage},  {"power", power},
                           {"stopping", stop_rule}, {"families", families},
                           {"changes", changes},    {"gate", gate_on_drawn_times}};

void update(const std::string& path, const std::string& text) {
  auto document = read_file(path);
  const auto begin = document.find(kBegin), end = document.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    fail("no markers for the measured figures in '{}'", path);
  }
  const auto from = begin + std::strlen(kBegin);
  document.replace(from, end - from, text + "\n");
  write_file_atomically(path, document);
}

int run(int argc, char** argv) {
  Effort effort;
  std::string only, file;
  for (int i = 1; i < argc; i += 2) {
    const std::string flag = argv[i];
    if (i + 1 >= argc) fail("stats_validation: a value is missing after '{}'", flag);
    const std::string value = argv[i + 1];
    if (flag == "--effort") {
      effort.share = std::atof(value.c_str());
      if (!(effort.share > 0 && effort.share <= 1)) {
        fail("stats_validation: --effort lies in (0, 1], got '{}'", value);
      }
    } else if (flag == "--only") {
      only = value;
    } else if (flag == "--update") {
      file = value;
    } else {
      fail("stats_validation: unknown flag '{}'", flag);
    }
  }
  std::vector<Table> all;
  for (const auto& kind : kKinds) {
    if (!only.empty() && only != kind.name) continue;
    std::fprintf(stderr, "%s …\n", kind.name);
    auto tables = kind.measure(effort);
    std::fputs(to_markdown(tables).c_str(), stdout);
    std::fflush(stdout);
    for (auto& table : tables) all.push_back(std::move(table));
  }
  if (all.empty()) fail("stats_validation: no such kind: '{}'", only);
  if (!file.empty()) update(file, to_markdown(all));
  if (!any_outside(all)) return 0;
  std::fputs("stats_validation: a figure is outside its bound\n", stderr);
  return 1;
}

}  // namespace
}  // namespace assay::lab::validation

int main(int argc, char** argv) {
  try {
    return assay::lab::validation::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
