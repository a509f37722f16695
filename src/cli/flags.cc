// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/flags.h"

#include <exception>

#include "base/error.h"

namespace assay::cli {

double parse_share(const std::string& text, const std::string& what) {
  try {
    std::size_t used = 0;
    const double value = std::stod(text, &used);
    const auto unit = text.substr(used);
    if (value >= 0 && value <= 100 && unit == "%") return value / 100;
    if (value >= 0 && value <= 1 && unit.empty()) return value;
  } catch (const std::exception&) {
  }
  fail("{}: expected a share such as 2% or 0.02, got '{}'", what, text);
}

}  // namespace assay::cli
