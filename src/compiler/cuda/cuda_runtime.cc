// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/cuda_runtime.h"

#include "base/error.h"
#include "compiler/cuda/device_program.h"
#include "compiler/program/kernel_graph.h"

namespace assay::compiler::cuda {
namespace {

// One kernel by itself, on operands of this process.
class LoneKernel final : public ReadyKernel {
 public:
  LoneKernel(const Kernel& kernel, const CudaOptions& options, std::shared_ptr<DeviceStore> store)
      : program_(lone(kernel), {}, options, std::move(store)) {}
  void run(const Bindings& symbols, std::span<std::byte* const> operands) override {
    program_.run(symbols, operands, true);
  }
  std::string unit(const Bindings& symbols) override { return program_.units(symbols).front(); }

 private:
  // Symbols are not held to intervals here: any will do.
  static Program lone(const Kernel& kernel) { return program_of(kernel, {}); }
  DeviceProgram program_;
};

}  // namespace

Runtime cuda_runtime(const CudaOptions& options) {
  std::shared_ptr<DeviceStore> store;
  try {
    store = std::make_shared<DeviceStore>(options.cache);
  } catch (const kernels::cuda::DeviceError& e) {
    throw EnvironmentError(fmt::format("no NVIDIA GPU can be used: {}", e.what()));
  }
  Runtime runtime;
  runtime.name = "cuda";
  runtime.prepare = [options, store](const Kernel& kernel) {
    return std::make_unique<LoneKernel>(kernel, options, store);
  };
  runtime.variants = variants_of;
  runtime.row_borders = {64};
  runtime.units = kernels::cuda::device_facts().name + ", " + store->shelf().architecture();
  runtime.store = store;
  runtime.remote = [options, store](const Program& program, const ExecutorOptions& how) {
    return std::make_unique<DeviceProgram>(program, how, options, store);
  };
  return runtime;
}

}  // namespace assay::compiler::cuda
