// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/shared_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>

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

// The environment has no lock: while it is changed, no other thread may read it.
bool is_only_thread() {
  std::error_code error;
  const std::filesystem::directory_iterator threads("/proc/self/task", error);
  return !error && std::distance(begin(threads), end(threads)) == 1;
}

// A variable of the environment, set for as long as a library loads: for it alone, not for child
// processes. What the user has set stays; no value leaves it alone, and so do other threads.
class WhileLoading {
 public:
  WhileLoading(const char* name, const char* value)
      : name_(value != nullptr && std::getenv(name) == nullptr && is_only_thread() ? name
                                                                                   : nullptr) {
    if (name_ != nullptr) ::setenv(name_, value, 1);
  }
  ~WhileLoading() {
    if (name_ != nullptr) ::unsetenv(name_);
  }
  WhileLoading(const WhileLoading&) = delete;
  WhileLoading& operator=(const WhileLoading&) = delete;

 private:
  const char* name_;
};

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
    const WhileLoading kernels("OPENBLAS_CORETYPE", unit == VectorUnit::kAvx512 ? "SkylakeX"
                                                    : unit == VectorUnit::kAvx2 ? "Haswell"
                                                                                : nullptr);
    // Or it starts a pool of threads that spin for a while beside the one that works.
    const WhileLoading one_thread("OPENBLAS_NUM_THREADS", "1");
    return SharedLibrary("libopenblas.so.0");
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
  static const SharedLibrary library = [] {
    // Its own numbers of the architectures: 0 is SkylakeX. What it finds below is right.
    const WhileLoading kernels("BLIS_ARCH_TYPE",
                               vector_unit() == VectorUnit::kAvx512 ? "0" : nullptr);
    SharedLibrary loaded("libblis.so.4");
    loaded.function<void()>("bli_init")();  // reads the variable
    return loaded;
  }();
  return library;
}

}  // namespace assay
