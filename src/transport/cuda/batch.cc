// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/cuda/batch.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/units.h"
#include "transport/attempt.h"
#include "transport/cuda/eliminate.h"

namespace assay::transport::cuda {
namespace {

using kernels::cuda::Cublas;

// Of the memory that is free: cuBLAS takes some of its own.
constexpr double kUsable = 0.92;

}  // namespace

struct BatchSolver::Parts {
  Prepared prepared;
  int batch;
  kernels::cuda::Clock clock;  // whose stream all work goes to
  Cublas cublas;
  // By parity: a scan that has cases with and without a field changes between the two.
  std::map<bool, DeviceSystem> systems;
  std::map<bool, std::unique_ptr<BatchedElimination>> eliminations;

  Parts(const Prepared& p, int b) : prepared(p), batch(b), cublas(clock.stream()) {}

  const DeviceSystem& system_for(Method method) {
    const bool parity = method == Method::kParity;
    const auto it = systems.find(parity);
    if (it != systems.end()) return it->second;
    return systems.try_emplace(parity, system_of(prepared, method)).first->second;
  }

  // Room for `cases` or as many as fit.
  BatchedElimination& elimination_for(Method method, std::size_t cases) {
    const bool parity = method == Method::kParity;
    const auto& size = system_of(prepared, method).size;
    if (std::max(size[0], size[1]) > kMostUnknowns) {
      fail("a device takes at most {} points of a surface, got {}: leave out --device cuda",
           kMostUnknowns, std::max(size[0], size[1]));
    }
    const auto& system = system_for(method);
    const auto most = batch > 0 ? std::min(cases, static_cast<std::size_t>(batch)) : cases;
    auto& own = eliminations[parity];
    if (own && static_cast<std::size_t>(own->most_cases()) >= most) return *own;
    own.reset();  // its memory first
    const double each = bytes_of_case(system.host());
    const auto fit = [&] {
      return static_cast<std::size_t>(kUsable * static_cast<double>(kernels::cuda::free_bytes()) /
                                      each);
    };
    if (fit() < most) eliminations[!parity].reset();
    const auto room = std::min(most, fit());
    if (room < 1) {
      fail(
          "a case of this grid takes {} of the device's memory, {} are free: take a smaller grid "
          "or leave out --device cuda",
          format_bytes(each), format_bytes(static_cast<double>(kernels::cuda::free_bytes())));
    }
    own = std::make_unique<BatchedElimination>(system, static_cast<int>(room), clock.stream(),
                                               cublas);
    return *own;
  }
};

BatchSolver::BatchSolver(const Prepared& prepared, int batch)
    : parts_(std::make_unique<Parts>(prepared, batch)) {}
BatchSolver::~BatchSolver() = default;

std::size_t BatchSolver::device_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [parity, system] : parts_->systems) bytes += system.bytes();
  for (const auto& [parity, elimination] : parts_->eliminations) {
    if (elimination) bytes += elimination->bytes();
  }
  return bytes;
}

void BatchSolver::solve(std::span<const Case> cases, const SolveOptions& options,
                        const OnSolved& on_solved, const std::atomic<bool>* interrupt) {
  if (options.method == Method::kMixed) {
    fail("--device cuda has the methods dense, structured and parity, got 'mixed'");
  }
  std::vector<OpenCase> open;
  for (const auto& c : cases) open.emplace_back(parts_->prepared, c, options);
  // Sturdier methods come later, with the cases that need them.
  for (const Method method : {Method::kParity, Method::kStructured, Method::kDense}) {
    std::vector<std::size_t> waiting;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (open[i].next() == method) waiting.push_back(i);
    }
    std::size_t begin = 0;
    while (begin < waiting.size()) {
      if (interrupt != nullptr && interrupt->load()) return;
      std::vector<std::size_t> now;
      auto& elimination = parts_->elimination_for(method, waiting.size() - begin);
      const auto most = static_cast<std::size_t>(elimination.most_cases());
      std::vector<Case> at;
      for (; begin < waiting.size() && at.size() < most; ++begin) {
        now.push_back(waiting[begin]);
        at.push_back(open[waiting[begin]].at());
      }
      auto results = elimination.solve(
          at, method == Method::kDense ? Elimination::kDense : Elimination::kStructured);
      for (std::size_t i = 0; i < now.size(); ++i) {
        auto& one = open[now[i]];
        one.take(attempt_of(system_of(parts_->prepared, method), method, std::move(results[i])));
        if (!one.next()) on_solved(now[i], one.solution());
      }
    }
  }
}

std::string BatchSolver::cublas_version() const { return parts_->cublas.version(); }

}  // namespace assay::transport::cuda
