// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/cores.h"

#include <hwloc.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "base/error.h"

namespace assay::lab {
namespace {

constexpr std::int64_t kTellAfterNs = 1'000'000'000;

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
  std::ranges::sort(cpus);  // locks are taken in this order
  return cpus;
}

}  // namespace

std::vector<std::vector<int>> core_groups(int slots, int cores) {
  const auto usable = usable_cores();
  const int available = static_cast<int>(usable.size());
  if (cores == 0) cores = std::max(1, available / slots);
  const std::int64_t needed = std::int64_t{slots} * cores;
  if (needed > available) {
    throw EnvironmentError(fmt::format("{} slots of {} cores need {} cores; usable here: {}", slots,
                                       cores, needed, available));
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

std::optional<CoreLock> CoreLock::acquire(const std::vector<int>& cpus,
                                          const std::atomic<bool>& stop,
                                          const std::function<void()>& on_wait,
                                          const std::string& device) {
  const auto folder = lock_directory();
  const auto start = monotonic_ns();
  bool told = false;
  // Polls rather than blocks, so that it can be stopped; false when it was.
  const auto wait_for = [&](const char* kind, const std::string& what,
                            std::vector<FileLock>& held) {
    const auto path = fmt::format("{}/{}.{}", folder, what, kind);
    for (;;) {
      if (auto lock = FileLock::try_acquire(path)) {
        held.push_back(std::move(*lock));
        return true;
      }
      if (stop.load()) return false;
      if (!told && on_wait && monotonic_ns() - start > kTellAfterNs) {
        on_wait();
        told = true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  };
  // A core has a lock and a turnstile. Whoever wants the lock passes the turnstile first and keeps
  // it until the lock is free; so the next in line is whoever holds the turnstile, not whoever
  // polls at the right moment. Ascending order everywhere: no two runners wait for each other.
  // A device comes after all cores.
  std::vector<std::string> names;
  for (const int cpu : cpus) names.push_back(fmt::format("cpu-{}", cpu));
  if (!device.empty()) names.push_back("gpu-" + device);
  CoreLock lock;
  std::vector<FileLock> turnstiles;
  for (const auto& name : names) {
    if (!wait_for("turn", name, turnstiles)) return std::nullopt;
  }
  for (const auto& name : names) {
    if (!wait_for("lock", name, lock.locks_)) return std::nullopt;
  }
  return lock;
}

std::vector<int> CoreLock::fds() const {
  std::vector<int> fds;
  for (const auto& lock : locks_) fds.push_back(lock.fd());
  return fds;
}

}  // namespace assay::lab
