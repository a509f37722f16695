// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/scan_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/checked_line.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "transport/scan/scan.h"

namespace assay::transport {
namespace {

constexpr int kFormat = 2;
// A power cut may cost what was solved since; a kill costs nothing.
constexpr std::int64_t kSyncEvery_ns = 1'000'000'000;

// "n_xi 40 there, 60 here", for every setting that differs.
std::string differences(const Json& there, const Json& here) {
  std::vector<std::string> found;
  for (const auto& [name, value] : here.items()) {
    const auto it = there.find(name);
    if (it == there.end()) {
      found.push_back(name + " is not in it");
    } else if (*it != value) {
      found.push_back(fmt::format("{} {} there, {} here", name, it->dump(), value.dump()));
    }
  }
  for (const auto& [name, value] : there.items()) {
    if (!here.contains(name)) found.push_back(fmt::format("{} {} there", name, value.dump()));
  }
  return fmt::format("{}", fmt::join(found, "; "));
}

// The file, locked. One that is not there is made with its first line in it, so that an empty or
// half-made file is never ours.
UniqueFd open_locked(const std::string& path, const std::string& first_line) {
  while (true) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
    if (!fd && errno == ENOENT) {
      write_file_atomically(path, first_line);
      continue;
    }
    struct stat ours = {}, named = {};
    if (!fd || ::fstat(fd.get(), &ours) != 0) {
      fail("cannot open the scan's journal: {}: '{}'", errno_text(errno), path);
    }
    if (!S_ISREG(ours.st_mode)) fail("a scan's journal is a regular file: '{}'", path);
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      fail("another process is at work on this scan: '{}'", path);
    }
    // Two that found none have both made one: the later is the file.
    if (::stat(path.c_str(), &named) == 0 && named.st_ino == ours.st_ino) return fd;
  }
}

}  // namespace

Json scan_settings(const Prepared& prepared, std::span<const Case> cases, Method method) {
  const auto& g = prepared.geometry();
  const auto hash_of = [](const auto&... lists) {
    std::string bytes;
    (bytes.append(reinterpret_cast<const char*>(lists.data()),
                  lists.size() * sizeof(lists.data()[0])),
     ...);
    return short_hash(bytes);
  };
  const std::vector<double> scalars = {static_cast<double>(g.nfp), g.iota, g.psi_prime, g.b0};
  std::vector<double> list;
  for (const auto& c : cases) list.insert(list.end(), {c.nu_hat, c.epsi_hat});
  return {
      {"n_theta", g.grid.n_theta},
      {"n_zeta", g.grid.n_zeta},
      {"n_xi", g.grid.n_xi},
      {"method", name_of(method)},
      {"adjoint_consistent", prepared.adjoint_consistent()},
      {"cases", fmt::format("{} ({})", cases.size(), hash_of(list))},
      {"fields on the grid", hash_of(scalars, g.b, g.db_dtheta, g.db_dzeta, g.jacobian,
                                     g.b_sub_theta, g.b_sub_zeta, g.b_sup_theta, g.b_sup_zeta)}};
}

ScanJournal::ScanJournal(const std::string& path, const Json& settings) : path_(path) {
  fd_ = open_locked(path, checked_line({{"format", kFormat}, {"settings", settings}}));
  const std::string text = read_file(path);
  std::size_t begin = 0, end = 0;
  for (; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const auto json = read_checked_line(std::string_view(text).substr(begin, end - begin), path);
    if (begin == 0) {
      if (!json || !json->is_object() || !json->contains("format")) break;
      if (json_field<std::int64_t>(*json, "format", path) != kFormat) {
        fail("this journal is of another version of the program; remove it, or name another: '{}'",
             path);
      }
      const auto there = json_field<Json>(*json, "settings", path);
      if (there != settings) {
        fail("this journal belongs to another scan ({}); remove it, or name another: '{}'",
             differences(there, settings), path);
      }
    } else if (json) {  // else damaged: solved again
      const auto index = json_field<std::int64_t>(*json, "index", path);
      finished_[static_cast<std::size_t>(index)] =
          solution_from_json(json_field<Json>(*json, "solution", path), path);
    }
  }
  if (begin == 0) fail("not a scan's journal: '{}'", path);
  // What follows the last end of a line was torn by a kill.
  if (::ftruncate(fd_.get(), static_cast<off_t>(begin)) != 0 ||
      ::lseek(fd_.get(), 0, SEEK_END) < 0) {
    fail("cannot write: {}: '{}'", errno_text(errno), path);
  }
}

void ScanJournal::append(std::size_t index, const Solution& solution) {
  write_fully(fd_.get(), checked_line({{"index", index}, {"solution", solution_to_json(solution)}}),
              path_);
  if (monotonic_ns() - synced_ns_ > kSyncEvery_ns) sync();
}

void ScanJournal::sync() {
  synced_ns_ = monotonic_ns();
  if (::fdatasync(fd_.get()) != 0) fail("cannot write: {}: '{}'", errno_text(errno), path_);
}

}  // namespace assay::transport
