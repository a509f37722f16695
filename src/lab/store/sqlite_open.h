// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lab/store/sqlite.h"
#include "lab/store/store.h"

namespace assay::lab {

// "ASSY": how a store is known among SQLite files (PRAGMA application_id).
inline constexpr std::int64_t kApplicationId = 0x41535359;
// Raised whenever an older program could not use the tables any more (PRAGMA user_version).
inline constexpr std::int64_t kStoreVersion = 1;

// Whether the file starts as SQLite databases do.
bool is_sqlite_file(const std::string& path);

// Opens (or makes) the database of a store after it was found to be one; see Store.
SqliteConnection open_store_file(const std::string& path, Access access);

// Makes the table that holds the rows, and its indexes.
void create_table(SqliteConnection& db);
void create_indexes(SqliteConnection& db);

}  // namespace assay::lab
