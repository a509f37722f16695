// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/run_place.h"

#include <filesystem>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "lab/record/journal.h"
#include "lab/run/disk_ends_run.h"

namespace assay::lab {
namespace {

std::string journal_named(const std::string& run, const std::string& folder) {
  const std::string in = folder.empty() ? "results" : folder;
  for (const auto& path :
       {run, fmt::format("{}/{}.jsonl", in, run), fmt::format("{}/{}", in, run)}) {
    if (std::filesystem::is_regular_file(path) || std::filesystem::exists(request_path(path))) {
      return path;
    }
  }
  fail("no run of that name or path (looked in '{}'): '{}'", in, run);
}

// Journals grow line by line; compressed ones are kept, not continued.
void refuse_compressed(const std::string& journal) {
  if (journal.ends_with(".gz")) {
    fail("a run writes plain journals (gzip it afterwards; reports read both): '{}'", journal);
  }
}

RunShare share_from_json(const Json& record, const std::string& what) {
  RunShare share;
  share.of = json_field<std::string>(record, "share_of", what);
  share.version = json_field<std::string>(record, "version", what);
  share.machine = json_field<std::string>(record, "machine", what);
  share.sha256 = record.at("sha256").get<std::map<std::string, std::string>>();
  for (const auto& point : record.at("points")) {
    share.points.push_back(
        {json_field<std::string>(point, "case", what), json_field<Json>(point, "point", what)});
  }
  return share;
}

// What the journal and the request beside it say.
void read_place(RunPlace& place) {
  if (std::filesystem::exists(place.journal)) {
    auto journal = read_journal(place.journal);
    place.rows = std::move(journal.rows);
    place.torn = journal.torn;
  }
  const auto beside = request_path(place.journal);
  if (std::filesystem::exists(beside)) {
    const auto record = read_json_file(beside);
    place.run_id = json_field<std::string>(record, "run_id", beside);
    if (record.contains("share_of")) {
      place.share = share_from_json(record, beside);
      const auto whole = request_path(place.share->of);
      place.request =
          request_from_json(json_field<Json>(read_json_file(whole), "request", whole), whole);
    } else {
      place.request = request_from_json(json_field<Json>(record, "request", beside), beside);
    }
  } else if (!place.rows
                  .empty()) {  // a journal that travelled alone: every row repeats the request
    const auto& row = place.rows.front();
    place.run_id = row.run_id;
    if (!row.provenance.request)
      fail("the rows do not say what was asked for: '{}'", place.journal);
    place.request = request_from_json(*row.provenance.request, place.journal);
  } else {
    fail("the journal holds no rows and no request to continue from: '{}'", place.journal);
  }
  // Runs that asked for the same have attempts of the same names: what another run did is not done
  // here.
  place.of_others =
      std::erase_if(place.rows, [&](const Row& r) { return r.run_id != place.run_id; });
}

// A disk that takes nothing is no mistake of whoever named the journal.
template <typename Write>
void on_disk(const Write& write) {
  try {
    write();
  } catch (const DiskError& e) {
    throw DiskEndsRun(e.what());
  }
}

// Takes the journal's lock.
void take(RunPlace& place) {
  refuse_compressed(place.journal);
  on_disk([&] { place.writer.emplace(place.journal); });
}

// A run makes each of its attempts once: a journal that has one twice was spoilt, and no view would
// take what is added to it.
void refuse_repetitions(const RunPlace& place) {
  std::set<std::string_view> seen;
  for (const auto& row : place.rows) {
    if (!seen.insert(row.attempt_id).second) {
      fail("attempt '{}' is there twice (assay store repair takes out what is whole): '{}'",
           row.attempt_id, place.journal);
    }
  }
}

}  // namespace

std::string request_path(const std::string& journal) { return journal + ".request.json"; }

RunPlace new_place(const RunRequest& request, const std::string& run_id, const std::string& out,
                   const std::function<void(const std::string&)>& before) {
  std::string journal = out.empty() ? "results/" : out;
  if (journal.back() != '/' && std::filesystem::is_directory(journal)) journal += '/';
  if (journal.back() == '/') journal += run_id + ".jsonl";
  RunPlace place{run_id, journal, request, {}, 0, false, {}, {}};
  take(place);
  if (!read_file(journal).empty() || std::filesystem::exists(request_path(journal))) {
    fail("the journal exists already (continue it with --resume): '{}'", journal);
  }
  const Json record = {{"run_id", run_id}, {"request", request_to_json(request)}};
  on_disk([&] {
    if (before) before(journal);
    write_file_atomically(request_path(journal), pretty_json(record) + "\n");
  });
  return place;
}

RunPlace find_place(const std::string& run, const std::string& folder,
                    const std::function<bool()>& wait) {
  RunPlace place;
  place.journal = journal_named(run, folder);
  if (read_share(place.journal)) {
    place.writer.emplace(place.journal, wait);
  } else {
    take(place);
  }
  read_place(place);
  refuse_repetitions(place);
  return place;
}

void write_share(const std::string& journal, const std::string& run_id, const RunShare& share,
                 std::span<const Row> rows) {
  if (!rows.empty()) JournalWriter(journal).append(rows);
  Json points = Json::array();
  for (const auto& at : share.points) {
    points.push_back(Json{{"case", at.case_name}, {"point", at.point}});
  }
  const Json record = {{"run_id", run_id},         {"share_of", share.of},
                       {"version", share.version}, {"sha256", share.sha256},
                       {"machine", share.machine}, {"points", std::move(points)}};
  write_file_atomically(request_path(journal), canonical_json(record) + "\n");
}

void close_share(const std::string& journal) { std::filesystem::remove(request_path(journal)); }

std::optional<RunShare> read_share(const std::string& journal) {
  const auto beside = request_path(journal);
  if (!std::filesystem::exists(beside)) return std::nullopt;
  const auto record = read_json_file(beside);
  if (!record.contains("share_of")) return std::nullopt;
  return share_from_json(record, beside);
}

RunPlace look_at_place(const std::string& run, const std::string& folder) {
  RunPlace place;
  place.journal = journal_named(run, folder);
  read_place(place);
  return place;
}

}  // namespace assay::lab
