// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cuda/lanes.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "bindings/plans.h"
#include "einsum/cuda/run_step.h"
#include "einsum/kernels/device_time_model.h"

namespace assay::python::cuda {
namespace {

// torch hands out 32 streams in turn, but a program computes on few.
constexpr std::size_t kMostLanes = 16;
constexpr std::size_t kKeptBytes = std::size_t{1} << 30;  // of a lane's freed blocks

// CUDA is lost to a forked process, and a lane that another thread held stays locked there.
void refuse_forks() {
  static const auto process = ::getpid();
  if (::getpid() != process) {
    throw EnvironmentError(
        "arrays on a device: this process was forked by one that has used the device, and CUDA "
        "cannot be used in it: start it anew (multiprocessing's 'spawn')");
  }
}

}  // namespace

Lane::~Lane() {
  try {
    const kernels::cuda::CurrentDevice there(device_);
    workspace_.reset();
    library_.reset();
    engine_.reset();
    own_.reset();
  } catch (const kernels::cuda::DeviceError&) {  // a device that is gone has nothing to give back
  }
}

void Lane::prepare() {
  if (!given_) {
    if (!own_) own_ = std::make_unique<kernels::cuda::OwnStream>();
  } else if (kernels::cuda::is_captured(*given_)) {
    fail(
        "a graph of device {} is captured on this stream: what would be recorded of this call is "
        "memory that later calls use as well",
        device_);
  }
}

Lane::Turn::Turn(Lane& lane) : lane_(lane) {
  if (lane_.given_) return;
  kernels::cuda::wait_for_device();
  waits_ = true;
}

void Lane::Turn::end() {
  if (std::exchange(waits_, false)) kernels::cuda::wait_for(lane_.stream());
}

// Whoever owns the arrays may free them next.
Lane::Turn::~Turn() {
  try {
    end();
  } catch (const kernels::cuda::DeviceError&) {  // another error is on its way
  }
}

einsum::cuda::DeviceEngine& Lane::engine() {
  if (!engine_) {
    einsum::cuda::DeviceEngine::Options options{.stream = stream(), .kept_bytes = kKeptBytes};
    if (!knows_home()) options.model = einsum::default_device_model();
    engine_ = std::make_unique<einsum::cuda::DeviceEngine>(std::move(options));
  }
  return *engine_;
}

const kernels::cuda::Cublas* Lane::library() {
  if (!library_) library_ = std::make_unique<kernels::cuda::Cublas>(stream());
  return library_.get();
}

Lane::Block Lane::take(std::size_t bytes) {
  constexpr std::size_t kBoundary = 1024;
  if (!workspace_) workspace_.emplace(kKeptBytes, einsum::cuda::device_memory());
  Block block{workspace_->take<char>(static_cast<double>(bytes + kBoundary))};
  const auto at = reinterpret_cast<std::uintptr_t>(block.buffer.data<char>());
  block.data = reinterpret_cast<char*>((at + kBoundary - 1) / kBoundary * kBoundary);
  return block;
}

std::shared_ptr<Lane> lane_of(int device, nanobind::handle stream) {
  refuse_forks();
  // Never destroyed: nothing is asked of a device at the end of the process.
  static auto& lanes = *new std::vector<std::shared_ptr<Lane>>;
  std::optional<kernels::cuda::Stream> given;
  if (!stream.is_none()) {
    given = reinterpret_cast<kernels::cuda::Stream>(nanobind::cast<std::uintptr_t>(stream));
  }
  auto it =
      std::ranges::find_if(lanes, [&](const auto& lane) { return lane->is_of(device, given); });
  if (it == lanes.end()) {
    lanes.push_back(std::make_shared<Lane>(device, given));
    it = lanes.end() - 1;
  }
  std::rotate(lanes.begin(), it, it + 1);
  auto found = lanes.front();
  if (lanes.size() > kMostLanes) {
    // What it gives back waits for the device, which may wait for a function of Python.
    auto forgotten = std::move(lanes.back());
    lanes.pop_back();
    const nanobind::gil_scoped_release released;
    forgotten.reset();
  }
  return found;
}

}  // namespace assay::python::cuda
