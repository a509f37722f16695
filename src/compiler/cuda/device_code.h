// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Generated sources on a device: compiled once, kept on disk, loaded, launched.

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "compiler/cuda/cubin_cache.h"
#include "compiler/cuda/nvrtc.h"
#include "compiler/cuda/source/kernel_source.h"

namespace assay::compiler::cuda {

// The driver's functions that load and launch code, opened when they are first used.
struct Driver;

// The entries of one source, ready to be launched.
class LoadedCode {
 public:
  LoadedCode(std::shared_ptr<const Driver> driver, const std::string& cubin,
             const std::vector<std::string>& entries);
  ~LoadedCode();
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;
  // `overlaps`: it may be put on the device while the kernel in front of it, one of ours, ends.
  void launch(const Launch& launch, void** arguments, kernels::cuda::Stream stream,
              bool overlaps) const;

 private:
  std::shared_ptr<const Driver> driver_;
  void* module_ = nullptr;
  std::vector<void*> functions_;
};

// All code of one process on the current device: equal sources are loaded once.
class CodeShelf {
 public:
  // `cache`: a folder, or empty. Throws EnvironmentError where NVRTC or the driver is missing.
  explicit CodeShelf(const std::string& cache);
  // Compiles what is in no cache, on several threads at once.
  std::vector<std::shared_ptr<const LoadedCode>> load(std::span<const KernelSource> sources);
  // "sm_90"
  const std::string& architecture() const { return architecture_; }
  struct Counts {
    int compiled = 0, found = 0;
  };
  Counts counts() const { return counts_; }

 private:
  std::shared_ptr<const Driver> driver_;
  CubinCache cache_;
  std::unique_ptr<Nvrtc> nvrtc_;
  std::string architecture_;
  std::map<std::string, std::shared_ptr<const LoadedCode>> loaded_;  // by source
  Counts counts_;
};

}  // namespace assay::compiler::cuda
