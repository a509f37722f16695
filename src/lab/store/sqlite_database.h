// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "lab/store/database.h"
#include "lab/store/store.h"

namespace assay::lab {

// The store in a file of SQLite's, by its path.
std::unique_ptr<Database> open_sqlite(const std::string& path, Access access);

}  // namespace assay::lab
