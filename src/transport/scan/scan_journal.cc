// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/scan_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "transport/scan/scan.h"

namespace assay::transport {
namespace {

// CHECKSUM<space>JSON<newline>.
std::string line_of(const Json& json) {
  const auto text = canonical_json(json);
  return fmt::format("{:08x} {}\n", crc32c(text), text);
}

// The JSON of a whole, undamaged line.
std::optional<Json> read_line(std::string_view line, const std::string& path) {
  if (line.size() < 10 || line[8] != ' ') return std::nullopt;
  const auto text = line.substr(9);
  if (fmt::format("{:08x}", crc32c(text)) != line.substr(0, 8)) return std::nullopt;
  return parse_checked_json(text, path);
}

}  // namespace

std::string scan_identity(const Prepared& prepared, std::span<const Case> cases, Method method) {
  const auto& g = prepared.geometry();
  std::string bytes;
  const auto add = [&](const auto& values) {
    bytes.append(reinterpret_cast<const char*>(values.data()),
                 values.size() * sizeof(values.data()[0]));
  };
  const std::vector<double> scalars = {static_cast<double>(g.grid.n_theta),
                                       static_cast<double>(g.grid.n_zeta),
                                       static_cast<double>(g.grid.n_xi),
                                       static_cast<double>(g.nfp),
                                       g.iota,
                                       g.psi_prime,
                                       g.b0,
                                       static_cast<double>(method)};
  add(scalars);
  for (const auto* field : {&g.b, &g.db_dtheta, &g.db_dzeta, &g.jacobian, &g.b_sub_theta,
                            &g.b_sub_zeta, &g.b_sup_theta, &g.b_sup_zeta}) {
    add(*field);
  }
  for (const auto& c : cases) add(std::vector<double>{c.nu_hat, c.epsi_hat});
  return short_hash(bytes);
}

ScanJournal::ScanJournal(const std::string& path, const std::string& identity) : path_(path) {
  fd_ = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd_) fail("cannot open the scan's journal: {}: '{}'", errno_text(errno), path);
  if (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    fail("another process is at work on this scan: '{}'", path);
  }
  const std::string text = read_file(path);
  std::size_t valid = 0;
  bool first = true;
  while (valid < text.size()) {
    const auto end = text.find('\n', valid);
    if (end == std::string::npos) break;
    const auto json = read_line(std::string_view(text).substr(valid, end - valid), path);
    if (!json) break;
    if (first) {
      const auto found = json_field<std::string>(*json, "scan", path);
      if (found != identity)
        fail("this journal belongs to another scan (other inputs): '{}'", path);
      first = false;
    } else {
      const auto index = json_field<std::int64_t>(*json, "index", path);
      finished_[static_cast<std::size_t>(index)] =
          solution_from_json(json_field<Json>(*json, "solution", path), path);
    }
    valid = end + 1;
  }
  // A first line that is whole but not ours is somebody's file, not a torn journal.
  if (first && text.find('\n') != std::string::npos) fail("not a scan's journal: '{}'", path);
  // What follows the last whole line was torn by a kill.
  if (::ftruncate(fd_.get(), static_cast<off_t>(valid)) != 0 ||
      ::lseek(fd_.get(), 0, SEEK_END) < 0) {
    fail("cannot write: {}: '{}'", errno_text(errno), path);
  }
  if (first) {
    write_fully(fd_.get(), line_of({{"scan", identity}, {"format", 1}}), path_);
    sync();
  }
}

void ScanJournal::append(std::size_t index, const Solution& solution) {
  write_fully(fd_.get(), line_of({{"index", index}, {"solution", solution_to_json(solution)}}),
              path_);
}

void ScanJournal::sync() {
  if (::fdatasync(fd_.get()) != 0) fail("cannot write: {}: '{}'", errno_text(errno), path_);
}

}  // namespace assay::transport
