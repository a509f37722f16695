// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The GIL, how many threads a call has, and Ctrl-C. The numbers are read and written under the GIL.

#include <nanobind/nanobind.h>

#include <algorithm>
#include <type_traits>

#include "base/attend.h"

namespace assay::python {

// What assay.set_threads said.
inline int thread_count = 1;
// Calls that are at work without the GIL.
inline int calls_at_work = 0;

// Calls at the same time share the threads: teams that wait for each other on too few cores take
// many times as long as calls of one thread each.
inline int threads_of_call() { return std::max(1, thread_count / (calls_at_work + 1)); }

// Work from this many multiply-adds on is done without the GIL; below, giving it back and taking
// it again, perhaps behind others, would cost more than the work.
inline constexpr double kWorthReleasing = 1e4;

// Without the GIL, until the end of the scope. Work asks Python meanwhile (base/attend.h) whether a
// signal has come, and ends with what its handler raises: KeyboardInterrupt.
//
// Once the interpreter has ended, nobody can take the GIL any more: the work of other threads
// (daemons) is ended, and they stay here for ever.
class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  void take() noexcept;
  void ask();

  PyThreadState* state_ = nullptr;
  Attention attention_;
};

// work() without the GIL. Throws what a handler of a signal raised meanwhile, also where the work
// came to its end: kernels that are told of a signal leave their results unfinished.
template <typename F>
auto without_gil(F&& work) {
  const WithoutGil released;
  if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
    work();
    attend();
  } else {
    auto result = work();
    attend();
    return result;
  }
}

// When the interpreter ends, waits until no thread is at work: the process goes on to take down
// what they work with (OpenBLAS unmaps its buffers).
void end_work_with_interpreter();

}  // namespace assay::python
