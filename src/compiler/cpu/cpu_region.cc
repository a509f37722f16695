// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "compiler/cpu/cpu_kernels.h"
#include "compiler/cpu/region_share.h"
#include "kernels/memory/scratch.h"

namespace assay::compiler {
namespace {

class CpuRegion final : public CpuKernel {
 public:
  explicit CpuRegion(const Kernel& kernel)
      : kernel_(kernel), tiles_(std::get<Region>(kernel_.work), kernel_.operands, false) {}

  std::int64_t scratch_bytes(const Bindings& symbols, int threads) override {
    bind(symbols);
    return region_bytes(tiles_, workers(threads));
  }

  void run(const Bindings& symbols, std::span<std::byte* const> operands, int threads) override {
    bind(symbols);
    const int team = workers(threads);
    const kernels::AlignedArray<std::byte> memory(region_bytes(tiles_, team));
    share_region(tiles_, {0, tiles_.rows(), 0, tiles_.columns()}, operands, {}, memory.data(),
                 team);
  }

 private:
  void bind(const Bindings& symbols) {
    if (bound_ == symbols) return;
    bound_.reset();
    tiles_.bind(symbols);
    bound_ = symbols;
  }
  int workers(int threads) const { return region_team(tiles_.rows() * tiles_.columns(), threads); }

  const Kernel kernel_;
  RegionTiles tiles_;
  std::optional<Bindings> bound_;
};

}  // namespace

std::unique_ptr<CpuKernel> prepare_cpu_region(const Kernel& kernel) {
  return std::make_unique<CpuRegion>(kernel);
}

}  // namespace assay::compiler
