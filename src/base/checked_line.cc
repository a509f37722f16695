// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/checked_line.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "base/json.h"

namespace assay {

std::string checked_line(const Json& value) {
  const auto text = canonical_json(value);
  return fmt::format("{:08x} {}\n", crc32c(text), text);
}

std::optional<Json> read_checked_line(std::string_view line, std::string_view what) {
  if (line.size() < 10 || line[8] != ' ') return std::nullopt;
  const auto text = line.substr(9);
  if (fmt::format("{:08x}", crc32c(text)) != line.substr(0, 8)) return std::nullopt;
  return parse_checked_json(text, what);
}

}  // namespace assay
