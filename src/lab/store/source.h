// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Anything rows can be read from: a journal, a folder of journals, a store.

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "lab/record/row.h"

namespace assay::lab {

struct Source {
  std::vector<Row> rows;
  std::vector<std::string> warnings;  // one line each: journals left out, torn or without rows
};

// Reads all rows of a store's URL, of a file (a store or a journal, told apart by its content) or
// of the journals of a folder. Rows of a store come ordered by run, those of journals as they stand
// there. Nothing is created or changed. Throws UserError that names what cannot be read; of a
// folder's journals one that is damaged, or contradicts those before it, is left out with a
// warning, unless all are, or what is read must be whole.
enum class Reading { kWhatIsWhole, kAllOrNothing };
Source read_source(const std::string& text);

// What a page is made of at most of one store: beyond it, the latest rows of each series
// (Selection::latest) stand for all, and a warning says so.
inline constexpr std::int64_t kMostRowsOfAPage = 20'000;

// Reads several sources one after another. A row that occurs twice with the same content is there
// once; with other content it is a UserError that names its run and attempt.
// A store with more than `most_rows` gives its latest ones instead, and a warning.
Source read_sources(std::span<const std::string> texts, Reading reading = Reading::kWhatIsWhole,
                    std::int64_t most_rows = std::numeric_limits<std::int64_t>::max());

}  // namespace assay::lab
