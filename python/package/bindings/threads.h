// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The GIL, and how many threads a call has. All of it is read and written under the GIL.

#include <nanobind/nanobind.h>

#include <algorithm>

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

// Without the GIL, until the end of the scope.
class WithoutGil {
 public:
  WithoutGil() { ++calls_at_work, state_ = PyEval_SaveThread(); }
  ~WithoutGil() { PyEval_RestoreThread(state_), --calls_at_work; }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace assay::python
