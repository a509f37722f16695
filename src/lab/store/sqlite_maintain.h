// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lab/store/sqlite.h"
#include "lab/store/store.h"

namespace assay::lab {

// Store::prune(), verify() and rebuild() for SQLite.
PruneReport prune_database(Database& db, int keep);
std::vector<Problem> verify_database(Database& db);
std::int64_t rebuild_database(Database& db);

}  // namespace assay::lab
