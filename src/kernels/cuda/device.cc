// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/device.h"

#include <cuda_runtime.h>

#include <algorithm>

namespace assay::kernels::cuda {
namespace {

Trouble trouble_of(cudaError_t status) {
  switch (status) {
    case cudaErrorMemoryAllocation:
      return Trouble::kMemory;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorNoKernelImageForDevice:
      return Trouble::kNoDevice;
    // After these every further call in this process fails the same way.
    case cudaErrorDevicesUnavailable:
    case cudaErrorDeviceUninitialized:
    case cudaErrorECCUncorrectable:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorMisalignedAddress:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorSystemNotReady:
    case cudaErrorUnknown:
      return Trouble::kLost;
    default:
      return Trouble::kOther;
  }
}

}  // namespace

void check(int status, const char* what) {
  const auto error = static_cast<cudaError_t>(status);
  if (error == cudaSuccess) return;
  cudaGetLastError();  // told here; a later call need not tell it again
  const auto trouble = trouble_of(error);
  // Whatever was asked for first, it is not what is wrong.
  const auto asked = trouble == Trouble::kNoDevice ? std::string() : std::string(what) + ": ";
  throw DeviceError(trouble, asked + cudaGetErrorString(error));
}

CurrentDevice::CurrentDevice(int device) : device_(device) {
  check(cudaGetDevice(&before_), "asking for the device");
  if (before_ != device_) check(cudaSetDevice(device_), "changing the device");
}
CurrentDevice::~CurrentDevice() {
  if (before_ != device_) cudaSetDevice(before_);
}

Memory::~Memory() {
  for (void* part : parts_) cudaFree(part);
}

void* Memory::allocate(std::size_t bytes) {
  // cudaMalloc promises 256 bytes; the rest is made here.
  constexpr std::size_t kBoundary = 1024;
  void* part = nullptr;
  check(cudaMalloc(&part, bytes + kBoundary), "allocating device memory");
  parts_.push_back(part);
  bytes_ += bytes;
  const auto at = reinterpret_cast<std::uintptr_t>(part);
  return reinterpret_cast<void*>((at + kBoundary - 1) / kBoundary * kBoundary);
}

void* allocate_piece(std::size_t bytes) {
  void* piece = nullptr;
  check(cudaMalloc(&piece, bytes), "allocating device memory");
  return piece;
}
void release_piece(void* piece) noexcept { cudaFree(piece); }

std::size_t free_bytes() {
  std::size_t free = 0, all = 0;
  check(cudaMemGetInfo(&free, &all), "asking for the device's memory");
  return free;
}

void copy_to_device(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copying to the device");
  check(cudaDeviceSynchronize(), "copying to the device");
}
void copy_to_device(void* to, const void* from, std::size_t bytes, Stream after) {
  auto* const stream = static_cast<cudaStream_t>(after);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "copying to the device");
  check(cudaStreamSynchronize(stream), "copying to the device");
}
void fill_bytes(void* to, int value, std::size_t bytes, Stream after) {
  check(cudaMemsetAsync(to, value, bytes, static_cast<cudaStream_t>(after)),
        "filling device memory");
}
void copy_to_host(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copying from the device");
}
void copy_to_host(void* to, const void* from, std::size_t bytes, Stream after) {
  auto* const stream = static_cast<cudaStream_t>(after);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream),
        "copying from the device");
  check(cudaStreamSynchronize(stream), "copying from the device");
}
void copy_rows_to_host(void* to, std::size_t row_bytes, const void* from, std::size_t step_bytes,
                       std::size_t rows, Stream after) {
  auto* const stream = static_cast<cudaStream_t>(after);
  check(cudaMemcpy2DAsync(to, row_bytes, from, step_bytes, row_bytes, rows, cudaMemcpyDeviceToHost,
                          stream),
        "copying from the device");
  check(cudaStreamSynchronize(stream), "copying from the device");
}
void fill_bytes(void* to, int value, std::size_t bytes) {
  check(cudaMemset(to, value, bytes), "filling device memory");
  check(cudaDeviceSynchronize(), "filling device memory");
}

OwnStream::OwnStream(bool urgent) {
  cudaStream_t stream = nullptr;
  int usual = 0, most = 0;
  check(cudaDeviceGetStreamPriorityRange(&usual, &most), "asking for priorities");
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, urgent ? most : usual),
        "making a stream");
  stream_ = stream;
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  event_ = event;
}
OwnStream::~OwnStream() {
  cudaEventDestroy(static_cast<cudaEvent_t>(event_));
  cudaStreamDestroy(static_cast<cudaStream_t>(stream_));
}
void OwnStream::wait_for(Stream other) {
  check(cudaEventRecord(static_cast<cudaEvent_t>(event_), static_cast<cudaStream_t>(other)),
        "recording an event");
  check(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream_), static_cast<cudaEvent_t>(event_)),
        "waiting for an event");
}
void OwnStream::release(Stream other) {
  check(cudaEventRecord(static_cast<cudaEvent_t>(event_), static_cast<cudaStream_t>(stream_)),
        "recording an event");
  check(cudaStreamWaitEvent(static_cast<cudaStream_t>(other), static_cast<cudaEvent_t>(event_)),
        "waiting for an event");
}
void wait_for(Stream stream) {
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "waiting for the device");
}

void wait_for_device() { check(cudaDeviceSynchronize(), "waiting for the device"); }
bool is_captured(Stream stream) {
  auto status = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status);
  // Of the stream that waits for all others while one of these is captured.
  if (error == cudaErrorStreamCaptureImplicit) {
    cudaGetLastError();  // told here
    return true;
  }
  check(error, "asking for a capture");
  return status != cudaStreamCaptureStatusNone;
}

Clock::Clock(bool sweeps) : sweeps_(sweeps) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  stream_ = stream;
  if (!sweeps_) return;
  swept_bytes_ = 2 * device_facts().l2_bytes;
  swept_ = memory_.allocate(swept_bytes_);
}

Clock::~Clock() {
  for (void* event : events_) cudaEventDestroy(static_cast<cudaEvent_t>(event));
  cudaStreamDestroy(static_cast<cudaStream_t>(stream_));
}

void* Clock::next_event() {
  if (used_ == events_.size()) {
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDefault), "making an event");
    events_.push_back(event);
  }
  void* event = events_[used_++];
  check(cudaEventRecord(static_cast<cudaEvent_t>(event), static_cast<cudaStream_t>(stream_)),
        "recording an event");
  return event;
}

void Clock::begin() {
  used_ = 0;
  if (!sweeps_) next_event();
}

void Clock::before_call() {
  if (!sweeps_) return;
  next_event();
  check(cudaMemsetAsync(swept_, static_cast<int>(used_ & 0xFF), swept_bytes_,
                        static_cast<cudaStream_t>(stream_)),
        "sweeping the cache");
  next_event();
}

void Clock::after_call() {
  if (sweeps_) next_event();
}

Clock::Times Clock::end() {
  if (!sweeps_) next_event();
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream_)), "waiting for the device");
  const auto between = [&](std::size_t from, std::size_t to) {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, static_cast<cudaEvent_t>(events_[from]),
                               static_cast<cudaEvent_t>(events_[to])),
          "reading the device's clock");
    return 1e-3 * static_cast<double>(ms);
  };
  Times times;
  if (!sweeps_) {
    times.calls_s = between(0, 1);
  } else {
    for (std::size_t i = 0; i + 2 < used_; i += 3) {
      times.sweeps_s += between(i, i + 1);
      times.calls_s += between(i + 1, i + 2);
    }
  }
  return times;
}

Facts device_facts() {
  Facts facts;
  int device = 0;
  check(cudaGetDevice(&device), "asking for the device");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "asking what the device is");
  facts.name = properties.name;
  facts.major = properties.major;
  facts.minor = properties.minor;
  facts.multiprocessors = properties.multiProcessorCount;
  facts.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
  facts.memory_bytes = properties.totalGlobalMem;
  check(cudaRuntimeGetVersion(&facts.runtime), "asking for the runtime's version");
  check(cudaDriverGetVersion(&facts.driver), "asking for the driver's version");
  return facts;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace assay::kernels::cuda
