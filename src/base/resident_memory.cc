// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/resident_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>

#include "base/file.h"

namespace assay {
namespace {

// A line of /proc/self/status, in kB there.
double status_bytes(const char* name) {
  const auto status = read_small_file("/proc/self/status");
  const auto at = status ? status->find(name) : std::string::npos;
  if (at == std::string::npos) return std::numeric_limits<double>::quiet_NaN();
  return 1024.0 * std::atof(status->c_str() + at + std::string_view(name).size());
}

}  // namespace

double resident_bytes() { return status_bytes("VmRSS:"); }
double peak_resident_bytes() { return status_bytes("VmHWM:"); }

void reset_peak_resident() {
  const UniqueFd fd(::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC));
  if (fd) [[maybe_unused]]
    const ssize_t n = ::write(fd.get(), "5", 1);
}

}  // namespace assay
