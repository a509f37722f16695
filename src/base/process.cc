// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/supervisor.h"

extern char** environ;

namespace assay {
namespace {

struct Pipe {
  UniqueFd read_end, write_end;
};

Pipe make_pipe() {
  std::array<int, 2> fds{};
  if (::pipe2(fds.data(), O_CLOEXEC) != 0) fail("cannot create a pipe: {}", errno_text(errno));
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

// Keeps the last `capacity` bytes of what a descriptor delivers.
class Tail {
 public:
  Tail(int fd, std::size_t capacity) : fd_(fd), capacity_(capacity) {
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
  }

  // Takes what is there now; returns false at the end of the stream.
  bool drain() {
    char buffer[1 << 14];
    for (;;) {
      const ssize_t n = ::read(fd_, buffer, sizeof buffer);
      if (n == 0) return false;
      if (n < 0) return errno == EAGAIN || errno == EINTR;
      text_.append(buffer, static_cast<std::size_t>(n));
      if (text_.size() > 2 * capacity_) text_.erase(0, text_.size() - capacity_);
    }
  }

  std::string take() {
    if (text_.size() > capacity_) text_.erase(0, text_.size() - capacity_);
    return std::move(text_);
  }

 private:
  int fd_;
  std::size_t capacity_;
  std::string text_;
};

std::vector<std::string> merged_environment(const ProcessSpec& spec) {
  std::map<std::string, std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos)
      merged[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : spec.environment) merged[name] = value;
  std::vector<std::string> entries;
  for (const auto& [name, value] : merged) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> c_strings(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (auto& s : strings) pointers.push_back(s.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The kernel's count of processes that it killed for want of memory.
std::int64_t kernel_oom_kills() {
  const auto text = read_small_file("/proc/vmstat");
  const auto at = text ? text->find("oom_kill ") : std::string::npos;
  return at == std::string::npos ? 0 : std::atoll(text->c_str() + at + 9);
}

// How long after its limit (or after our wish) a supervisor may still be at work before we look
// after it. Waking one that is not asleep does nothing. Killing one that takes long, say because
// the kernel frees the memory of what it killed, would let go of locks too early: much later.
constexpr std::int64_t kWakeNs = 1'000'000'000;
constexpr std::int64_t kGiveUpNs = 60'000'000'000;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
  const auto executable = [](const std::string& path) {
    return ::access(path.c_str(), X_OK) == 0 && !std::filesystem::is_directory(path);
  };
  if (name.find('/') != std::string::npos) {
    return executable(name) ? std::optional(name) : std::nullopt;
  }
  const char* path = ::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const auto colon = rest.find(':');
    const auto folder = rest.substr(0, colon);
    const auto candidate = std::string(folder.empty() ? "." : folder) + "/" + name;
    if (executable(candidate)) return candidate;
    if (colon == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(colon + 1);
  }
}

ProcessResult run_process(const ProcessSpec& spec) {
  check(!spec.argv.empty(), "a process needs a program");
  ProcessResult result;
  const auto program = find_program(spec.argv[0]);
  if (!program) {
    result.exec_errno = ENOENT;
    return result;
  }

  Pipe out = make_pipe(), err = make_pipe(), report = make_pipe(), control = make_pipe();
  auto argv = spec.argv;
  auto environment = merged_environment(spec);
  auto argv_pointers = c_strings(argv);
  auto environment_pointers = c_strings(environment);

  // Everything the supervisor needs is prepared here: after fork() in a program with threads, it
  // may not allocate.
  Supervised job;
  job.program = program->c_str();
  job.argv = argv_pointers.data();
  job.environment = environment_pointers.data();
  job.working_directory = spec.working_directory.empty() ? nullptr : spec.working_directory.c_str();
  CPU_ZERO(&job.cpus);
  job.set_cpus = !spec.cpus.empty();
  for (const int cpu : spec.cpus) CPU_SET(static_cast<std::size_t>(cpu), &job.cpus);
  job.time_limit_ns = static_cast<std::int64_t>(std::min(spec.time_limit_s, 1e9) * 1e9);
  job.memory_limit = spec.memory_limit;
  job.stdout_fd = out.write_end.get();
  job.stderr_fd = err.write_end.get();
  job.report_fd = report.write_end.get();
  job.control_fd = control.read_end.get();
  std::vector<int> kept = spec.held_fds;
  kept.insert(kept.end(), {0, 1, 2, job.stdout_fd, job.stderr_fd, job.report_fd, job.control_fd});
  std::ranges::sort(kept);
  job.kept_fds = kept.data();
  job.kept_count = static_cast<int>(kept.size());

  const std::int64_t oom_before = kernel_oom_kills();
  const std::int64_t start = monotonic_ns();
  const pid_t supervisor = ::fork();
  if (supervisor < 0) fail("cannot start '{}': {}", *program, errno_text(errno));
  if (supervisor == 0) supervise(job);  // never returns
  out.write_end.reset();
  err.write_end.reset();
  report.write_end.reset();
  control.read_end.reset();

  Tail out_tail(out.read_end.get(), spec.stdout_limit), err_tail(err.read_end.get(), 16 << 10);
  SupervisorReport summary;
  bool reported = false;
  std::array<pollfd, 3> watched = {{{report.read_end.get(), POLLIN, 0},
                                    {out.read_end.get(), POLLIN, 0},
                                    {err.read_end.get(), POLLIN, 0}}};
  std::int64_t overdue = start + job.time_limit_ns;  // when the supervisor ought to have ended it
  bool gave_up = false;
  for (bool waiting = true; waiting;) {
    ::poll(watched.data(), watched.size(), 50);
    if (spec.on_wait) spec.on_wait();
    if (watched[1].revents != 0 && !out_tail.drain()) watched[1].fd = -1;
    if (watched[2].revents != 0 && !err_tail.drain()) watched[2].fd = -1;
    if (watched[0].revents != 0) {
      const ssize_t n = ::read(report.read_end.get(), &summary, sizeof summary);
      reported = n == static_cast<ssize_t>(sizeof summary);
      waiting = n < 0 && errno == EINTR;
    }
    if (spec.interrupt != nullptr && spec.interrupt->load() && control.write_end) {
      result.interrupted = true;
      control.write_end.reset();  // the supervisor sees the hang-up, kills and reports
      overdue = std::min(overdue, monotonic_ns());
    }
    if (waiting && monotonic_ns() > overdue + kWakeNs) ::kill(supervisor, SIGCONT);
    if (waiting && monotonic_ns() > overdue + kGiveUpNs && !std::exchange(gave_up, true)) {
      kill_with_descendants(supervisor);
    }
  }
  rusage used{};
  while (::wait4(supervisor, nullptr, 0, &used) < 0 && errno == EINTR) {
  }
  result.processor_s = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  out_tail.drain();
  err_tail.drain();
  result.wall_s = static_cast<double>(monotonic_ns() - start) * 1e-9;
  result.stdout_text = out_tail.take();
  result.stderr_text = err_tail.take();
  if (!reported) {  // somebody killed the supervisor itself; its child died with it
    result.signal = SIGKILL;
    result.timed_out = gave_up && !result.interrupted;
    result.over_memory = !gave_up && kernel_oom_kills() > oom_before;
    return result;
  }
  result.exec_errno = summary.exec_errno;
  result.timed_out = summary.timed_out;
  result.over_memory = summary.over_memory;
  result.orphans = summary.orphans;
  if (WIFEXITED(summary.wait_status)) result.exit_code = WEXITSTATUS(summary.wait_status);
  if (WIFSIGNALED(summary.wait_status)) result.signal = WTERMSIG(summary.wait_status);
  // Whoever ends us all (Ctrl-C, a scheduler that cancels a job) may reach the child before us.
  const bool asked = result.signal == SIGTERM || result.signal == SIGINT;
  for (int i = 0; asked && spec.interrupt != nullptr && !result.interrupted && i < 10; ++i) {
    ::usleep(20'000);
    result.interrupted = spec.interrupt->load();
  }
  const bool killed_by_another =
      result.signal == SIGKILL && !result.timed_out && !result.interrupted && !result.over_memory;
  if (killed_by_another) result.over_memory = kernel_oom_kills() > oom_before;
  return result;
}

}  // namespace assay
