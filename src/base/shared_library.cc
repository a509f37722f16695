// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/shared_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "base/error.h"

namespace assay {
namespace {

enum class VectorUnit { kOther, kAvx2, kAvx512 };

VectorUnit vector_unit() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512cd")) {
    return VectorUnit::kAvx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return VectorUnit::kAvx2;
#endif
  return VectorUnit::kOther;
}

// Loads with a variable of the environment set, unless the user has set it or there is nothing to
// say; it is for the library alone, not for child processes. `choose` is a function of the library
// that makes it read the variable, if loading alone does not.
SharedLibrary load_with(const char* library, const char* variable, const char* value,
                        const char* choose = nullptr) {
  const bool sets = value != nullptr && std::getenv(variable) == nullptr;
  if (sets) ::setenv(variable, value, 1);
  SharedLibrary loaded(library);
  if (choose != nullptr) loaded.function<void()>(choose)();
  if (sets) ::unsetenv(variable);
  return loaded;
}

}  // namespace

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

const SharedLibrary& openblas() {
  static const SharedLibrary library = [] {
    const VectorUnit unit = vector_unit();
    return load_with("libopenblas.so.0", "OPENBLAS_CORETYPE",
                     unit == VectorUnit::kAvx512 ? "SkylakeX"
                     : unit == VectorUnit::kAvx2 ? "Haswell"
                                                 : nullptr);
  }();
  return library;
}

void set_openblas_threads(int threads) {
  openblas().function<void(int)>("openblas_set_num_threads")(threads);
}

std::string openblas_description() {
  return fmt::format("{}; kernels for {}",
                     openblas().function<const char*()>("openblas_get_config")(),
                     openblas().function<const char*()>("openblas_get_corename")());
}

const SharedLibrary& blis() {
  // Its own numbers of the architectures: 0 is SkylakeX. What it finds below is right.
  static const SharedLibrary library =
      load_with("libblis.so.4", "BLIS_ARCH_TYPE",
                vector_unit() == VectorUnit::kAvx512 ? "0" : nullptr, "bli_init");
  return library;
}

}  // namespace assay
