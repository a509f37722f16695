// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What processes wait for: credits (resources, free buffers), gates and latches (hand-over tokens).
//
// Waiters are served first come, first served. Whoever is woken runs through the event queue at the
// same instant, never inside the waker, so that the order of execution stays the order of
// scheduling. Waiting costs no allocation: the list node lies in the waiting coroutine's frame.

#include <coroutine>
#include <utility>

#include "chip/kernel/simulator.h"

namespace assay::chip {

// A queue of suspended processes.
class WaitList {
 public:
  struct Node {
    std::coroutine_handle<> process;
    Node* next = nullptr;
  };

  bool empty() const { return head_ == nullptr; }
  void push(Node& node) {
    (head_ == nullptr ? head_ : tail_->next) = &node;
    tail_ = &node;
  }
  Node& pop() {
    Node& node = *head_;
    head_ = node.next;
    return node;
  }

 private:
  Node* head_ = nullptr;
  Node* tail_ = nullptr;
};

class Credits;

// Holds one credit and returns it at the end of its life.
class [[nodiscard]] Lease {
 public:
  Lease() = default;
  Lease(Lease&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
  Lease& operator=(Lease&& other) noexcept;
  ~Lease() { release(); }
  void release();
  explicit operator bool() const { return owner_ != nullptr; }

 private:
  friend class Credits;
  explicit Lease(Credits& owner) : owner_(&owner) {}
  Credits* owner_ = nullptr;
};

// A number of equal things that processes hold for a while: slots of an engine, free buffers.
class Credits {
 public:
  Credits(Simulator& simulator, std::int64_t count) : simulator_(simulator), free_(count) {
    check(count > 0, "a resource has at least one credit");
  }
  Credits(const Credits&) = delete;
  Credits& operator=(const Credits&) = delete;

  std::int64_t free() const { return free_; }

  struct Acquire : WaitList::Node {
    explicit Acquire(Credits& from) : credits(from) {}
    Credits& credits;
    bool await_ready() {
      if (credits.free_ == 0) return false;
      --credits.free_;
      return true;
    }
    void await_suspend(std::coroutine_handle<> waiting) {
      process = waiting;
      credits.waiting_.push(*this);
    }
    Lease await_resume() { return Lease(credits); }
  };
  // co_await: a Lease, at once if one is free, else in the order of asking.
  Acquire acquire() { return Acquire(*this); }

 private:
  friend class Lease;
  // A credit that is returned while somebody waits passes straight to the first in line, so nobody
  // who asks later in the same instant can overtake.
  void give_back() {
    if (simulator_.closing()) return;
    if (waiting_.empty()) {
      ++free_;
    } else {
      simulator_.schedule(simulator_.now(), waiting_.pop().process);
    }
  }

  Simulator& simulator_;
  std::int64_t free_;
  WaitList waiting_;
};

inline void Lease::release() {
  if (Credits* owner = std::exchange(owner_, nullptr)) owner->give_back();
}
inline Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    release();
    owner_ = std::exchange(other.owner_, nullptr);
  }
  return *this;
}

// Opens when it has been counted down `count` times, and stays open: a token of hand-over (count 1)
// or the end of a set of transfers.
class Latch {
 public:
  explicit Latch(Simulator& simulator, std::int64_t count = 1)
      : simulator_(&simulator), left_(count) {}
  Latch(const Latch&) = delete;
  Latch(Latch&&) noexcept = default;

  bool open() const { return left_ <= 0; }
  Time opened_at() const { return opened_at_; }  // meaningful when open

  void count_down() {
    if (--left_ > 0) return;
    opened_at_ = simulator_->now();
    while (!waiting_.empty()) simulator_->schedule(opened_at_, waiting_.pop().process);
  }

  struct Wait : WaitList::Node {
    explicit Wait(Latch& on) : latch(on) {}
    Latch& latch;
    bool await_ready() const { return latch.open(); }
    void await_suspend(std::coroutine_handle<> waiting) {
      process = waiting;
      latch.waiting_.push(*this);
    }
    void await_resume() const {}
  };
  // co_await: goes on once the latch is open, at once if it is.
  Wait wait() { return Wait(*this); }

 private:
  Simulator* simulator_;
  std::int64_t left_;
  Time opened_at_ = 0;
  WaitList waiting_;
};

}  // namespace assay::chip
