// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/blas/library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "base/error.h"

namespace {
std::atomic<int> changes = 0;  // of the environment, by anyone
}

// In the place of the C library's, which it calls: the loader finds the program's own first.
extern "C" int setenv(const char* name, const char* value, int overwrite) noexcept {
  ++changes;
  return reinterpret_cast<int (*)(const char*, const char*, int)>(::dlsym(RTLD_NEXT, "setenv"))(
      name, value, overwrite);
}

namespace assay::blas {
namespace {

// Each in a process of its own: a library is loaded once.
int changes_while_loading(bool beside_a_thread) {
  std::atomic<bool> done = false;
  std::thread other;
  if (beside_a_thread) {
    other = std::thread([&] { done.wait(false); });
  }
  const int before = changes;
  try {
    Library::openblas();
  } catch (const EnvironmentError&) {
    return -1;  // not installed: it was tried all the same
  }
  const int made = changes - before;
  done = true;
  done.notify_all();
  if (other.joinable()) other.join();
  return made;
}

TEST(BlasLibraryDeathTest, TheEnvironmentIsLeftAloneBesideOtherThreads) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::unsetenv("OPENBLAS_CORETYPE");
  ::unsetenv("OPENBLAS_NUM_THREADS");
  EXPECT_EXIT(std::_Exit(changes_while_loading(true) > 0), testing::ExitedWithCode(0), "");
  // Alone, it is changed: the count above counts.
  EXPECT_EXIT(std::_Exit(changes_while_loading(false) != 0), testing::ExitedWithCode(1), "");
}

}  // namespace
}  // namespace assay::blas
