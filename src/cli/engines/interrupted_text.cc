// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/engines/interrupted_text.h"

#include <signal.h>

#include <atomic>

namespace assay::cli {
namespace {

constexpr int kEnds[] = {SIGINT, SIGTERM};
// Handlers know nothing else.
std::atomic<bool> text_is_interrupted = false, is_terminated = false, line_is_interrupted = false;

void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

}  // namespace

InterruptedText::InterruptedText() {
  text_is_interrupted = is_terminated = false;
  for (const int end : kEnds) {
    const auto interrupt = [](int signal) {
      text_is_interrupted = true;
      if (signal == SIGTERM) is_terminated = true;
    };
    handle(end, interrupt, SA_RESETHAND | SA_RESTART);
  }
}
InterruptedText::~InterruptedText() {
  for (const int end : kEnds) handle(end, SIG_DFL, 0);
}
bool InterruptedText::is_interrupted() const { return text_is_interrupted; }
bool InterruptedText::ends_program() const { return is_terminated; }

InterruptedLine::InterruptedLine() {
  line_is_interrupted = false;
  handle(
      SIGINT, [](int) { line_is_interrupted = true; }, 0);
}
InterruptedLine::~InterruptedLine() { handle(SIGINT, SIG_DFL, 0); }
bool InterruptedLine::take() const { return line_is_interrupted.exchange(false); }

}  // namespace assay::cli
