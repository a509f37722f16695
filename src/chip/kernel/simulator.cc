// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/kernel/simulator.h"

#include <algorithm>

#include "base/attend.h"

namespace assay::chip {

Process::promise_type::~promise_type() {
  if (simulator == nullptr) return;
  (previous != nullptr ? previous->next : simulator->processes_) = next;
  if (next != nullptr) next->previous = previous;
}

Simulator::~Simulator() { destroy_processes(); }

std::coroutine_handle<Process::promise_type> Simulator::adopt(Process process, std::string name) {
  const auto handle = std::exchange(process.handle_, {});
  auto& promise = handle.promise();
  promise.simulator = this;
  promise.name = std::move(name);
  promise.next = processes_;
  if (processes_ != nullptr) processes_->previous = &promise;
  processes_ = &promise;
  return handle;
}

void Simulator::spawn(Process process, std::string name) {
  schedule(now_, adopt(std::move(process), std::move(name)));
}

void Simulator::start(Process process) { adopt(std::move(process), {}).resume(); }

namespace {
constexpr std::uint64_t kBetweenLooks = 1 << 14;  // events: about a millisecond
}

RunOutcome Simulator::run() {
  try {
    while (!queue_.empty()) {
      const EventQueue::Event event = queue_.pop();
      now_ = event.time;
      if (++events_ % kBetweenLooks == 0) attend();
      event.process.resume();
    }
  } catch (...) {
    destroy_processes();
    throw;
  }
  RunOutcome outcome{now_, events_, {}};
  for (auto* process = processes_; process != nullptr; process = process->next) {
    if (!process->name.empty()) outcome.waiting.push_back(process->name);
  }
  std::reverse(outcome.waiting.begin(), outcome.waiting.end());
  destroy_processes();
  return outcome;
}

void Simulator::destroy_processes() {
  closing_ = true;
  while (processes_ != nullptr) {
    std::coroutine_handle<Process::promise_type>::from_promise(*processes_).destroy();
  }
  queue_ = {};
  closing_ = false;
}

}  // namespace assay::chip
