// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/engines/interrupted_text.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

namespace assay::cli {
namespace {

constexpr int kEnds[] = {SIGINT, SIGTERM};
// Handlers know nothing else.
std::atomic<bool> text_is_interrupted = false, is_terminated = false;
std::atomic<int> told_of_lines = -1;
struct sigaction before_text[std::size(kEnds)];

}  // namespace

InterruptedText::InterruptedText() {
  text_is_interrupted = is_terminated = false;
  struct sigaction action = {};
  action.sa_handler = [](int signal) {
    text_is_interrupted = true;
    if (signal == SIGTERM) is_terminated = true;
  };
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  for (std::size_t i = 0; i < std::size(kEnds); ++i) sigaction(kEnds[i], &action, &before_text[i]);
}
InterruptedText::~InterruptedText() {
  for (std::size_t i = 0; i < std::size(kEnds); ++i) sigaction(kEnds[i], &before_text[i], nullptr);
}
bool InterruptedText::is_interrupted() const { return text_is_interrupted; }
bool InterruptedText::ends_program() const { return is_terminated; }

InterruptedLine::InterruptedLine() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    throw std::system_error(errno, std::generic_category(), "a pipe");
  }
  from_ = ends[0];
  told_of_lines = to_ = ends[1];
  struct sigaction action = {};
  action.sa_handler = [](int) {
    const int error = errno;
    [[maybe_unused]] const auto written = ::write(told_of_lines, "", 1);
    errno = error;
  };
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
}
InterruptedLine::~InterruptedLine() {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(SIGINT, &action, nullptr);
  ::close(from_);
  ::close(to_);
}
bool InterruptedLine::wait() const {
  pollfd files[] = {{STDIN_FILENO, POLLIN, 0}, {from_, POLLIN, 0}};
  while (::poll(files, std::size(files), -1) < 0 && errno == EINTR) {
  }
  if (files[1].revents == 0) return true;
  char told[64];
  while (::read(from_, told, sizeof(told)) > 0) {
  }
  return false;
}

}  // namespace assay::cli
