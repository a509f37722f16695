// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A device's memory and its one stream.

#include <array>
#include <memory>

#include "compiler/cuda/device_code.h"
#include "compiler/run/executor.h"
#include "kernels/cuda/device.h"

namespace assay::compiler::cuda {

class DeviceStore final : public Store {
 public:
  explicit DeviceStore(const std::string& cache);
  ~DeviceStore() override;
  std::shared_ptr<std::byte> allocate(std::int64_t bytes) override;
  void put(std::byte* to, const std::byte* from, std::int64_t bytes) override;
  void take(std::byte* to, const std::byte* from, std::int64_t bytes) override;
  void wait() override;
  std::int64_t greatest(const std::byte* values, std::int64_t count) override;

  kernels::cuda::Stream stream() const { return stream_.get(); }
  CodeShelf& shelf() { return shelf_; }

 private:
  // Memory of this process that the device reads by itself, half of it on its way while the other
  // is filled.
  struct Staging;
  kernels::cuda::OwnStream stream_;
  CodeShelf shelf_;
  std::unique_ptr<Staging> staging_;
  std::shared_ptr<const LoadedCode> greatest_;
  std::shared_ptr<std::byte> answers_;
};

}  // namespace assay::compiler::cuda
