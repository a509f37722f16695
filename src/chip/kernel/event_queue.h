// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The queue of events: a binary heap ordered by (time, priority, sequence).
//
// The sequence number makes the order total: two events never compare equal, so the same program
// gives the same order on every machine, whatever the heap does inside.
//
// The usual pop (move the last element to the root, sift it down) is followed in a simulator almost
// always by a push, because the process that just ran waits for something next. So `pop` only marks
// the root as a hole: a push that follows fills it with one sift, and half of the work is gone.

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "chip/kernel/time.h"

namespace assay::chip {

// Ties in time are broken by priority: lower runs first.
enum class Priority : std::uint8_t {
  kNormal = 0,
  kLate = 1,  // after everything else at that instant, e.g. to share links among all new flows
};

class EventQueue {
 public:
  struct Event {
    Time time;
    std::uint64_t order;  // priority in the top byte, sequence number below
    std::coroutine_handle<> process;

    bool before(const Event& other) const {
      __extension__ using Wide = unsigned __int128;
      const auto key = [](const Event& e) {
        return static_cast<Wide>(static_cast<std::uint64_t>(e.time)) << 64 | e.order;
      };
      return key(*this) < key(other);  // times are never negative
    }
  };

  bool empty() const { return heap_.empty() || (hole_ && heap_.size() == 1); }

  void push(Time time, Priority priority, std::coroutine_handle<> process) {
    const Event event{time, static_cast<std::uint64_t>(priority) << 56 | sequence_++, process};
    if (hole_) {
      hole_ = false;
      sift_down(event);
      return;
    }
    heap_.push_back(event);
    std::size_t at = heap_.size() - 1;
    while (at > 0) {
      const std::size_t parent = (at - 1) / 2;
      if (!event.before(heap_[parent])) break;
      heap_[at] = heap_[parent];
      at = parent;
    }
    heap_[at] = event;
  }

  // Removes and returns the first event. The queue must not be empty.
  Event pop() {
    if (hole_) {
      const Event last = heap_.back();
      heap_.pop_back();
      dcheck(!heap_.empty(), "pop() of an empty event queue");
      sift_down(last);
    }
    hole_ = true;
    return heap_.front();
  }

 private:
  // Places `event` at the root or below, moving smaller events up. The root is free.
  void sift_down(const Event& event) {
    Event* const heap = heap_.data();
    const std::size_t size = heap_.size();
    std::size_t at = 0;
    for (std::size_t child = 1; child + 1 < size; child = 2 * at + 1) {
      child += heap[child + 1].before(heap[child]) ? 1 : 0;
      if (!heap[child].before(event)) {
        heap[at] = event;
        return;
      }
      heap[at] = heap[child];
      at = child;
    }
    if (const std::size_t only = 2 * at + 1; only + 1 == size && heap[only].before(event)) {
      heap[at] = heap[only];
      at = only;
    }
    heap[at] = event;
  }

  std::vector<Event> heap_;
  std::uint64_t sequence_ = 0;  // 2^56 events last for decades
  bool hole_ = false;           // heap_[0] has been handed out and not replaced yet
};

}  // namespace assay::chip
