// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/compared.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/measure/generated_case.h"
#include "lab/run/provenance.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOld = "old";
constexpr const char* kNew = "new";

bool is_toml(const std::string& word) { return word.ends_with(".toml"); }

std::string short_word(const std::string& text) { return fit(printable(text), 80); }

// A side whose case is in a file: which commit that is of, where git knows.
lab::RunSide side_of_file(const char* label, lab::RequestedFile file) {
  lab::RunSide side{label, "", "", false};
  if (const auto tree = lab::source_tree_at(fs::path(file.path).parent_path().string());
      tree.dirty) {
    side.commit = tree.commit;
    side.dirty = *tree.dirty;
  }
  side.case_file = std::move(file);
  return side;
}

std::string name_of_side(const std::string& typed, const lab::RunSide& side) {
  if (side.commit.empty()) return short_word(typed);
  return fmt::format("{} ({}{})", short_word(typed), side.commit.substr(0, 12),
                     side.dirty ? ", changed" : "");
}

std::vector<std::string> provider_ids(const lab::Case& c) {
  std::vector<std::string> ids;
  for (const auto& provider : c.providers()) ids.push_back(provider.id);
  return ids;
}

void tell_what_is_on_one_side(RunSetup& setup, const lab::Case& old, const lab::Case& now) {
  const auto before = provider_ids(old), after = provider_ids(now);
  const auto tell = [&](const auto& of, const auto& other, const char* where) {
    std::vector<std::string> only;
    for (const auto& id : of) {
      if (std::ranges::find(other, id) == other.end()) only.push_back(id);
    }
    if (only.empty()) return;
    setup.progress().note(
        fmt::format("providers only in {}, not compared: {}", where, fmt::join(only, ", ")));
  };
  tell(before, after, "OLD");
  tell(after, before, "NEW");
}

Sides case_file_sides(RunSetup& setup, const ComparedWords& words, const std::string& old,
                      const std::string& now, lab::RunRequest& request) {
  for (const auto& path : {old, now}) {
    if (!fs::is_regular_file(path)) fail("no such case file: '{}'", short_word(path));
  }
  if (fs::equivalent(old, now)) fail("both sides are the same file: '{}'", short_word(old));
  select_cases(request, setup, {fs::absolute(old).lexically_normal().string()});
  const auto& file = request.case_files.at(0);
  Sides sides{kOld, kNew, "", "", {}, "", {}};
  sides.labelled = {side_of_file(kOld, file),
                    side_of_file(kNew, setup.own_cases().add_side(kNew, file.case_name, now))};
  sides.first_name = name_of_side(words.old, sides.labelled[0]);
  sides.second_name = name_of_side(words.now, sides.labelled[1]);
  tell_what_is_on_one_side(setup, setup.cases().find(file.case_name),
                           *setup.cases().of_side(kNew, file.case_name));
  return sides;
}

// A build of Assay in a folder; else the word itself, which may also name a revision.
std::string worker_in(const std::string& word) {
  if (!fs::is_directory(word)) return word;
  for (const char* place : {"assay-worker", "build/assay-worker"}) {
    const auto path = (fs::path(word) / place).string();
    if (find_program(path)) return path;
  }
  return word;
}

Sides program_sides(RunSetup& setup, const ComparedWords& words, lab::RunRequest& request) {
  for (const auto& word : {words.old, words.now}) {
    if (!is_program_line(word)) {
      fail("{}: '{}'",
           fs::exists(word) ? "neither a program, a folder nor a case file (.toml)"
                            : "no such program, folder or case file",
           short_word(word));
    }
  }
  const auto old = read_program_line(words.old), now = read_program_line(words.now);
  if (old.is_benchmark != now.is_benchmark) {
    const auto& [benchmark, other] = old.is_benchmark ? std::pair(old, now) : std::pair(now, old);
    fail("'{}' is a Google Benchmark program, '{}' is not: two of one kind can be compared",
         short_word(benchmark.text), short_word(other.text));
  }
  if (!old.is_benchmark && !words.filter.empty()) {
    fail("--filter is for Google Benchmark programs: '{}'", short_word(words.filter));
  }
  const auto generated =
      old.is_benchmark
          ? benchmarks_as_case(old, now, words.filter, words.folder,
                               [&](const std::string& line) { setup.progress().note(line); })
          : commands_as_case(old, now, words.folder);
  select_cases(request, setup, {generated.path});
  if (old.argv == now.argv && old.text == now.text) {
    setup.progress().note("both sides are the same program: what differs is noise");
  }
  if (!old.is_benchmark) {  // a command may be long: few runs an attempt, many attempts
    request.settings.batches = lab::kMinBatches;
    request.settings.warm_up_calls = 1;
  }
  return {kOld,
          kNew,
          short_word(words.old),
          short_word(words.now),
          {},
          generated.provider,
          generated.only_old};
}

}  // namespace

Sides compared_sides(RunSetup& setup, const ComparedWords& words, lab::RunRequest& request) {
  const bool folders = fs::is_directory(words.old) && fs::is_directory(words.now);
  const bool files = is_toml(words.old) && is_toml(words.now);
  const bool names_case_file = words.cases.size() == 1 && is_toml(words.cases[0]);
  if (names_case_file && fs::is_directory(words.old) != fs::is_directory(words.now)) {
    fail("no such folder: '{}'", short_word(fs::is_directory(words.old) ? words.now : words.old));
  }
  const bool of_assay = !files && !words.cases.empty() && !(folders && names_case_file);
  if (!words.filter.empty() && (folders || files || of_assay)) {
    fail("--filter is for Google Benchmark programs: '{}'", short_word(words.filter));
  }
  if (folders && words.cases.empty()) {
    fail("two folders: name the case file that both hold, or cases of two builds of Assay");
  }
  if (of_assay) {
    select_cases(request, setup, words.cases);
    return sides_of("baseline", side_program(worker_in(words.old), words.build), "current",
                    side_program(worker_in(words.now), words.build));
  }
  if (files && !words.cases.empty()) {
    fail("two case files need no cases beside them: '{}'", short_word(words.cases[0]));
  }
  if (files) return case_file_sides(setup, words, words.old, words.now, request);
  if (folders) {
    const auto in = [&](const std::string& folder) {
      return (fs::path(folder) / words.cases[0]).lexically_normal().string();
    };
    return case_file_sides(setup, words, in(words.old), in(words.now), request);
  }
  return program_sides(setup, words, request);
}

void check_oracles(RunSetup& setup, const Sides& sides, const lab::RunRequest& request) {
  for (const auto& side : sides.labelled) {
    if (!side.case_file ||
        setup.cases().of_side(side.label, side.case_file->case_name) == nullptr) {
      continue;
    }
    setup.own_cases().check_oracle_of_side(side.label, side.case_file->case_name, request);
  }
}

}  // namespace assay::cli
