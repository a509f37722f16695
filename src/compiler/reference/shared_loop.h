// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Long loops of the interpreter and of its bounds, for several threads: what each element is does
// not depend on who computes it. Without kernels/threads: the oracle shares no code with what it
// judges, and threads that live for one loop are cheap beside it.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <future>
#include <thread>
#include <vector>

namespace assay::compiler {

// f(piece) for every piece of [0, count). `steps` of a few nanoseconds are in all of them: one
// thread is enough where they are few. What f throws comes out.
template <typename F>
void share_loop(std::int64_t steps, std::int64_t count, const F& f) {
  constexpr std::int64_t kFew = 1 << 17;
  std::atomic<std::int64_t> next = 0;
  const auto take = [&] {
    for (std::int64_t piece = next++; piece < count; piece = next++) f(piece);
  };
  const std::int64_t cores = std::thread::hardware_concurrency();
  std::vector<std::future<void>> others;
  for (std::int64_t i = 1; steps >= kFew && i < std::min(cores, count); ++i) {
    others.push_back(std::async(std::launch::async, take));
  }
  take();
  for (auto& other : others) other.get();
}

}  // namespace assay::compiler
