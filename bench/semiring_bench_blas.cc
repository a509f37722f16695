// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring_bench_blas.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "kernels/blas/library.h"

namespace assay::bench {
namespace {

struct Request {
  std::int64_t m, k, n, is_double, repeats;
};

bool read_all(int file, void* data, std::size_t size) {
  auto* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::read(file, at, size);
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

template <typename T>
double best(const blas::Library& library, const Request& r) {
  const auto size = [](std::int64_t x, std::int64_t y) { return static_cast<std::size_t>(x * y); };
  // On the pages that our own tensors have.
  const auto a = aligned_block<T>(size(r.m, r.k)), b = aligned_block<T>(size(r.k, r.n)),
             c = aligned_block<T>(size(r.m, r.n));
  for (std::size_t i = 0; i < size(r.m, r.k); ++i) a.get()[i] = static_cast<T>(i % 7) - 3;
  for (std::size_t i = 0; i < size(r.k, r.n); ++i) b.get()[i] = static_cast<T>(i % 5) - 2;
  const int m = static_cast<int>(r.m), k = static_cast<int>(r.k), n = static_cast<int>(r.n);
  std::int64_t fastest = -1;
  for (std::int64_t i = 0; i < r.repeats; ++i) {
    const std::int64_t before = monotonic_ns();
    library.gemm<T>(blas::Order::kRows, blas::Op::kNone, blas::Op::kNone, m, n, k, T{1}, a.get(), k,
                    b.get(), n, T{0}, c.get(), n);
    const std::int64_t took = monotonic_ns() - before;
    fastest = fastest < 0 ? took : std::min(fastest, took);
  }
  return static_cast<double>(fastest) * 1e-9;
}

}  // namespace

std::vector<BlasChoice> blas_choices() {
  std::vector<BlasChoice> choices = {{"OpenBLAS", "libopenblas.so.0", {}},
                                     {"BLIS", "libblis.so.4", {}}};
#if defined(__x86_64__)
  choices.push_back({"OpenBLAS SKX", "libopenblas.so.0", {"OPENBLAS_CORETYPE=SkylakeX"}});
  choices.push_back({"OpenBLAS CPX", "libopenblas.so.0", {"OPENBLAS_CORETYPE=Cooperlake"}});
  choices.push_back({"BLIS SKX", "libblis.so.4", {"BLIS_ARCH_TYPE=0"}});
#endif
  return choices;
}

int blas_child(const char* library) {
  std::optional<blas::Library> loaded;
  try {
    loaded.emplace(library);
  } catch (const EnvironmentError&) {
    return 1;
  }
  double answer = 0;
  if (::write(STDOUT_FILENO, &answer, sizeof answer) != sizeof answer) return 1;
  Request request;
  while (read_all(STDIN_FILENO, &request, sizeof request)) {
    answer =
        request.is_double != 0 ? best<double>(*loaded, request) : best<float>(*loaded, request);
    if (::write(STDOUT_FILENO, &answer, sizeof answer) != sizeof answer) return 1;
  }
  return 0;
}

std::unique_ptr<BlasProcess> BlasProcess::start(const BlasChoice& choice, const std::string& self) {
  int down[2], up[2];
  // Closed in every other child, or none would see the end of its input.
  if (::pipe2(down, O_CLOEXEC) != 0 || ::pipe2(up, O_CLOEXEC) != 0) return nullptr;
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(down[0], STDIN_FILENO);
    ::dup2(up[1], STDOUT_FILENO);
    for (const char* name : {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS"}) {
      ::setenv(name, "1", 1);
    }
    for (const std::string& setting : choice.environment) {
      const std::size_t equals = setting.find('=');
      ::setenv(setting.substr(0, equals).c_str(), setting.c_str() + equals + 1, 1);
    }
    ::execl(self.c_str(), self.c_str(), "--blas", choice.library.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(down[0]);
  ::close(up[1]);
  std::unique_ptr<BlasProcess> process(new BlasProcess);
  process->to_child_ = down[1];
  process->from_child_ = up[0];
  process->pid_ = pid;
  double ready;
  if (pid < 0 || !read_all(up[0], &ready, sizeof ready)) return nullptr;
  return process;
}

BlasProcess::~BlasProcess() {
  ::close(to_child_);
  ::close(from_child_);
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
}

double BlasProcess::best_seconds(std::int64_t m, std::int64_t k, std::int64_t n, bool is_double,
                                 std::int64_t repeats) {
  const Request request{m, k, n, is_double ? 1 : 0, repeats};
  double answer = -1;
  if (::write(to_child_, &request, sizeof request) != sizeof request) return -1;
  return read_all(from_child_, &answer, sizeof answer) ? answer : -1;
}

}  // namespace assay::bench
