// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/threads.h"

#include <cxxabi.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <exception>

#include "base/error.h"

namespace assay::python {
namespace {

// Threads within the engines, without the GIL. calls_at_work counts those that wait for it, too.
std::atomic<int> threads_at_work = 0;
std::atomic<bool> interpreter_has_ended = false;
// More than one where a handler of a signal, which a call asks for, calls again.
thread_local int calls_of_thread = 0;

void end_work() {
  interpreter_has_ended = true;
  for (int left = threads_at_work; left > 0; left = threads_at_work) threads_at_work.wait(left);
}

}  // namespace

void end_work_with_interpreter() {
  check(Py_AtExit(end_work) == 0, "Python has room for what to do at its end");
  // A child has none of its parent's other threads.
  ::pthread_atfork(nullptr, nullptr, [] { threads_at_work = calls_at_work = calls_of_thread; });
}

WithoutGil::WithoutGil() : attention_([this] { ask(); }) {
  ++calls_at_work, ++threads_at_work, ++calls_of_thread;
  state_ = PyEval_SaveThread();
}

WithoutGil::~WithoutGil() {
  --threads_at_work, --calls_of_thread;
  threads_at_work.notify_all();
  take();
  --calls_at_work;
}

// Up to Python 3.13, PyEval_RestoreThread() of a thread that outlives the interpreter is
// pthread_exit(), which unwinds the stack: through frames of ours and of nanobind that no exception
// may leave, where the process would end by std::terminate(). From 3.14 on it does not return.
void WithoutGil::take() noexcept {
  try {
    PyEval_RestoreThread(state_);
  } catch (const abi::__forced_unwind&) {
    for (;;) pause();  // until the process has ended, which waits for no daemon
  }
}

// Handlers run in the main thread alone: the others need not wait for the GIL to hear of none.
void WithoutGil::ask() {
  if (gettid() != getpid()) {
    if (interpreter_has_ended) fail("the interpreter has ended");
    return;
  }
  PyEval_RestoreThread(state_);
  std::exception_ptr raised;
  if (PyErr_CheckSignals() != 0) raised = std::make_exception_ptr(nanobind::python_error());
  state_ = PyEval_SaveThread();
  if (raised) std::rethrow_exception(raised);
}

}  // namespace assay::python
