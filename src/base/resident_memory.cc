// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/resident_memory.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "base/file.h"

namespace assay {
namespace {

// A line of a file in /proc, in kB there.
double proc_bytes(const char* file, std::string_view name) {
  const auto text = read_small_file(file);
  const auto at = text ? text->find(name) : std::string::npos;
  if (at == std::string::npos) return std::numeric_limits<double>::quiet_NaN();
  return 1024.0 * std::atof(text->c_str() + at + name.size());
}
double status_bytes(const char* name) { return proc_bytes("/proc/self/status", name); }

// What is left of a limit; infinity where there is none, or it cannot be read.
double left_of(double limit, double used) {
  const double left = limit - used;
  return std::isnan(left) ? std::numeric_limits<double>::infinity() : left;
}

double left_of_limit(int which, const char* used) {
  rlimit limit = {};
  if (::getrlimit(static_cast<__rlimit_resource>(which), &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<double>::infinity();
  }
  return left_of(static_cast<double>(limit.rlim_cur), status_bytes(used));
}

// Of a control group's files; "max" is no limit.
double left_of_group(const char* limit, const char* used) {
  const auto most = read_small_file(limit), now = read_small_file(used);
  if (!most || !now || most->starts_with("max")) return std::numeric_limits<double>::infinity();
  return left_of(std::atof(most->c_str()), std::atof(now->c_str()));
}

}  // namespace

double resident_bytes() { return status_bytes("VmRSS:"); }
double peak_resident_bytes() { return status_bytes("VmHWM:"); }

double available_bytes() {
  return std::min({left_of(proc_bytes("/proc/meminfo", "MemAvailable:"), 0),
                   left_of_group("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
                   left_of_group("/sys/fs/cgroup/memory/memory.limit_in_bytes",
                                 "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
                   left_of_limit(RLIMIT_AS, "VmSize:"), left_of_limit(RLIMIT_DATA, "VmData:")});
}

void reset_peak_resident() {
  const UniqueFd fd(::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC));
  if (fd) [[maybe_unused]]
    const ssize_t n = ::write(fd.get(), "5", 1);
}

}  // namespace assay
