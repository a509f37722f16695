// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace assay::cli {

// Cores that this process may run on.
inline int usable_cores() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return std::max(1, CPU_COUNT(&cores));
}

// What was typed as --threads, or all of them. Throws UserError.
inline int threads_or_all(const std::optional<int>& typed) {
  const int threads = typed.value_or(usable_cores());
  if (threads < 1 || threads > 1024) fail("--threads is from 1 to 1024, not {}", threads);
  return threads;
}

}  // namespace assay::cli
