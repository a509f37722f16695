// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/engines/interrupted_text.h"

#include <signal.h>

#include <atomic>

namespace assay::cli {
namespace {

constexpr int kEnds[] = {SIGINT, SIGTERM};
// Handlers know nothing else.
std::atomic<bool> text_is_interrupted = false;

}  // namespace

InterruptedText::InterruptedText() {
  text_is_interrupted = false;
  struct sigaction action = {};
  action.sa_handler = [](int) { text_is_interrupted = true; };
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  for (const int signal : kEnds) sigaction(signal, &action, nullptr);
}

InterruptedText::~InterruptedText() {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  for (const int signal : kEnds) sigaction(signal, &action, nullptr);
}

bool InterruptedText::is_interrupted() const { return text_is_interrupted; }

}  // namespace assay::cli
