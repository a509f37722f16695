// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The process that stands between run_process() and its child; see process.h for why it exists.
// Runs between fork() and _exit() of a program that may have threads: system calls only, no
// allocation, no locks, no exceptions.

#include <sched.h>

#include <cstdint>

namespace assay {

struct Supervised {
  const char* program;
  char** argv;
  char** environment;
  const char* working_directory;  // may be null
  cpu_set_t cpus;
  bool set_cpus;
  std::int64_t time_limit_ns;
  std::uint64_t memory_limit;  // 0: none
  int stdout_fd, stderr_fd;    // the child's
  int report_fd;               // where the SupervisorReport goes
  int control_fd;              // hangs up when the parent dies or wants the end
  // The descriptors that stay open here, ascending: standard streams, those above, and what the
  // caller holds (locks), however many that are.
  const int* kept_fds;
  int kept_count;
};

struct SupervisorReport {
  int wait_status = 0;  // of the child, as waitpid() gave it
  int exec_errno = 0;
  bool timed_out = false;
  bool over_memory = false;
  int orphans = 0;
};

// Kills a process with all its descendants from outside, for a supervisor that does not do its
// work.
void kill_with_descendants(int pid) noexcept;

// Starts the child, watches it, kills and reaps all that it left, reports, exits.
[[noreturn]] void supervise(const Supervised& job) noexcept;

}  // namespace assay
