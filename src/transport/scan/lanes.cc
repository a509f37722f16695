// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/lanes.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/attend.h"

namespace assay::transport {

void run_lanes(std::size_t count, const std::function<void()>& lane) {
  std::mutex mutex;
  std::condition_variable ended;
  std::size_t left = 0;
  std::vector<std::jthread> others;  // joined before what they use is gone
  others.reserve(count);
  for (std::size_t i = 1; i < count; ++i) {
    {
      const std::scoped_lock lock(mutex);
      ++left;
    }
    others.emplace_back([&, attention = attention_here] {
      const AttendTo same(attention);
      lane();
      const std::scoped_lock lock(mutex);
      --left;
      ended.notify_one();
    });
  }
  lane();
  std::unique_lock lock(mutex);
  while (!ended.wait_for(lock, std::chrono::nanoseconds(Attention::kBetween_ns),
                         [&] { return left == 0; })) {
    lock.unlock();
    still_wanted();  // asks; the others then hear of it
    lock.lock();
  }
  lock.unlock();
  attend();
}

}  // namespace assay::transport
