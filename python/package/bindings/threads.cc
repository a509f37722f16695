// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/threads.h"

#include <cxxabi.h>
#include <unistd.h>

#include <exception>

namespace assay::python {

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
  if (gettid() != getpid()) return;
  PyEval_RestoreThread(state_);
  std::exception_ptr raised;
  if (PyErr_CheckSignals() != 0) raised = std::make_exception_ptr(nanobind::python_error());
  state_ = PyEval_SaveThread();
  if (raised) std::rethrow_exception(raised);
}

}  // namespace assay::python
