// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/ranks/rank_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include "base/checked_line.h"
#include "base/error.h"
#include "transport/scan/scan.h"

namespace assay::transport {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_beside(const std::string& journal) {
  const fs::path path = fs::absolute(journal);
  const auto beginning = path.filename().string() + ".rank-";
  std::vector<std::string> files;
  std::error_code gone;
  for (const auto& file : fs::directory_iterator(path.parent_path(), gone)) {
    if (file.path().filename().string().starts_with(beginning)) files.push_back(file.path());
  }
  return files;
}

// The lines of a file that is of these settings, each as it was written; none of any other.
std::vector<Json> lines_of(const std::string& path, const Json& settings) {
  const auto text = read_file(path);
  std::vector<Json> lines;
  std::size_t begin = 0, end = 0;
  for (; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    auto json = read_checked_line(std::string_view(text).substr(begin, end - begin), path);
    if (begin == 0) {
      if (!json || *json != settings) return {};
    } else if (json) {
      lines.push_back(std::move(*json));
    }
  }
  return lines;
}

}  // namespace

RankJournal::RankJournal(const std::string& journal, const Json& settings)
    : journal_(journal), settings_({{"settings", settings}}) {
  for (const auto& path : files_beside(journal)) {
    for (const auto& json : lines_of(path, settings_)) {
      const std::pair at(number_from_json(json_field<Json>(json, "nu_hat", path), path),
                         number_from_json(json_field<Json>(json, "epsi_hat", path), path));
      auto solution = solution_from_json(json_field<Json>(json, "solution", path), path);
      solution.at = {at.first, at.second};
      solved_[at] = std::move(solution);
    }
  }
}

void RankJournal::begin(int rank) {
  path_ = fmt::format("{}.rank-{}", journal_, rank);
  std::string kept = checked_line(settings_);
  if (fs::exists(path_)) {
    for (const auto& json : lines_of(path_, settings_)) kept += checked_line(json);
  }
  write_file_atomically(path_, kept);  // without what a kill has torn
  fd_ = UniqueFd(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!fd_) fail_to_write("write", path_, errno);
}

const Solution* RankJournal::find(const Case& c) const {
  const auto it = solved_.find({c.nu_hat, c.epsi_hat});
  return it == solved_.end() ? nullptr : &it->second;
}

void RankJournal::append(const Case& c, const Solution& solution) {
  write_fully(fd_.get(),
              checked_line({{"nu_hat", number_to_json(c.nu_hat)},
                            {"epsi_hat", number_to_json(c.epsi_hat)},
                            {"solution", solution_to_json(solution)}}),
              path_);
}

void remove_rank_journals(const std::string& journal) {
  for (const auto& path : files_beside(journal)) fs::remove(path);
}

}  // namespace assay::transport
