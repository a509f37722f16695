// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/engines/transport_device.h"

#include "cli/engines/no_device.h"
#include "kernels/cuda/device.h"
#include "transport/cuda/batch.h"

namespace assay::cli {

namespace tr = assay::transport;

namespace {

// The device's troubles in the words of this program.
template <typename Work>
auto on_device(const Work& work) {
  try {
    return work();
  } catch (const kernels::cuda::DeviceError& e) {
    throw_in_words(e);
  }
}

}  // namespace

bool has_device() { return true; }

std::string device_name() {
  return on_device([] {
    const auto facts = kernels::cuda::device_facts();
    return fmt::format("{}, CUDA {}", facts.name, kernels::cuda::version_text(facts.runtime));
  });
}

tr::ScanResult scan_on_device(const tr::Prepared& prepared, const std::vector<tr::Case>& cases,
                              const tr::ScanOptions& options) {
  return on_device([&] {
    tr::cuda::BatchSolver solver(prepared, options.batch);
    auto kept = options;
    kept.batch = std::max(1, options.batch);  // 0 is for the device alone: all that it has room for
    return tr::solve_scan(
        prepared, cases, kept, [&](std::span<const tr::Case> open, const tr::OnSolved& on_solved) {
          solver.solve(open, {.method = options.method}, on_solved, options.interrupt);
        });
  });
}

tr::Solution solve_on_device(const tr::Prepared& prepared, const tr::Case& at,
                             const tr::SolveOptions& options) {
  return on_device([&] {
    tr::cuda::BatchSolver solver(prepared);
    tr::Solution found;
    solver.solve(std::span(&at, 1), options,
                 [&](std::size_t, tr::Solution solution) { found = std::move(solution); });
    return found;
  });
}

}  // namespace assay::cli
