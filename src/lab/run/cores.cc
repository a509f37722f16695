// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/cores.h"

#include <hwloc.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "base/error.h"

namespace assay::lab {
namespace {

// One hardware thread of every physical core that this process may use, in the machine's order.
std::vector<int> usable_cores() {
  hwloc_topology_t raw = nullptr;
  check(hwloc_topology_init(&raw) == 0, "hwloc can be initialised");
  const std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> topology(
      raw, hwloc_topology_destroy);
  if (hwloc_topology_load(raw) != 0) throw EnvironmentError("cannot read the machine's topology");

  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> cpus;
  const int count = hwloc_get_nbobjs_by_type(raw, HWLOC_OBJ_CORE);
  for (int i = 0; i < count; ++i) {
    const hwloc_obj_t core = hwloc_get_obj_by_type(raw, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
    for (int cpu = hwloc_bitmap_first(core->cpuset); cpu >= 0;
         cpu = hwloc_bitmap_next(core->cpuset, cpu)) {
      if (CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) {
        cpus.push_back(cpu);
        break;
      }
    }
  }
  if (cpus.empty()) {  // topologies without cores: take what the scheduler allows
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) cpus.push_back(cpu);
    }
  }
  return cpus;
}

}  // namespace

std::vector<std::vector<int>> core_groups(int slots, int cores) {
  const auto usable = usable_cores();
  const int available = static_cast<int>(usable.size());
  if (cores == 0) cores = std::max(1, available / slots);
  if (slots * cores > available) {
    throw EnvironmentError(fmt::format("{} slots of {} cores need {} cores; usable here: {}", slots,
                                       cores, slots * cores, available));
  }
  std::vector<std::vector<int>> groups;
  for (int s = 0; s < slots; ++s) {
    groups.emplace_back(usable.begin() + s * cores, usable.begin() + (s + 1) * cores);
  }
  return groups;
}

std::string lock_directory() {
  const char* own = std::getenv("ASSAY_LOCK_DIR");
  const std::string path = own != nullptr && *own != '\0' ? own : "/tmp/assay-locks";
  if (::mkdir(path.c_str(), 0777) == 0) ::chmod(path.c_str(), 01777);  // whatever the umask says
  return path;
}

std::optional<CoreLock> CoreLock::try_acquire(const std::vector<int>& cpus) {
  // Ascending order everywhere, so that two runners cannot each hold what the other waits for; and
  // all or nothing, so that nobody holds some while waiting.
  CoreLock lock;
  const auto folder = lock_directory();
  for (const int cpu : cpus) {
    auto one = FileLock::try_acquire(fmt::format("{}/cpu-{}.lock", folder, cpu));
    if (!one) return std::nullopt;
    lock.locks_.push_back(std::move(*one));
  }
  return lock;
}

std::optional<CoreLock> CoreLock::acquire(const std::vector<int>& cpus,
                                          const std::atomic<bool>& stop) {
  for (;;) {
    if (auto lock = try_acquire(cpus)) return lock;
    if (stop.load()) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::vector<int> CoreLock::fds() const {
  std::vector<int> fds;
  for (const auto& lock : locks_) fds.push_back(lock.fd());
  return fds;
}

}  // namespace assay::lab
