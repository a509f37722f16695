// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Libraries that are loaded when they are first needed, so that programs that never need them do
// not pay for them, and those that do can be told what is missing.

#include <string>

namespace assay {

class SharedLibrary {
 public:
  // By the name that dlopen takes ("libopenblas.so.0"). Never unloaded: its threads would outlive
  // its code. Throws EnvironmentError naming it.
  explicit SharedLibrary(const std::string& name);

  // The address of a function; F is its type. Throws EnvironmentError naming both.
  template <typename F>
  F* function(const char* symbol) const {
    return reinterpret_cast<F*>(address(symbol));
  }

 private:
  void* address(const char* symbol) const;
  std::string name_;
  void* handle_;
};

// OpenBLAS with the kernels that fit this processor: it chooses them while it is being loaded, and
// takes processors newer than itself for the oldest it knows, at a tenth of their speed. What the
// user has set (OPENBLAS_CORETYPE) stays. Loaded once for the process, with one thread unless the
// user or set_openblas_threads() says otherwise, for all of it. Both are said to it through the
// environment, which may be changed only while no other thread reads it: a program with threads
// calls this before it starts them, or sets the variables itself; otherwise OpenBLAS decides.
const SharedLibrary& openblas();
void set_openblas_threads(int threads);
// "OpenBLAS 0.3.21 …; kernels for SkylakeX".
std::string openblas_description();

// BLIS 0.9, likewise (BLIS_ARCH_TYPE). Not in a process that has loaded OpenBLAS: their symbols
// have one name.
const SharedLibrary& blis();

}  // namespace assay
