// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Libraries that are loaded when they are first needed, so that programs that never need them do
// not pay for them, and those that do can be told what is missing.

#include <string>

namespace assay::kernels {

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
  template <typename F>
  void bind(F*& to, const char* symbol) const {
    to = function<F>(symbol);
  }

 private:
  void* address(const char* symbol) const;
  std::string name_;
  void* handle_;
};

}  // namespace assay::kernels
