// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/command.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"

extern char** environ;

namespace assay::cases::own {
namespace {

constexpr std::size_t kLongestLine = 500;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// What a child gets in place of ours; released at the end.
class SpawnPlan {
 public:
  explicit SpawnPlan(const CommandSpec& spec) {
    check(::posix_spawn_file_actions_init(&actions_) == 0 &&
              ::posix_spawnattr_init(&attributes_) == 0,
          "a process can be described");
    constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
    ::posix_spawn_file_actions_addopen(&actions_, 0, spec.input.c_str(), O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, 1, spec.output.c_str(), kWrite, 0666);
    ::posix_spawn_file_actions_addopen(&actions_, 2, spec.errors.c_str(), kWrite, 0666);
    if (!spec.working_directory.empty()) {
      ::posix_spawn_file_actions_addchdir_np(&actions_, spec.working_directory.c_str());
    }
    // What we ignore or block must not be what it ignores or blocks.
    sigset_t all, none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setflags(
        &attributes_,
        static_cast<short>(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK));
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

CommandTimes run_command(const CommandSpec& spec) {
  const SpawnPlan plan(spec);
  std::vector<char*> argv;
  for (const auto& word : spec.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);

  CommandTimes times;
  pid_t child = -1;
  const auto start = monotonic_ns();
  times.start_errno =
      ::posix_spawnp(&child, argv[0], &plan.actions_, &plan.attributes_, argv.data(), environ);
  if (times.start_errno != 0) return times;
  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0)
    check(errno == EINTR, "our own child can be waited for");
  times.wall_s = 1e-9 * static_cast<double>(monotonic_ns() - start);
  ::kill(-child, SIGKILL);  // nobody else can have its number while its group has members
  times.user_s = seconds_of(usage.ru_utime);
  times.system_s = seconds_of(usage.ru_stime);
  times.peak_bytes = 1024.0 * static_cast<double>(usage.ru_maxrss);
  if (WIFEXITED(status)) times.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) times.signal = WTERMSIG(status);
  return times;
}

std::string last_line(const std::string& path) {
  std::string text;
  try {
    const MappedFile file(path);
    const auto all = file.text();
    constexpr std::size_t kTail = 16 << 10;
    text = std::string(all.substr(all.size() - std::min(all.size(), kTail)));
  } catch (const UserError&) {
    return {};
  }
  const auto end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return {};
  text.resize(end + 1);
  return text.substr(text.find_last_of('\n') + 1).substr(0, kLongestLine);
}

std::string failure_of(const CommandTimes& times) {
  if (times.start_errno != 0) return "cannot be started: " + errno_text(times.start_errno);
  if (times.signal) {
    const char* const name = ::strsignal(*times.signal);
    return fmt::format("signal {} ({})", *times.signal, name != nullptr ? name : "unknown");
  }
  if (times.exit_code != 0) return fmt::format("exit status {}", *times.exit_code);
  return {};
}

}  // namespace assay::cases::own
