// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace assay::cases::chip {

// Holds demands one after the other and keeps, in words, the first that was not met.
class FirstWrong {
 protected:
  template <typename... Args>
  bool demand(bool law, fmt::format_string<Args...> format, Args&&... args) {
    if (!law && wrong_.empty()) wrong_ = fmt::format(format, std::forward<Args>(args)...);
    return law;
  }

  std::string wrong_;  // empty: nothing
};

}  // namespace assay::cases::chip
