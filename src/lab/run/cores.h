// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"

namespace assay::lab {

// Disjoint groups of physical cores, one hardware thread of each, out of those this process may
// use: `slots` groups of `cores` (0: as many as fit). Neighbours in the machine's own order, so
// that a group shares caches. Throws EnvironmentError when there are not that many cores.
std::vector<std::vector<int>> core_groups(int slots, int cores);

// Exclusive use of a core group, and of a device where one is named, respected by every runner on
// the machine and held until the last process that inherited its descriptors is gone. Runners that
// wait take turns: one that has just released a core cannot take it again before somebody who was
// waiting for it.
class CoreLock {
 public:
  // Waits for all of the cores; nothing when `stop` became true meanwhile. `on_wait` is called once
  // if it takes longer than a second. `device`: a GPU's UUID; empty: none.
  static std::optional<CoreLock> acquire(const std::vector<int>& cpus,
                                         const std::atomic<bool>& stop,
                                         const std::function<void()>& on_wait = {},
                                         const std::string& device = "");

  std::vector<int> fds() const;

 private:
  std::vector<FileLock> locks_;
};

// Where the lock files are: $ASSAY_LOCK_DIR, or a folder that all users of the machine share.
std::string lock_directory();

}  // namespace assay::lab
