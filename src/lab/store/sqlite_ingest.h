// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "lab/store/sqlite.h"
#include "lab/store/store.h"

namespace assay::lab {

// Store::ingest() for SQLite.
IngestReport ingest_into(Database& db, const std::function<std::optional<Batch>()>& next);

}  // namespace assay::lab
