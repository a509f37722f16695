// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/threads/crew.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/attend.h"
#include "kernels/threads/patience.h"

namespace assay::kernels {
namespace {

// Where a caller offers seats. It outlives the work, so that a helper may look at any time; once it
// has taken a seat it is counted, and the caller waits for it.
struct alignas(64) Offer {
  std::atomic<bool> is_used = false;
  std::atomic<std::uint32_t> state = 0;  // seats · kSeat + helpers
  void (*work)(void*, int) = nullptr;
  void* context = nullptr;
  Attention* attention = nullptr;  // the caller's

  static constexpr std::uint32_t kSeat = 1u << 16;
};

class Crew {
 public:
  void run(int workers, void (*work)(void*, int), void* context) noexcept {
    Offer* offer = workers > 1 ? take_offer() : nullptr;
    if (offer == nullptr) return work(context, 0);
    const int wanted = seats_.fetch_add(workers - 1, std::memory_order_relaxed) + workers - 1;
    if (hired_.load(std::memory_order_relaxed) < wanted) hire(workers - 1, wanted);
    offer->work = work;
    offer->context = context;
    offer->attention = attention_here;
    offer->state.store(static_cast<std::uint32_t>(workers - 1) * Offer::kSeat,
                       std::memory_order_release);
    call_helpers();
    work(context, 0);
    // Closes the offer and waits for the helpers that came.
    offer->state.fetch_and(Offer::kSeat - 1, std::memory_order_relaxed);
    wait_until([&] { return offer->state.load(std::memory_order_acquire) == 0; });
    offer->is_used.store(false, std::memory_order_release);
    seats_.fetch_sub(workers - 1, std::memory_order_relaxed);
  }

 private:
  static constexpr int kMostHelpers = 1023;
  // Of 10 to 20 µs each, before a helper sleeps. To wake one takes 80 µs on a virtual machine, and
  // what a program does alone between two shared kernels is often as long.
  static constexpr int kLooks = 12;

  // Null if too many callers have work at once: this one then works alone.
  Offer* take_offer() noexcept {
    for (Offer& offer : offers_) {
      if (!offer.is_used.load(std::memory_order_relaxed) &&
          !offer.is_used.exchange(true, std::memory_order_acquire)) {
        return &offer;
      }
    }
    return nullptr;
  }

  // As many helpers as one caller asks for; for several at once no more than there are processors.
  // They live as long as the program. If one cannot be started, there is one fewer.
  void hire(int of_one, int of_all) noexcept {
    const int processors = static_cast<int>(std::thread::hardware_concurrency());
    const int target = std::min(std::max(of_one, std::min(of_all, processors - 1)), kMostHelpers);
    const std::lock_guard lock(hiring_);
    while (hired_ < target) {
      try {
        std::thread([this] { help(); }).detach();
      } catch (const std::system_error&) {
        return;
      }
      ++hired_;
    }
  }

  // Two of the sleepers; each of them calls two more if there are seats left.
  void call_helpers() noexcept {
    calls_.fetch_add(1, std::memory_order_release);
    calls_.notify_one();
    calls_.notify_one();
  }

  [[noreturn]] void help() noexcept {
    for (;;) {
      const std::uint32_t seen = calls_.load(std::memory_order_acquire);
      bool came = false;
      for (Offer& offer : offers_) came |= take_seat(offer);
      if (came) continue;
      for (int again = 0; again < kLooks; ++again) {
        Patience patience;
        while (patience.is_fresh() && calls_.load(std::memory_order_relaxed) == seen) {
          patience.wait();
        }
      }
      calls_.wait(seen, std::memory_order_acquire);
    }
  }

  // Takes a seat, if there is one, and does its work; returns whether there was one.
  bool take_seat(Offer& offer) noexcept {
    std::uint32_t state = offer.state.load(std::memory_order_acquire);
    do {
      if (state < Offer::kSeat) return false;
    } while (!offer.state.compare_exchange_weak(state, state - Offer::kSeat + 1,
                                                std::memory_order_acquire));
    const std::uint32_t seat = state / Offer::kSeat;
    if (seat > 1) {
      calls_.notify_one();
      calls_.notify_one();
    }
    {
      const AttendTo same(offer.attention);
      offer.work(offer.context, static_cast<int>(seat));
    }
    offer.state.fetch_sub(1, std::memory_order_release);
    return true;
  }

  std::array<Offer, 16> offers_;
  alignas(64) std::atomic<std::uint32_t> calls_ = 0;
  alignas(64) std::atomic<int> seats_ = 0, hired_ = 0;
  std::mutex hiring_;
};

// Never destroyed: helpers use it until the program ends.
Crew& crew() {
  static Crew& only = *new Crew;
  return only;
}

}  // namespace

void share_work(int workers, void (*work)(void*, int), void* context) {
  crew().run(workers, work, context);
}

}  // namespace assay::kernels
