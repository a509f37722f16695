// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/beside/contents.h"

#include "base/json.h"

namespace assay::lab {

std::string contents_of(const Row& row) {
  const auto& request = row.provenance.request;
  if (!request || !request->is_object()) return {};
  const auto files = request->find("case_files");
  if (files == request->end() || !files->is_array()) return {};
  for (const auto& file : *files) {
    if (!file.is_object() || file.value("case", Json()) != row.case_name) continue;
    return canonical_json(file.value("sha256", Json()));
  }
  return {};
}

int leave_newest_contents(RowPointers& rows) {
  if (rows.empty()) return 0;
  const auto newest = contents_of(*rows.back());
  return static_cast<int>(
      std::erase_if(rows, [&](const Row* row) { return contents_of(*row) != newest; }));
}

}  // namespace assay::lab
