// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// BLAS libraries to compare with, each in a process of its own: two of them in one process would
// share symbols and threads.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace assay::bench {

struct BlasChoice {
  std::string label;
  std::string library;                   // a name for dlopen
  std::vector<std::string> environment;  // "NAME=value"
};

// The libraries as they come, and told which core to assume where they do not know this one.
std::vector<BlasChoice> blas_choices();

// A child that multiplies on request, with one thread.
class BlasProcess {
 public:
  // Null if the library cannot be loaded.
  static std::unique_ptr<BlasProcess> start(const BlasChoice& choice, const std::string& self);
  ~BlasProcess();
  BlasProcess(const BlasProcess&) = delete;
  BlasProcess& operator=(const BlasProcess&) = delete;

  // Seconds of the fastest of `repeats` calls of sgemm or dgemm, (m,k)·(k,n), row-major.
  double best_seconds(std::int64_t m, std::int64_t k, std::int64_t n, bool is_double,
                      std::int64_t repeats);

 private:
  BlasProcess() = default;
  int to_child_ = -1, from_child_ = -1, pid_ = -1;
};

// What the child runs: `semiring_bench --blas <library>`.
int blas_child(const char* library);

}  // namespace assay::bench
