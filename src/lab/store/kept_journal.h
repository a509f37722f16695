// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "lab/record/journal.h"
#include "lab/store/gzip.h"

namespace assay::lab {

// Whether a folder's file of this name is a journal: *.jsonl, or compressed *.jsonl.gz.
bool is_journal_name(std::string_view name);

// The text of a journal that is not written any more, from its beginning to its end; compressed by
// gzip or not, by its content. All throw UserError that names the path.
class KeptText {
 public:
  explicit KeptText(std::string path);
  // Appends some of what follows; false at the end.
  bool read(std::string& text);

 private:
  std::string path_;
  FileStream file_;
  std::string bytes_;  // what was read last
  bool is_begun_ = false;
  std::optional<Gunzip> gunzip_;
};

// All of it.
std::string read_kept_text(const std::string& path);

// A journal that is not written any more; compressed by gzip or not, by its content. Throws as
// read_journal() does.
Journal read_kept_journal(const std::string& path);

}  // namespace assay::lab
