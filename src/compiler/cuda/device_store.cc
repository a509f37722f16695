// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/device_store.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>

#include "compiler/cuda/source/greatest_text.h"

namespace assay::compiler::cuda {

using kernels::cuda::check;

struct DeviceStore::Staging {
  static constexpr std::int64_t kBytes = std::int64_t{8} << 20;
  Staging() {
    for (auto& half : halves) {
      check(cudaMallocHost(&half.data, kBytes), "allocating memory that the device reads");
      check(cudaEventCreateWithFlags(&half.is_free, cudaEventDisableTiming), "making an event");
    }
  }
  ~Staging() {
    for (auto& half : halves) {
      cudaEventDestroy(half.is_free);
      cudaFreeHost(half.data);
    }
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  struct Half {
    void* data = nullptr;
    cudaEvent_t is_free = nullptr;
  };
  std::array<Half, 2> halves;
  std::size_t next = 0;
};

DeviceStore::DeviceStore(const std::string& cache)
    : shelf_(cache), staging_(std::make_unique<Staging>()) {}
DeviceStore::~DeviceStore() {
  // What is freed is not read any more.
  cudaStreamSynchronize(static_cast<cudaStream_t>(stream_.get()));
}

std::shared_ptr<std::byte> DeviceStore::allocate(std::int64_t bytes) {
  auto* piece =
      kernels::cuda::allocate_piece(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)));
  return {static_cast<std::byte*>(piece),
          [](std::byte* at) { kernels::cuda::release_piece(at); }};  // waits for the device
}

void DeviceStore::put(std::byte* to, const std::byte* from, std::int64_t bytes) {
  const auto stream = static_cast<cudaStream_t>(stream_.get());
  for (std::int64_t at = 0; at < bytes;) {
    const auto some = std::min(Staging::kBytes, bytes - at);
    auto& half = staging_->halves[staging_->next++ % 2];
    check(cudaEventSynchronize(half.is_free), "waiting for a copy");
    std::memcpy(half.data, from + at, static_cast<std::size_t>(some));
    check(cudaMemcpyAsync(to + at, half.data, static_cast<std::size_t>(some),
                          cudaMemcpyHostToDevice, stream),
          "copying to the device");
    check(cudaEventRecord(half.is_free, stream), "recording an event");
    at += some;
  }
}

void DeviceStore::take(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if (bytes > 0) {
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost,
                          static_cast<cudaStream_t>(stream_.get())),
          "copying from the device");
  }
  wait();
}

void DeviceStore::wait() { kernels::cuda::wait_for(stream_.get()); }

std::int64_t DeviceStore::greatest(const std::byte* values, std::int64_t count) {
  if (!greatest_) {
    const auto source = greatest_source();
    greatest_ = shelf_.load({&source, 1}).front();
    answers_ = allocate(kGreatestBytes);
  }
  const void* from = values;
  void* to = answers_.get();
  void* arguments[] = {&from, &count, &to};
  greatest_->launch({0, {kGreatestBlocks, 1, 1}, kGreatestThreads}, arguments, stream_.get(),
                    false);
  greatest_->launch({1, {1, 1, 1}, kGreatestThreads}, arguments, stream_.get(), false);
  std::int64_t answer = 0;
  take(reinterpret_cast<std::byte*>(&answer), answers_.get(), sizeof answer);
  return answer;
}

}  // namespace assay::compiler::cuda
