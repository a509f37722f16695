// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Streams of devices, and what the calls that go to one of them share: an engine, a library, memory
// for intermediates. What a call takes of that memory is the next one's on that stream alone, so
// that nothing is waited for in between.

#include <memory>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "bindings/threads.h"
#include "einsum/cuda/device_engine.h"

namespace assay::python::cuda {

class Lane {
 public:
  // Without a stream it has its own. Asks nothing of the device yet.
  Lane(int device, std::optional<kernels::cuda::Stream> given) : device_(device), given_(given) {}
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  int device() const { return device_; }
  bool is_of(int device, const std::optional<kernels::cuda::Stream>& given) const {
    return device == device_ && given == given_;
  }

  // work() on this device, without the GIL and with the lane for itself. It is enqueued on the
  // stream that was given, and nobody waits; on a stream of the lane's own it is behind everything
  // that was enqueued on the device before, and done when this returns or throws. Throws
  // DeviceError; UserError where the stream is captured into a graph, before anything that could
  // spoil that.
  template <typename Work>
  void run(Work&& work) {
    ask([&] {
      Turn turn(*this);
      work();
      turn.end();
    });
  }
  // The same of work that enqueues nothing, and has a result.
  template <typename Work>
  auto ask(Work&& work) {
    return without_gil([&] {
      const std::lock_guard lock(mutex_);
      const kernels::cuda::CurrentDevice there(device_);
      prepare();
      return work();
    });
  }

  // For work that runs.
  kernels::cuda::Stream stream() const { return given_ ? *given_ : own_->get(); }
  einsum::cuda::DeviceEngine& engine();
  const kernels::cuda::Cublas* library();
  // Memory on a boundary of 1024 bytes, as long as the block lives.
  struct Block {
    einsum::Workspace::Buffer buffer;
    char* data = nullptr;
  };
  Block take(std::size_t bytes);

 private:
  class Turn {
   public:
    explicit Turn(Lane& lane);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    void end();

   private:
    Lane& lane_;
    bool waits_ = false;
  };

  void prepare();

  const int device_;
  const std::optional<kernels::cuda::Stream> given_;
  // A handler of a signal, which work asks for, may call again.
  std::recursive_mutex mutex_;
  std::unique_ptr<kernels::cuda::OwnStream> own_;
  std::unique_ptr<einsum::cuda::DeviceEngine> engine_;
  std::unique_ptr<kernels::cuda::Cublas> library_;
  std::optional<einsum::Workspace> workspace_;
};

// The lane of a stream, as Python has it: its address, or None. The few that were used last are
// kept. Under the GIL.
std::shared_ptr<Lane> lane_of(int device, nanobind::handle stream);

}  // namespace assay::python::cuda
