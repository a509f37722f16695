// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/kept_journal.h"

#include "base/error.h"
#include "base/file.h"
#include "lab/store/gzip.h"

namespace assay::lab {

bool is_journal_name(std::string_view name) {
  return name.ends_with(".jsonl") || name.ends_with(".jsonl.gz");
}

std::string read_kept_text(const std::string& path) {
  auto content = read_file(path);
  if (path.ends_with(".gz") && !is_gzip(content)) fail("not gzip: '{}'", path);
  return is_gzip(content) ? gunzip(content, path) : content;
}

Journal read_kept_journal(const std::string& path) {
  return parse_journal(read_kept_text(path), path);
}

}  // namespace assay::lab
