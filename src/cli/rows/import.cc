// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/exchange/import.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <span>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/input_file.h"
#include "base/machine.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "lab/beside/summary.h"
#include "lab/show/terminal/table.h"
#include "lab/store/store.h"
#include "lab/store/transfer.h"

namespace assay::cli {
namespace {

std::int64_t modified_ns(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) fail("cannot read '{}': {}", path, errno_text(errno));
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

lab::ImportOptions options_for(const ImportArguments& a, const std::string& path) {
  lab::ImportOptions options;
  options.file_name = path;
  options.suite = a.suite;
  options.case_name = a.case_name;
  options.provider = a.provider;
  options.commit = a.commit;
  if (a.suite.empty()) fail("--suite: a suite has a name, got ''");
  if (a.time.empty()) {
    options.file_time_ns = modified_ns(path);
  } else {
    bool zone = true;
    const auto time = lab::parse_time(a.time, zone);
    if (!time) fail("--time: expected a time such as 2026-01-31T12:00:00Z, got '{}'", a.time);
    options.file_time_ns = *time;
  }
  if (a.here && !a.machine.empty()) fail("--here and --machine exclude each other");
  if (a.here) options.machine = read_machine().to_json();
  if (!a.machine.empty()) {
    options.machine = {{"fingerprint", short_hash("named machine " + a.machine)},
                       {"fingerprint_from", "a name"},
                       {"name", a.machine}};
  }
  return options;
}

// As much as a long nightly's file may have; what has no end is no regular file.
constexpr std::size_t kLargestImport = std::size_t{1} << 30;

// A file that the imported one names. Whoever wrote that may name any path: only what lies beside
// it or below, links followed, is read.
std::optional<std::string> file_beside(const std::string& path, const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto folder = fs::weakly_canonical(fs::absolute(path).parent_path(), error);
  const auto beside = fs::weakly_canonical(folder / name, error);
  const auto inside = beside.lexically_relative(folder);
  if (error || inside.empty() || *inside.begin() == ".." || fs::path(name).is_absolute()) {
    fail("'{}' names a file outside of its folder: '{}'", path, printable(name));
  }
  if (!fs::is_regular_file(beside, error)) return std::nullopt;
  return read_input_file(beside.string(), kLargestImport);
}

// A journal of rows that are all known beforehand: written whole, or not at all.
void write_journal(const std::string& path, std::span<const lab::Row> rows) {
  std::string text;
  for (const auto& row : rows) text += lab::row_to_line(row) + "\n";
  if (std::filesystem::exists(path)) {
    if (read_file(path) == text) return;
    fail("there is something else at this place already: '{}'", path);
  }
  const auto folder = std::filesystem::path(path).parent_path().string();
  if (!folder.empty()) make_directories(folder);
  write_file_atomically(path, text);
}

}  // namespace

int import_files(const ImportArguments& a) {
  if (!a.out.empty() && a.files.size() > 1) fail("--out takes one file, got {}", a.files.size());
  std::vector<lab::Row> all;
  std::vector<std::size_t> ends;  // of each file's rows
  for (const auto& path : a.files) {
    const auto sidecar = [&](const std::string& name) { return file_beside(path, name); };
    InputFile file(path, kLargestImport);
    const auto text = [&](std::size_t offset) { return file.piece(offset); };
    auto rows = lab::import_rows(text, a.format, options_for(a, path), sidecar);
    ends.push_back(all.size() + rows.size());
    std::ranges::move(rows, std::back_inserter(all));
  }
  const auto rows_of = [&](std::size_t i) {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    return std::span<const lab::Row>(all).subspan(begin, ends[i] - begin);
  };
  // Nothing is written before every file was understood.
  std::vector<std::string> places;
  if (!a.store.empty()) {
    lab::Store store(a.store, lab::Access::kCreate);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      std::vector<std::string> lines;
      for (const auto& row : rows_of(i)) lines.push_back(lab::row_to_line(row));
      const auto report = lab::ingest_lines(store, lines, a.files[i]);
      places.push_back(fmt::format("{}: {} rows added to {}, {} known", a.files[i], report.added,
                                   a.store, report.known));
    }
  }
  if (!a.out.empty() || a.store.empty()) {
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const auto rows = rows_of(i);
      const auto place = a.out.empty() ? "results/" + rows[0].run_id + ".jsonl" : a.out;
      write_journal(place, rows);
      places.push_back(fmt::format("{}: {} rows in {}", a.files[i], rows.size(), place));
    }
  }
  const auto summaries = lab::summarise(all);
  std::fputs(a.json ? (pretty_json(lab::summary_json("", a.out, summaries)) + "\n").c_str()
                    : lab::terminal_table(summaries, stdout_style()).c_str(),
             stdout);
  std::fflush(stdout);
  for (const auto& place : places) std::fputs((place + "\n").c_str(), stderr);
  const auto from = all.empty() ? std::nullopt : all[0].machine.fingerprint_from;
  if (from == "the file alone") {
    std::fputs(
        "note: the file says nothing of its machine: its rows are compared among themselves only; "
        "--here or --machine NAME changes that\n",
        stderr);
  }
  return kFine;
}

}  // namespace assay::cli
