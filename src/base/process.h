// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Child processes that cannot escape.
//
// The obvious approach, fork, exec and kill(-pgid), fails in four ways: a grandchild that calls
// setsid() leaves the process group; a killed parent leaves its children running; an orphan of one
// attempt cannot be told from an orphan of another; a lock that the parent held is free while its
// orphan still computes. So between us and the child stands a *supervisor*, a forked process that
// is the reaper of everything the child starts. It watches time, memory and a pipe to us; when the
// child ends, or a limit is passed, or we are gone (even by SIGKILL), it kills every descendant,
// reaps them all, and only then reports and exits. Descriptors in `held_fds` (locks) stay open in
// the supervisor, so that a lock outlives us exactly as long as anything we started. A supervisor
// that somebody stopped (SIGSTOP) cannot keep a limit: past it we wake it, and in the end kill it
// with all its descendants.

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay {

struct ProcessSpec {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH
  // Set on top of our own environment.
  std::vector<std::pair<std::string, std::string>> environment;
  std::string working_directory;   // empty: ours
  std::vector<int> cpus;           // affinity set before exec; empty: ours
  double time_limit_s = 600;       // wall time, after which everything is killed
  std::uint64_t memory_limit = 0;  // bytes of data per process and of RSS over all; 0: none
  std::vector<int> held_fds;       // kept open by the supervisor, closed in the child
  // Polled while waiting; when true, everything is killed and `interrupted` is set.
  const std::atomic<bool>* interrupt = nullptr;
  std::size_t stdout_limit = 64 << 10;  // bytes of its output that are kept, the last
  // Called some twenty times a second while the program runs. The program may have our core: it
  // must be quick.
  std::function<void()> on_wait;
};

struct ProcessResult {
  std::optional<int> exit_code;  // the child ended by itself
  std::optional<int> signal;     // the child was ended by a signal, ours included
  int exec_errno = 0;            // not 0: the program could not be started
  bool timed_out = false;
  bool over_memory = false;  // killed by our watchdog, or by the kernel for want of memory
  bool interrupted = false;
  int orphans = 0;  // processes that outlived the child and were killed
  double wall_s = 0;
  double processor_s = 0;   // of the child, all that it started, and their supervisor
  std::string stdout_text;  // the last ProcessSpec::stdout_limit bytes
  std::string stderr_text;  // the last 16 KiB
};

// Runs a program to its end. Returns after the child and all its descendants are gone. Never throws
// for what the child does; throws UserError when no process can be created at all.
ProcessResult run_process(const ProcessSpec& spec);

// The first program of that name in PATH, or the name itself if it contains a slash and can be
// executed.
std::optional<std::string> find_program(const std::string& name);

}  // namespace assay
