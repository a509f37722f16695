// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/shared_library.h"

#include <dlfcn.h>

#include "base/error.h"

namespace assay::kernels {

SharedLibrary::SharedLibrary(const std::string& name)
    : name_(name), handle_(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) {
    throw EnvironmentError(fmt::format("cannot load '{}': {}", name, ::dlerror()));
  }
}

void* SharedLibrary::address(const char* symbol) const {
  void* found = ::dlsym(handle_, symbol);
  if (found == nullptr) {
    throw EnvironmentError(fmt::format("'{}' has no function '{}'", name_, symbol));
  }
  return found;
}

}  // namespace assay::kernels
