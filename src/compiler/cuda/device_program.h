// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A program on a device.
//
// Launches are planned again only when a symbol changes on which they depend; values of symbols lie
// in the device's memory, where kernels read them. So a token after a token is the same launches at
// the same addresses, and from the second on one captured graph, whatever its position.

#include <list>
#include <map>
#include <optional>
#include <set>

#include "compiler/cuda/cuda_runtime.h"
#include "compiler/cuda/device_store.h"
#include "compiler/cuda/source/bundle.h"
#include "kernels/cuda/libraries.h"

namespace assay::compiler::cuda {

// One block of device memory that only grows.
class GrowingBlock {
 public:
  GrowingBlock() = default;
  GrowingBlock(const GrowingBlock&) = delete;
  GrowingBlock& operator=(const GrowingBlock&) = delete;
  ~GrowingBlock();
  bool grow(std::int64_t bytes);  // whether it moved
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

class DeviceProgram final : public RemoteProgram {
 public:
  DeviceProgram(const Program& program, ExecutorOptions options, const CudaOptions& device,
                std::shared_ptr<DeviceStore> store);
  ~DeviceProgram() override;
  void run(const Bindings& symbols, std::span<std::byte* const> outer, bool is_here) override;
  void run_timed(const Bindings& symbols, std::span<std::byte* const> outer, bool is_here,
                 std::vector<double>& seconds) override;
  std::vector<std::string> units(const Bindings& symbols) override;
  std::int64_t arena_bytes() const override { return plan_.arena_bytes; }
  int captured() const { return captured_; }  // graphs, so far

 private:
  struct Captured;
  struct Staged;
  void make_ready(const Bindings& symbols, std::span<std::byte* const> outer);
  void plan_launches(const Bindings& symbols, bool is_first);
  void write_symbols(const Bindings& symbols);
  void launch_step(std::size_t step, bool& is_ours);
  void launch(std::size_t source, const std::vector<BufferId>& buffers, bool& is_ours);
  const KernelSource& source_at(std::size_t number) const;
  std::uint32_t constant_of(const std::vector<BufferId>& buffers) const;
  std::size_t symbols_at(const std::vector<std::string>& symbols);
  void launch_all();
  void run_there(const Bindings& symbols, std::span<std::byte* const> outer);
  void run_one_by_one(const Bindings& symbols, std::span<std::byte* const> outer,
                      std::vector<double>* seconds);
  void fill_guards();
  void write_guards(const Step& step);
  void check_guards(std::size_t step);
  std::string said_of(std::size_t step) const;
  std::vector<std::byte*> staged(const Bindings& symbols, std::span<std::byte* const> outer,
                                 Staged& memory);
  void bring_back(std::span<std::byte* const> outer, Staged& memory);

  Program program_;
  ExecutorOptions options_;
  CudaOptions device_;
  std::shared_ptr<DeviceStore> store_;
  std::vector<KernelSource> sources_;                    // of each kernel
  std::vector<std::shared_ptr<const LoadedCode>> code_;  // of these, then of bundles
  std::vector<LaunchPlan> launches_;                     // of each kernel, then of each bundle
  Bundles bundles_;
  std::vector<std::string> names_;          // of all symbols, in order
  std::vector<std::size_t> symbols_begin_;  // of each kernel's and bundle's, in the block
  std::size_t symbol_count_ = 0;
  std::vector<BufferId> outer_;
  std::map<std::vector<std::string>, std::size_t> sections_;  // of that block
  std::vector<std::byte*> pointers_;                          // of each buffer
  std::set<std::string> plan_symbols_;                        // that temporaries' sizes depend on
  Bindings planned_for_;
  MemoryPlan plan_;
  GrowingBlock arena_, scratch_, workspace_, symbol_block_, stage_;
  std::unique_ptr<kernels::cuda::Cublas> cublas_;
  std::shared_ptr<const LoadedCode> setter_;
  std::list<Captured> graphs_;  // the newest first
  int captured_ = 0;
};

}  // namespace assay::compiler::cuda
