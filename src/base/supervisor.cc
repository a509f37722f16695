// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace assay {
namespace {

// How often memory is looked at: the child alone at each turn (5 µs), its descendants at every
// tenth (a walk over /proc, up to a millisecond), so that watching costs the measured core under
// 0.1 %.
constexpr int kPollMs = 100;
constexpr int kTurnsPerFamilyLook = 10;
constexpr std::int64_t kOrphanGraceNs = 100'000'000;  // for helpers that are about to exit
constexpr int kMaxChildren = 4096;

std::int64_t now_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// "/proc/<pid><tail>" without the C library's formatting, which may allocate.
void proc_path(char* path, pid_t pid, const char* tail) noexcept {
  char digits[16];
  int n = 0;
  for (auto rest = static_cast<unsigned>(pid); rest > 0 || n == 0; rest /= 10) {
    digits[n++] = static_cast<char>('0' + rest % 10);
  }
  std::memcpy(path, "/proc/", 6);
  path += 6;
  while (n > 0) *path++ = digits[--n];
  std::strcpy(path, tail);
}

ssize_t read_proc(pid_t pid, const char* tail, char* buffer, std::size_t size) noexcept {
  char path[64];
  proc_path(path, pid, tail);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const ssize_t n = read(fd, buffer, size - 1);
  close(fd);
  if (n >= 0) buffer[n] = '\0';
  return n;
}

std::uint64_t parse_number(const char*& p) noexcept {
  std::uint64_t value = 0;
  while (*p == ' ') ++p;
  for (; *p >= '0' && *p <= '9'; ++p) value = value * 10 + static_cast<std::uint64_t>(*p - '0');
  return value;
}

// The parent of a process: the second field after the command name, which is in parentheses and may
// itself contain any character.
pid_t parent_of(pid_t pid) noexcept {
  char stat[1024];
  if (read_proc(pid, "/stat", stat, sizeof stat) <= 0) return -1;
  const char* p = std::strrchr(stat, ')');
  if (p == nullptr || std::strlen(p) < 4) return -1;
  p += 4;  // ") S "
  return static_cast<pid_t>(parse_number(p));
}

struct Family {
  pid_t pids[kMaxChildren];
  int count = 0;
  bool contains(pid_t pid) const noexcept {
    for (int i = 0; i < count; ++i) {
      if (pids[i] == pid) return true;
    }
    return false;
  }
};

// All live descendants of a process, found by one or more passes over /proc: a child's entry may
// come before its parent's. The kernel's own list of children is not compiled into every kernel.
void find_descendants(Family& family, pid_t ancestor) noexcept {
  family.count = 0;
  const int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  for (bool grew = true; grew;) {
    grew = false;
    lseek(fd, 0, SEEK_SET);
    alignas(8) char buffer[8192];
    long n;
    while ((n = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0) {
      for (long at = 0; at < n;) {
        std::uint16_t length;
        std::memcpy(&length, buffer + at + 16, sizeof length);
        const char* name = buffer + at + 19;
        at += length;
        if (*name < '1' || *name > '9') continue;
        const auto pid = static_cast<pid_t>(parse_number(name));
        if (family.contains(pid) || family.count == kMaxChildren) continue;
        const pid_t parent = parent_of(pid);
        if (parent == ancestor || family.contains(parent)) {
          family.pids[family.count++] = pid;
          grew = true;
        }
      }
    }
  }
  close(fd);
}

std::uint64_t resident_bytes(pid_t pid) noexcept {
  char statm[256];
  if (read_proc(pid, "/statm", statm, sizeof statm) <= 0) return 0;
  const char* p = statm;
  parse_number(p);  // the whole virtual size
  return parse_number(p) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t resident_bytes(Family& family) noexcept {
  find_descendants(family, getpid());
  std::uint64_t bytes = 0;
  for (int i = 0; i < family.count; ++i) bytes += resident_bytes(family.pids[i]);
  return bytes;
}

// Reaps what has ended; returns true when the child itself is among it. `alive` tells whether any
// process of ours is left.
bool reap(pid_t child, int& wait_status, bool& alive) noexcept {
  bool child_ended = false;
  for (;;) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG | __WALL);
    if (pid < 0 && errno == EINTR) continue;
    alive = pid >= 0;
    if (pid <= 0) return child_ended;
    if (pid == child) {
      wait_status = status;
      child_ended = true;
    }
  }
}

void nap(int ms) noexcept { poll(nullptr, 0, ms); }

// Kills until nothing is left. Processes may still fork between our look and our kill, hence the
// loop; every orphan becomes our child, so waitpid() failing with ECHILD is the proof of the end.
void kill_everything(pid_t child, int& wait_status, Family& family) noexcept {
  kill(-child, SIGKILL);
  for (bool alive = true; alive;) {
    find_descendants(family, getpid());
    for (int i = 0; i < family.count; ++i) kill(family.pids[i], SIGKILL);
    reap(child, wait_status, alive);
    if (alive) nap(1);
  }
}

void close_all_but(const int* keep, int count) noexcept {
  int next = 0;
  for (int i = 0; i < count; ++i) {
    if (keep[i] > next) {
      syscall(SYS_close_range, static_cast<unsigned>(next), static_cast<unsigned>(keep[i] - 1), 0);
    }
    next = keep[i] + 1;
  }
  syscall(SYS_close_range, static_cast<unsigned>(next), ~0u, 0);
}

[[noreturn]] void become_child(const Supervised& job, int exec_error_fd) noexcept {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // should the supervisor itself be killed
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  for (const int wish : {SIGINT, SIGTERM, SIGHUP}) signal(wish, SIG_DFL);

  bool ready = true;
  const int null = open("/dev/null", O_RDONLY);
  ready = ready && null >= 0 && dup2(null, 0) == 0;
  ready = ready && dup2(job.stdout_fd, 1) == 1 && dup2(job.stderr_fd, 2) == 2;
  if (job.set_cpus) ready = ready && sched_setaffinity(0, sizeof job.cpus, &job.cpus) == 0;
  if (job.working_directory != nullptr) ready = ready && chdir(job.working_directory) == 0;
#ifndef ASSAY_SANITIZED  // the sanitisers' shadow memory alone exceeds any limit on data
  if (job.memory_limit != 0) {
    const rlimit limit = {job.memory_limit, job.memory_limit};
    ready = ready && setrlimit(RLIMIT_DATA, &limit) == 0;
  }
#endif
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // exec_error_fd closes on exec: the supervisor reads nothing then.
  if (ready) execve(job.program, job.argv, job.environment);
  const int error = errno;
  [[maybe_unused]] const ssize_t n = write(exec_error_fd, &error, sizeof error);
  _exit(127);
}

void watch(const Supervised& job, pid_t child, SupervisorReport& report, Family& family) noexcept {
  const std::int64_t deadline = now_ns() + job.time_limit_ns;
  pollfd control = {job.control_fd, POLLIN, 0};
  // A pidfd wakes us the moment the child ends, so that a short attempt costs no polling interval.
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  bool alive = true;
  for (int turn = 1;; ++turn) {
    if (reap(child, report.wait_status, alive)) break;
    pollfd watched[2] = {control, {pidfd, POLLIN, 0}};
    const std::int64_t left_ms = (deadline - now_ns()) / 1'000'000 + 1;
    const int longest = pidfd >= 0 ? kPollMs : 1;
    poll(watched, pidfd >= 0 ? 2 : 1, left_ms < longest ? static_cast<int>(left_ms) : longest);
    if (watched[0].revents != 0) return kill_everything(child, report.wait_status, family);
    if (now_ns() > deadline) {
      if (reap(child, report.wait_status, alive)) break;
      report.timed_out = true;
      return kill_everything(child, report.wait_status, family);
    }
    if (job.memory_limit != 0) {
      const bool look_at_all = turn % kTurnsPerFamilyLook == 0;
      if ((look_at_all ? resident_bytes(family) : resident_bytes(child)) > job.memory_limit) {
        report.over_memory = true;
        return kill_everything(child, report.wait_status, family);
      }
    }
  }
  // The child has ended. Its helpers may be about to: wait a moment before calling them orphans.
  const std::int64_t grace = now_ns() + kOrphanGraceNs;
  for (;;) {
    reap(child, report.wait_status, alive);
    if (!alive) return;
    if (now_ns() > grace) break;
    nap(1);
  }
  find_descendants(family, getpid());
  report.orphans = family.count;
  kill_everything(child, report.wait_status, family);
}

}  // namespace

void kill_with_descendants(int pid) noexcept {
  // The dead stay in the family, as nobody reaps them: it is complete when it grows no more.
  const auto family = std::make_unique<Family>();
  for (int known = -1; known != family->count;) {
    known = family->count;
    find_descendants(*family, pid);
    for (int i = 0; i < family->count; ++i) kill(family->pids[i], SIGKILL);
  }
  kill(pid, SIGKILL);
}

void supervise(const Supervised& job) noexcept {
  static Family family;  // too large for a stack; this process is ours alone
  setpgid(0, 0);         // a Ctrl-C at the terminal is for the parent, who tells us
  for (const int wish : {SIGINT, SIGTERM, SIGHUP}) signal(wish, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_NAME, "assay-superv");

  // Descriptors that other threads of the parent had open must not live on here: a pipe's end held
  // by a stranger never hangs up.
  close_all_but(job.kept_fds, job.kept_count);

  SupervisorReport report;
  int exec_error[2];
  if (pipe2(exec_error, O_CLOEXEC) != 0) {
    report.exec_errno = errno;
  } else {
    const pid_t child = fork();
    if (child == 0) {
      // The child keeps its own standard streams and nothing else; held descriptors close on exec
      // because their owners opened them so.
      become_child(job, exec_error[1]);
    }
    close(exec_error[1]);
    close(job.stdout_fd);
    close(job.stderr_fd);
    if (child < 0) {
      report.exec_errno = errno;
    } else {
      setpgid(child, child);
      if (read(exec_error[0], &report.exec_errno, sizeof report.exec_errno) <= 0) {
        report.exec_errno = 0;
      }
      watch(job, child, report, family);
    }
  }
  [[maybe_unused]] const ssize_t n = write(job.report_fd, &report, sizeof report);
  _exit(0);
}

}  // namespace assay
