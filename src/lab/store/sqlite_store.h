// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "lab/store/store.h"

namespace assay::lab {

// The store in one SQLite file; see open_store(). The path is not empty.
std::unique_ptr<Store> open_sqlite_store(const std::string& path, Access access);

}  // namespace assay::lab
