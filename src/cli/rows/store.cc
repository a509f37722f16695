// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/store.h"

#include <fmt/format.h>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/program.h"
#include "cli/terminal.h"
#include "lab/beside/summary.h"
#include "lab/show/terminal/table.h"
#include "lab/store/kept_journal.h"
#include "lab/store/transfer.h"

namespace assay::cli {
namespace {

std::vector<std::string> journals_of(const std::vector<std::string>& sources) {
  std::vector<std::string> journals;
  for (const auto& source : sources) {
    if (std::filesystem::is_directory(source)) {
      for (auto& path : lab::journals_in(source)) journals.push_back(std::move(path));
    } else {
      journals.push_back(source);
    }
  }
  return journals;
}

int ingest(const StoreArguments& a) {
  lab::Store store(a.url, lab::Access::kCreate);
  const auto [report, warnings] = lab::ingest_journals(store, journals_of(a.sources));
  print_warnings(warnings);
  print(fmt::format("{} rows added, {} known\n", report.added, report.known));
  return kFine;
}

int latest(const StoreArguments& a) {
  lab::Store store(a.url, lab::Access::kRead);
  std::vector<lab::Row> rows;
  store.visit({.latest = true}, [&](auto run_id, auto attempt_id, auto line) {
    if (a.json) {
      print(std::string(line) + "\n");
    } else {
      rows.push_back(lab::row_from_line(line, fmt::format("{}/{}", run_id, attempt_id)));
    }
  });
  if (!a.json) print(lab::terminal_table(lab::summarise(rows), stdout_style()));
  return kFine;
}

int prune(const StoreArguments& a) {
  const auto report = lab::Store(a.url, lab::Access::kWrite).prune(a.keep);
  print(fmt::format("{} runs removed ({} rows), {} kept\n", report.runs_removed,
                    report.rows_removed, report.runs_kept));
  return kFine;
}

int merge(const StoreArguments& a) {
  lab::Store into(a.url, lab::Access::kCreate);
  for (const auto& source : a.sources) {
    lab::Store from(source, lab::Access::kRead);
    const auto report = lab::merge_store(into, from);
    print(fmt::format("{}: {} rows added, {} known\n", source, report.added, report.known));
  }
  return kFine;
}

int verify(const StoreArguments& a) {
  lab::Store store(a.url, lab::Access::kRead);
  const auto problems = store.verify();
  for (const auto& problem : problems) {
    print(fmt::format("{}{}{}\n", problem.run_id.empty() ? "" : problem.run_id + " ",
                      problem.attempt_id.empty() ? "" : problem.attempt_id + ": ",
                      problem.message));
  }
  if (!problems.empty()) fail("{} problems in store '{}'", problems.size(), a.url);
  std::int64_t rows = 0, runs = 0;
  for (const auto& run : store.runs()) rows += run.rows, ++runs;
  print(fmt::format("fine: {} of {}\n", plural(rows, "row"), plural(runs, "run")));
  return kFine;
}

int export_journals(const StoreArguments& a) {
  lab::Store store(a.url, lab::Access::kRead);
  if (!a.run.empty()) {
    write_file_atomically(a.out, lab::export_run(store, a.run));
    print(a.out + "\n");
    return kFine;
  }
  for (const auto& path : lab::export_all(store, a.out)) print(path + "\n");
  return kFine;
}

int rebuild(const StoreArguments& a) {
  const auto access = a.sources.empty() ? lab::Access::kWrite : lab::Access::kCreate;
  lab::Store store(a.url, access);
  if (!a.sources.empty())
    print_warnings(lab::ingest_journals(store, journals_of(a.sources)).warnings);
  print(fmt::format("{} rows\n", store.rebuild()));
  return kFine;
}

// Where a repaired journal goes: "j.jsonl" becomes "j.repaired.jsonl".
std::string repaired_name(std::string path) {
  for (const std::string_view ending : {".gz", ".jsonl"}) {
    if (path.ends_with(ending)) path.resize(path.size() - ending.size());
  }
  return path + ".repaired.jsonl";
}

int repair(const StoreArguments& a) {
  open_regular_file(a.url);
  std::optional<FileLock> lock;  // of a journal that is to be replaced: no runner may add to it
  if (a.in_place) {
    lock = FileLock::try_acquire(a.url);
    if (!lock) fail("a runner is writing this journal: '{}'", a.url);
    if (a.url.ends_with(".gz")) fail("--in-place does not compress: '{}'", a.url);
  }
  const auto [lines, left_out] = lab::salvage_journal(lab::read_kept_text(a.url));
  for (const auto& [line, why] : left_out) {
    print(fmt::format("line {}: left out: {}\n", line, printable(why)));
  }
  if (left_out.empty() && a.out.empty()) {
    print(fmt::format("nothing to repair: {} are whole\n", plural(std::ssize(lines), "line")));
    return kFine;
  }
  if (lines.empty()) fail("nothing in it is whole: '{}'", a.url);
  const auto out = a.in_place ? a.url : a.out.empty() ? repaired_name(a.url) : a.out;
  if (!a.in_place && std::filesystem::exists(out)) {
    fail("this would be overwritten (--out FILE writes elsewhere): '{}'", out);
  }
  std::string text;
  for (const auto& line : lines) text.append(line).append("\n");
  write_file_atomically(out, text);
  print(fmt::format("{} of {} kept: {}\n", lines.size(),
                    plural(std::ssize(lines) + std::ssize(left_out), "line"), out));
  return kFine;
}

}  // namespace

int store(const StoreArguments& a) {
  using Action = StoreArguments::Action;
  switch (a.action) {
    case Action::kIngest:
      return ingest(a);
    case Action::kLatest:
      return latest(a);
    case Action::kPrune:
      return prune(a);
    case Action::kMerge:
      return merge(a);
    case Action::kVerify:
      return verify(a);
    case Action::kExport:
      return export_journals(a);
    case Action::kRebuild:
      return rebuild(a);
    case Action::kRepair:
      return repair(a);
  }
  throw InternalError("an action is one of its enumerators");
}

}  // namespace assay::cli
