// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/cpu_runtime.h"

#include "compiler/cpu/cpu_kernel.h"
#include "compiler/cpu/linear_product.h"
#include "kernels/bf16/pair_units.h"

namespace assay::compiler {
namespace {

class ReadyCpuKernel final : public ReadyKernel {
 public:
  ReadyCpuKernel(const Kernel& kernel, int threads)
      : kernel_(prepare_cpu_kernel(kernel)), threads_(threads) {}
  void run(const Bindings& symbols, std::span<std::byte* const> operands) override {
    kernel_->run(symbols, operands, threads_);
  }
  std::string unit(const Bindings& symbols) override { return kernel_->unit(symbols); }

 private:
  std::unique_ptr<CpuKernel> kernel_;
  int threads_;
};

}  // namespace

Runtime cpu_runtime(int threads) {
  const auto* unit = kernels::pair_unit();
  return {.name = "cpu",
          .prepare =
              [threads](const Kernel& kernel) {
                return std::make_unique<ReadyCpuKernel>(kernel, threads);
              },
          .variants = [](const Kernel& kernel) { return cpu_variants(kernel); },
          .threads = threads,
          .row_borders = {kManyTokens},
          .units = unit != nullptr ? std::string(unit->name) : "none"};
}

}  // namespace assay::compiler
