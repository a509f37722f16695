// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "lab/store/postgres.h"
#include "lab/store/shown_source.h"

namespace assay::lab {

std::unique_ptr<Database> open_postgres(const std::string& url, Access,
                                        std::span<const char* const>) {
  fail(
      "this assay was built without PostgreSQL (libpq was not found, or ASSAY_POSTGRES=OFF): "
      "'{}'",
      shown_source(url));
}

}  // namespace assay::lab
