// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>

#include "lab/store/database.h"
#include "lab/store/store.h"

namespace assay::lab {

// The statements that bring the tables from each version to the next, from nothing to version 1
// first. A step is never changed once a store may have gone it: a new version is a step at the end.
std::span<const char* const> postgres_steps();

// The store in a database of PostgreSQL's, in a schema of its own (`assay`). A store of an older
// version is brought forward when it is opened for writing, and refused when it is only read; one
// of a newer version is refused. Without libpq at build time every URL is refused.
std::unique_ptr<Database> open_postgres(const std::string& url, Access access,
                                        std::span<const char* const> steps = postgres_steps());

}  // namespace assay::lab
