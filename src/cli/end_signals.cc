// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/end_signals.h"

#include <signal.h>

namespace assay::cli {
namespace {

std::atomic<std::atomic<bool>*> flag = nullptr;

void on_wish(int) { *flag.load() = true; }

}  // namespace

void catch_end_signals(std::atomic<bool>& wanted) {
  flag = &wanted;
  struct sigaction action {};
  action.sa_handler = on_wish;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the default action is back for a second one
  for (const int wish : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(wish, nullptr, &before);
    if (wish != SIGHUP || before.sa_handler != SIG_IGN) sigaction(wish, &action, nullptr);
  }
}

}  // namespace assay::cli
