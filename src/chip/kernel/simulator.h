// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The event kernel: coroutines as processes, one queue of events, no globals.
//
//   Process worker(Simulator& sim, Credits& buffers) {
//     for (;;) {
//       const Lease buffer = co_await buffers.acquire();
//       co_await sim.delay(5 * kNanosecond);
//     }                                     // the lease returns the credit
//   }
//   Simulator sim;
//   sim.spawn(worker(sim, buffers), "worker");
//   const RunOutcome outcome = sim.run();
//
// One simulator runs on one thread; any number may live side by side. The order of execution
// depends on nothing but the program: time, then priority, then the order of scheduling.

#include <coroutine>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "chip/kernel/event_queue.h"
#include "chip/kernel/time.h"

namespace assay::chip {

class Simulator;

// A coroutine that a simulator runs. Its parameters live in the coroutine frame: what is passed by
// reference must outlive run(). An exception leaves through run().
class [[nodiscard]] Process {
 public:
  struct promise_type {
    Simulator* simulator = nullptr;  // set when the process is spawned or started
    promise_type* previous = nullptr;
    promise_type* next = nullptr;
    std::string name;  // for reports of deadlock

    Process get_return_object() {
      return Process(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }  // the frame frees itself
    void return_void() noexcept {}
    void unhandled_exception() { throw; }
    ~promise_type();
  };

  Process(Process&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Process& operator=(Process&&) = delete;
  ~Process() {
    if (handle_) handle_.destroy();
  }

 private:
  friend class Simulator;
  explicit Process(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

struct RunOutcome {
  Time end = 0;                      // time of the last event
  std::uint64_t events = 0;          // pops of the queue
  std::vector<std::string> waiting;  // named processes that can never run again: a deadlock
};

class Simulator {
 public:
  Simulator() = default;
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;
  ~Simulator();

  Time now() const { return now_; }
  std::uint64_t events() const { return events_; }

  // Hands over a process that runs first when the events already queued for this instant are done.
  void spawn(Process process, std::string name = {});
  // Hands over a process and runs it at once, inside the caller, up to its first wait.
  void start(Process process);

  // Resumes `process` at `time`, which must not lie in the past. Throws UserError past kEndOfTime.
  void schedule(Time time, std::coroutine_handle<> process, Priority priority = Priority::kNormal) {
    check(time >= now_, "events are scheduled in the future");
    if (time >= kEndOfTime) [[unlikely]]
      fail("simulated time exceeds its range of {:.0f} s", to_seconds(kEndOfTime));
    if (!closing_) queue_.push(time, priority, process);
  }

  struct Wait {
    Simulator& simulator;
    Time time;
    Priority priority;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> process) const {
      simulator.schedule(time, process, priority);
    }
    void await_resume() const noexcept {}
  };
  // co_await: the process goes on that much later, at that time; always through the queue.
  Wait delay(Time duration, Priority priority = Priority::kNormal) {
    return {*this, now_ + duration, priority};
  }
  Wait until(Time time, Priority priority = Priority::kNormal) { return {*this, time, priority}; }

  // Runs until no event is left, then destroys the processes that still wait, so that nothing they
  // refer to is touched later. If a process throws, all are destroyed and the exception goes on.
  RunOutcome run();

  // True while run() destroys what is left: releases must not wake anybody.
  bool closing() const { return closing_; }

 private:
  friend struct Process::promise_type;
  std::coroutine_handle<Process::promise_type> adopt(Process process, std::string name);
  void destroy_processes();

  EventQueue queue_;
  Time now_ = 0;
  std::uint64_t events_ = 0;
  Process::promise_type* processes_ = nullptr;  // all that live, newest first
  bool closing_ = false;
};

}  // namespace assay::chip
