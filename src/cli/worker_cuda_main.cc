// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// The worker that computes on a GPU: a program of its own, so that attempts on the CPU never load
// CUDA.
#include "base/json.h"
#include "cases/einsum/cuda/workloads.h"
#include "cases/semiring/cuda/workloads.h"
#include "cases/transport/cuda/workloads.h"
#include "cli/worker_program.h"
#include "kernels/cuda/libraries.h"
#include "kernels/cuda/peaks.h"

int main(int argc, char** argv) {
  using namespace assay;
  const auto workloads = [] {
    lab::WorkloadRegistry registry;
    cases::einsum::cuda::add_workloads(registry);
    cases::semiring::cuda::add_workloads(registry);
    cases::transport::cuda::add_workloads(registry);
    return registry;
  };
  const auto load = [](const std::string& library) {
    // CUDA's are asked for without their release, the processor's with it.
    if (library.ends_with(".so")) {
      kernels::cuda::open_library(library);
    } else {
      kernels::SharedLibrary{library};
    }
  };
  const auto peaks = [] {
    return canonical_json({{"name", kernels::cuda::device_facts().name},
                           {"rates", kernels::cuda::measure_device_peaks()}});
  };
  return cli::worker_main(
      argc, argv, {"assay-worker-cuda", workloads, load, cases::semiring::cuda::smoke, peaks});
}
