// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Threads that help whoever has work to share.
//
// A team as OpenMP has it starts together and ends together: a member that the system has sent off
// its core keeps all others waiting, at every barrier, for as long as a time slice. Helpers here
// come when they can. The caller starts at once and does whatever nobody else has taken; a helper
// that comes late finds less to do, and one that does not come is not waited for. So two threads on
// a busy machine are no slower than one, and the work is right whatever number comes, none
// included: in a nested call, under a limit, with many callers at once.
//
// Helpers look for work for a moment after their last, then sleep until there is some.

#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace assay::kernels {

// Calls work(context, worker) on the caller as worker 0, and on at most `workers` − 1 helpers, each
// with a number of its own below `workers`. Returns when the caller's call and those of the helpers
// that came have returned. `work` never throws, and is over only when nothing is left to be taken.
void share_work(int workers, void (*work)(void* context, int worker), void* context);

// The same for a callable: f(worker).
template <class F>
void share_work(int workers, const F& f) {
  static_assert(std::is_nothrow_invocable_v<const F&, int>);
  share_work(
      workers, [](void* context, int worker) { (*static_cast<const F*>(context))(worker); },
      const_cast<F*>(std::addressof(f)));
}

// f(item) for every item of [0, count), each taken by whichever of at most `workers` is free.
template <class F>
void share_items(int workers, std::int64_t count, const F& f) {
  std::atomic<std::int64_t> next = 0;
  share_work(workers, [&](int) noexcept {
    for (;;) {
      const std::int64_t item = next.fetch_add(1, std::memory_order_relaxed);
      if (item >= count) return;
      f(item);
    }
  });
}

}  // namespace assay::kernels
