// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// assay-launch: starts programs, waits for them, and says what they cost. A program of its own
// because the system counts a process's peak of memory from before it became the program: a child
// of a worker is never smaller than the worker. So this one is small: nothing but the C library,
// linked statically, and no memory but the words it is told.
//
// It adopts whatever its programs leave behind, also what has left their session, and kills it.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <initializer_list>

#include "cases/own/launch_protocol.h"

extern char** environ;

namespace {

using namespace assay::cases::own;

constexpr int kMostKept = 256;
pid_t kept[kMostKept];  // what a set-up left running on purpose
int kept_count = 0;

bool is_kept(pid_t pid) {
  for (int i = 0; i < kept_count; ++i) {
    if (kept[i] == pid) return true;
  }
  return false;
}

long long now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

bool receive(void* to, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = read(kLaunchSocket, static_cast<char*>(to) + done, bytes - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

// Our children by the kernel's own list; 0 where it has none compiled in.
int list_children(pid_t* pids, int most) {
  char path[64], text[4096];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", static_cast<int>(getpid()));
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return 0;
  text[n] = '\0';
  int count = 0;
  for (char* at = text; count < most;) {
    char* end = nullptr;
    const long pid = strtol(at, &end, 10);
    if (end == at) break;
    at = end;
    if (at == text + n) break;  // the last number may be cut
    pids[count++] = static_cast<pid_t>(pid);
  }
  return count;
}

// Kills and reaps every child that nobody meant to keep, and theirs as they become ours.
int kill_leftovers() {
  int killed = 0;
  for (;;) {
    int status;
    const pid_t ended = waitpid(-1, &status, WNOHANG | __WALL);
    if (ended > 0 || (ended < 0 && errno == EINTR)) continue;
    if (ended < 0) return killed;  // there is none
    pid_t pids[256];
    const int count = list_children(pids, 256);
    pid_t one = 0;
    for (int i = 0; i < count; ++i) {
      if (is_kept(pids[i])) continue;
      one = pids[i];
      killed += kill(one, SIGKILL) == 0;
    }
    if (one == 0) return killed;
    waitpid(one, &status, __WALL);
  }
}

// Our worker is gone: nobody waits for what is under way.
void end_all(int) {
  kept_count = 0;
  kill_leftovers();
  _exit(1);
}

struct Streams {
  int folder = -1, in = -1, out = -1, err = -1, drain = -1;

  void close_ours() {  // what the program has by now
    for (int* fd : {&folder, &in, &out, &err}) {
      if (*fd >= 0) close(*fd);
      *fd = -1;
    }
  }
  void close_all() {
    close_ours();
    if (drain >= 0) close(drain);
    drain = -1;
  }
};

// Opened before the clock starts: emptying a file that the last run has filled takes its time.
bool open_streams(char** words, Streams& s, LaunchReply& reply) {
  const auto fails = [&](LaunchStep step) {
    reply.start_errno = errno;
    reply.step = step;
    return false;
  };
  int at = AT_FDCWD;
  if (words[0][0] != '\0') {
    s.folder = open(words[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s.folder < 0) return fails(LaunchStep::kFolder);
    at = s.folder;
  }
  s.in = openat(at, words[1], O_RDONLY | O_CLOEXEC);
  if (s.in < 0) return fails(LaunchStep::kInput);
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  if (strcmp(words[2], kThroughPipe) == 0) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return fails(LaunchStep::kOutput);
    s.drain = ends[0];
    s.out = ends[1];
    fcntl(s.drain, F_SETFL, O_NONBLOCK);
  } else {
    s.out = openat(at, words[2], kWrite, 0666);
    if (s.out < 0) return fails(LaunchStep::kOutput);
  }
  s.err = openat(at, words[3], kWrite, 0666);
  if (s.err < 0) return fails(LaunchStep::kErrors);
  return true;
}

// Reads until the program has ended; what others still hold open is not waited for.
void drain_until_end(pid_t child, int drain) {
  static char sink[65536];
  const int ended = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  for (;;) {
    pollfd looks[2] = {{drain, POLLIN, 0}, {ended, POLLIN, 0}};
    if (poll(looks, 2, -1) < 0 && errno != EINTR) break;
    if (looks[1].revents & POLLIN) break;
    const bool has_more = (looks[0].revents & POLLIN) != 0 && read(drain, sink, sizeof sink) > 0;
    if (!has_more && (looks[0].revents & (POLLHUP | POLLERR)) != 0) break;
  }
  if (ended >= 0) close(ended);
}

void run(char** words, bool keeps_children, LaunchReply& reply) {
  Streams streams;
  if (!open_streams(words, streams, reply)) return streams.close_all();
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, streams.in, 0);
  posix_spawn_file_actions_adddup2(&actions, streams.out, 1);
  posix_spawn_file_actions_adddup2(&actions, streams.err, 2);
  if (streams.folder >= 0) posix_spawn_file_actions_addfchdir_np(&actions, streams.folder);
  // What we ignore or block must not be what it ignores or blocks.
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(
      &attributes,
      static_cast<short>(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK));

  char** const argv = words + 4;
  pid_t child = -1;
  const long long start = now_ns();
  reply.start_errno = posix_spawnp(&child, argv[0], &actions, &attributes, argv, environ);
  if (reply.start_errno == 0) {
    if (streams.drain >= 0) {
      streams.close_ours();
      drain_until_end(child, streams.drain);
    }
    rusage usage{};
    int status = 0;
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    reply.wall_ns = now_ns() - start;
    // Nobody else can have its number while its group has members.
    if (!keeps_children) kill(-child, SIGKILL);
    reply.status = status;
    reply.user_us = usage.ru_utime.tv_sec * 1000000LL + usage.ru_utime.tv_usec;
    reply.system_us = usage.ru_stime.tv_sec * 1000000LL + usage.ru_stime.tv_usec;
    reply.peak_kib = usage.ru_maxrss;
  } else {
    reply.step = LaunchStep::kProgram;
  }
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  streams.close_all();
}

// Serves one request; false at the end of the socket, or where there is no memory for its words.
bool serve() {
  LaunchRequest request;
  if (!receive(&request, sizeof request) || request.bytes > kMostLaunchBytes || request.words < 5 ||
      request.words > request.bytes) {
    return false;
  }
  char* const text = static_cast<char*>(malloc(request.bytes));
  char** const words = static_cast<char**>(malloc((request.words + 1) * sizeof(char*)));
  bool is_whole = text != nullptr && words != nullptr && receive(text, request.bytes) &&
                  text[request.bytes - 1] == '\0';
  if (is_whole) {
    char* at = text;
    for (std::uint32_t i = 0; i < request.words; ++i) {
      words[i] = at < text + request.bytes ? at : text + request.bytes - 1;
      at += strlen(words[i]) + 1;
    }
    words[request.words] = nullptr;
    LaunchReply reply;
    run(words, request.keeps_children != 0, reply);
    if (request.keeps_children != 0) {
      kept_count = list_children(kept, kMostKept);
    } else {
      reply.leftovers = kill_leftovers();
    }
    is_whole = send(kLaunchSocket, &reply, sizeof reply, MSG_NOSIGNAL) ==
               static_cast<ssize_t>(sizeof reply);
  }
  free(words);
  free(text);
  return is_whole;
}

}  // namespace

int main(int argc, char**) {
  int type = 0;
  socklen_t length = sizeof type;
  if (argc != 1 || getsockopt(kLaunchSocket, SOL_SOCKET, SO_TYPE, &type, &length) != 0) {
    fputs("assay-launch: started by assay-worker alone\n", stderr);
    return 2;
  }
  fcntl(kLaunchSocket, F_SETFD, FD_CLOEXEC);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGTERM, end_all);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  while (serve()) {
  }
  kept_count = 0;
  kill_leftovers();
  return 0;
}
