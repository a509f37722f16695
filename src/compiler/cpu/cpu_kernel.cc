// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/cpu_kernel.h"

#include "base/error.h"
#include "compiler/cpu/cpu_kernels.h"
#include "compiler/plain/run_plain.h"

namespace assay::compiler {
namespace {

class PlainKernel final : public CpuKernel {
 public:
  explicit PlainKernel(const Kernel& kernel) : kernel_(kernel) {}
  std::int64_t scratch_bytes(const Bindings&, int) override { return 0; }
  void run(const Bindings& symbols, std::span<std::byte* const> operands, int) override {
    run_plain(kernel_, symbols, operands);
  }

 private:
  const Kernel kernel_;
};

}  // namespace

std::uint32_t cpu_variants(const Kernel& kernel) {
  return std::holds_alternative<Matmul>(kernel.work) ? cpu_matmul_variants(kernel) : 1;
}

std::unique_ptr<CpuKernel> prepare_cpu_kernel(const Kernel& kernel) {
  check(kernel.variant < cpu_variants(kernel), "a kernel's variant is one of this runtime's");
  if (std::holds_alternative<Region>(kernel.work)) return prepare_cpu_region(kernel);
  std::unique_ptr<CpuKernel> fast;
  if (std::holds_alternative<Matmul>(kernel.work)) fast = prepare_cpu_matmul(kernel);
  if (std::holds_alternative<GroupedMatmul>(kernel.work)) fast = prepare_cpu_grouped_matmul(kernel);
  if (std::holds_alternative<Attention>(kernel.work)) fast = prepare_cpu_attention(kernel);
  if (std::holds_alternative<ScatterInto>(kernel.work)) fast = prepare_cpu_scatter(kernel);
  if (fast != nullptr) return fast;
  return std::make_unique<PlainKernel>(kernel);
}

}  // namespace assay::compiler
