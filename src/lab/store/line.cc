// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/line.h"

#include <string>

#include "base/error.h"
#include "base/hash.h"

namespace assay::lab {

bool line_is_untouched(std::string_view line) {
  // …,"check":"0123abcd"}
  constexpr std::string_view kStart = ",\"check\":\"";
  constexpr std::string_view kEnd = "\"}";
  constexpr std::size_t kDigits = 8;
  constexpr std::size_t kTail = kStart.size() + kDigits + kEnd.size();
  if (line.size() <= kTail || !line.ends_with(kEnd)) return false;
  const auto tail = line.substr(line.size() - kTail);
  if (!tail.starts_with(kStart)) return false;
  std::string without(line.substr(0, line.size() - kTail));
  without += '}';
  return tail.substr(kStart.size(), kDigits) == fmt::format("{:08x}", crc32c(without));
}

Row row_from_untouched_line(std::string_view line, std::string_view what) {
  Row row = row_from_line(line, what);
  if (!line_is_untouched(line)) {
    fail("{}: the line was changed after it was written: its text is not the one its check is for",
         what);
  }
  return row;
}

}  // namespace assay::lab
