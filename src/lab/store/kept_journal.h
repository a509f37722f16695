// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "lab/record/journal.h"

namespace assay::lab {

// Whether a folder's file of this name is a journal: *.jsonl, or compressed *.jsonl.gz.
bool is_journal_name(std::string_view name);

// The text of a journal that is not written any more; compressed by gzip or not, by its content.
// Throws UserError that names the path.
std::string read_kept_text(const std::string& path);

// A journal that is not written any more; compressed by gzip or not, by its content. Throws as
// read_journal() does.
Journal read_kept_journal(const std::string& path);

}  // namespace assay::lab
