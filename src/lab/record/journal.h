// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The append-only file of a run: one row a line, each synced before the next attempt starts, so
// that a runner killed at any moment loses at most the attempt in flight.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "lab/record/row.h"

namespace assay::lab {

struct Journal {
  std::vector<Row> rows;
  std::vector<std::string> lines;  // as in the file, without newlines; lines[i] is rows[i]
  bool torn = false;               // the last line was incomplete and is not among the rows
};

// Reads a journal. A torn last line is left out and reported in `torn`; any other line that is
// damaged is a UserError that names path and line number.
Journal read_journal(const std::string& path);
// The same of a journal's content; `path` stands for it in errors.
Journal parse_journal(std::string_view content, const std::string& path);

// Another process writes this journal.
class JournalHeld : public UserError {
 public:
  using UserError::UserError;
};

// Appends rows to a journal. Holds the file's lock: a second writer is refused (JournalHeld).
// What is read of the journal while the lock is held stays true until it is let go.
class JournalWriter {
 public:
  // Opens the file for appending, creating it (and its folder). Where another process has the lock,
  // `wait` is asked again and again whether to try once more; without it there is no waiting.
  explicit JournalWriter(const std::string& path, const std::function<bool()>& wait = {});

  // Writes the rows of one process, a line each, and syncs them; before the first of them a torn
  // last line is cut off. If that fails (full disk), the file is cut back to what it was and a
  // UserError (a DiskError) names the path: no row that was written before is lost or damaged. An
  // EnvironmentError where the file is at its path no more, and nobody would find the rows.
  void append(std::span<const Row> rows);
  void append(const Row& row) { append(std::span(&row, 1)); }

  const std::string& path() const { return path_; }

 private:
  void cut_torn_line();

  std::string path_;
  UniqueFd fd_;
  bool is_whole_ = false;  // the file is known to end with a line's end
};

// What is whole in the content of a damaged journal.
struct Salvage {
  struct LeftOut {
    std::size_t line;  // from 1
    std::string why;
  };
  std::vector<std::string> lines;  // as in the file, without newlines
  std::vector<LeftOut> left_out;
};

// Keeps every line that is as it was written, also a last one that lacks nothing but its newline;
// of an attempt that is there twice the first. Never throws for what the content is.
Salvage salvage_journal(std::string_view content);

}  // namespace assay::lab
