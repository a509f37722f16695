// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/packed_share.h"

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "lab/run/run_place.h"

namespace assay::lab {

std::string packed_share(const std::string& journal) {
  const auto record = read_json_file(request_path(journal));
  const auto of = json_field<std::string>(record, "share_of", journal);
  const Json both = {{"share", record}, {"run", read_json_file(request_path(of))}};
  const auto rows = std::filesystem::exists(journal) ? read_file(journal) : std::string();
  return canonical_json(both) + "\n" + rows;
}

std::string unpack_share(const std::string& packed, const std::string& folder) {
  const std::string what = "a share of a run on standard input";
  const auto end = packed.find('\n');
  if (end == std::string::npos) fail("{} is not whole", what);
  const auto both = parse_json(packed.substr(0, end), what);
  auto share = json_field<Json>(both, "share", what);
  const auto of = folder + "/run.jsonl", journal = folder + "/share.jsonl";
  share["share_of"] = of;
  write_file_atomically(request_path(of), canonical_json(json_field<Json>(both, "run", what)));
  write_file_atomically(journal, packed.substr(end + 1));
  write_file_atomically(request_path(journal), canonical_json(share));
  return journal;
}

}  // namespace assay::lab
