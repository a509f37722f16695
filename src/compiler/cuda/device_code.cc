// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/device_code.h"

#include <cuda.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "base/error.h"
#include "kernels/cuda/device.h"

namespace assay::compiler::cuda {

using kernels::cuda::DeviceError;
using kernels::cuda::Trouble;

struct Driver {
  Driver() : library("libcuda.so.1") {
    library.bind(load, "cuModuleLoadData");
    library.bind(unload, "cuModuleUnload");
    library.bind(function, "cuModuleGetFunction");
    library.bind(launch, "cuLaunchKernelEx");
    library.bind(set, "cuFuncSetAttribute");
    library.bind(error, "cuGetErrorString");
  }
  void check(CUresult status, const std::string& what) const {
    if (status == CUDA_SUCCESS) return;
    const char* text = "unknown";
    error(status, &text);
    const auto trouble =
        status == CUDA_ERROR_OUT_OF_MEMORY       ? Trouble::kMemory
        : status == CUDA_ERROR_NO_BINARY_FOR_GPU ? Trouble::kNoDevice
        : status == CUDA_ERROR_ILLEGAL_ADDRESS || status == CUDA_ERROR_LAUNCH_FAILED
            ? Trouble::kLost
            : Trouble::kOther;
    throw DeviceError(trouble, what + ": " + text);
  }

  kernels::SharedLibrary library;
  CUresult (*load)(CUmodule*, const void*) = nullptr;
  CUresult (*unload)(CUmodule) = nullptr;
  CUresult (*function)(CUfunction*, CUmodule, const char*) = nullptr;
  CUresult (*launch)(const CUlaunchConfig*, CUfunction, void**, void**) = nullptr;
  CUresult (*set)(CUfunction, CUfunction_attribute, int) = nullptr;
  CUresult (*error)(CUresult, const char**) = nullptr;
};

LoadedCode::LoadedCode(std::shared_ptr<const Driver> driver, const std::string& cubin,
                       const std::vector<std::string>& entries)
    : driver_(std::move(driver)) {
  CUmodule module = nullptr;
  driver_->check(driver_->load(&module, cubin.data()), "loading a kernel");
  module_ = module;
  for (const auto& entry : entries) {
    CUfunction function = nullptr;
    driver_->check(driver_->function(&function, module, entry.c_str()), "finding " + entry);
    functions_.push_back(function);
  }
}

LoadedCode::~LoadedCode() {
  if (module_ != nullptr) driver_->unload(static_cast<CUmodule>(module_));
}

void LoadedCode::launch(const Launch& launch, void** arguments, kernels::cuda::Stream stream,
                        bool overlaps) const {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.gridDimX = launch.grid[0];
  config.gridDimY = launch.grid[1];
  config.gridDimZ = launch.grid[2];
  config.blockDimX = launch.threads;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = launch.shared_bytes;
  config.hStream = static_cast<CUstream>(stream);
  config.attrs = &attribute;
  config.numAttrs = overlaps ? 1 : 0;
  driver_->check(driver_->launch(&config, static_cast<CUfunction>(functions_.at(launch.entry)),
                                 arguments, nullptr),
                 "launching a kernel");
}

CodeShelf::CodeShelf(const std::string& cache) : cache_(cache) {
  const auto facts = kernels::cuda::device_facts();  // and there is a current device
  driver_ = std::make_shared<Driver>();
  architecture_ = fmt::format("sm_{}{}", facts.major, facts.minor);
  nvrtc_ = std::make_unique<Nvrtc>();
}

std::vector<std::shared_ptr<const LoadedCode>> CodeShelf::load(
    std::span<const KernelSource> sources) {
  const auto toolchain = architecture_ + " " + nvrtc_->toolchain();
  struct Work {
    const KernelSource* source;
    std::string cubin;
  };
  std::vector<Work> missing;
  for (const auto& source : sources) {
    if (loaded_.contains(source.code)) continue;
    if (std::ranges::any_of(missing, [&](const Work& w) { return w.source->code == source.code; }))
      continue;
    missing.push_back({&source, cache_.find(source.code, toolchain).value_or("")});
    ++(missing.back().cubin.empty() ? counts_.compiled : counts_.found);
  }
  std::atomic<std::size_t> next{0};
  std::vector<std::exception_ptr> troubles(missing.size());
  const auto work = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < missing.size();) {
      if (!missing[i].cubin.empty()) continue;
      try {
        missing[i].cubin = nvrtc_->compile(missing[i].source->code, architecture_);
        cache_.keep(missing[i].source->code, toolchain, missing[i].cubin);
      } catch (...) {
        troubles[i] = std::current_exception();
      }
    }
  };
  const auto count =
      std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), missing.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
  work();
  for (auto& thread : threads) thread.join();
  for (const auto& trouble : troubles) {
    if (trouble) std::rethrow_exception(trouble);
  }
  for (const auto& [source, cubin] : missing) {
    loaded_.emplace(source->code, std::make_shared<LoadedCode>(driver_, cubin, source->entries));
  }
  std::vector<std::shared_ptr<const LoadedCode>> all;
  for (const auto& source : sources) all.push_back(loaded_.at(source.code));
  return all;
}

}  // namespace assay::compiler::cuda
