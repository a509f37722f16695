// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/kept_journal.h"

#include <utility>

#include "base/error.h"

namespace assay::lab {

bool is_journal_name(std::string_view name) {
  return name.ends_with(".jsonl") || name.ends_with(".jsonl.gz");
}

KeptText::KeptText(std::string path) : path_(std::move(path)), file_(path_) {}

bool KeptText::read(std::string& text) {
  bytes_.clear();
  bool more = file_.read(bytes_);
  if (!is_begun_) {
    while (more && bytes_.size() < 2) more = file_.read(bytes_);  // what a pipe gives may be less
    if (is_gzip(bytes_)) gunzip_.emplace(path_);
    if (path_.ends_with(".gz") && !gunzip_) fail("not gzip: '{}'", path_);
    is_begun_ = true;
  }
  if (!gunzip_) {
    text += bytes_;
  } else {
    gunzip_->add(bytes_, text);
    if (!more) gunzip_->end();
  }
  return !bytes_.empty();
}

std::string read_kept_text(const std::string& path) {
  KeptText file(path);
  std::string text;
  while (file.read(text)) {
  }
  return text;
}

Journal read_kept_journal(const std::string& path) {
  return parse_journal(read_kept_text(path), path);
}

}  // namespace assay::lab
