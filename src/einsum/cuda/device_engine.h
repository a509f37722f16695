// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The engine on a GPU, behind the same plans:
//
//   einsum::cuda::DeviceEngine engine;
//   auto a = engine.to_device(host_a.view());             // stays there
//   auto c = engine.einsum("ij,jk->ik", {a, host_b.view()});  // so does the result
//   Tensor result = engine.to_host(c);
//
// Work is enqueued on one stream, in order; only copies to the host wait. One thread at a time.

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "einsum/einsum.h"
#include "kernels/cuda/libraries.h"

namespace assay::einsum::cuda {

// A tensor in the device's memory. Copies are handles of one tensor.
class DeviceTensor {
 public:
  // Row-major and without gaps; not initialised. Throws DeviceError.
  DeviceTensor(DType dtype, Shape shape);
  // Elements that somebody else keeps there, the first of them at `data`, with any strides. Each
  // lies on a boundary of its own size, which is what the kernels need of complex numbers.
  DeviceTensor(DType dtype, Shape shape, Axes strides, void* data);
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  const Axes& strides() const { return strides_; }
  std::size_t byte_count() const;  // of the elements, each counted once
  bool is_contiguous() const;      // as views say it
  void* data() const { return data_.get(); }

 private:
  DType dtype_;
  Shape shape_;
  Axes strides_;
  std::shared_ptr<void> data_;
};

// On the host, or on the device already.
using Operand = std::variant<TensorView, DeviceTensor>;

class DeviceEngine {
 public:
  struct Options {
    std::optional<TimeModel> model;       // absent: this machine's calibration, or the defaults
    std::string path_file;                // as EngineOptions has it
    std::optional<std::uint64_t> memory;  // bound on what a call takes there; the device's own else
    // What its work is enqueued on, and waits for; absent: a stream of its own.
    std::optional<kernels::cuda::Stream> stream;
    std::size_t kept_bytes = std::size_t{4} << 30;  // of freed blocks of intermediates
  };
  DeviceEngine() : DeviceEngine(Options()) {}
  // Throws EnvironmentError (no cuBLAS), DeviceError (no device).
  explicit DeviceEngine(Options options);

  // Returns when `tensor` may be changed.
  DeviceTensor to_device(const TensorView& tensor);
  Tensor to_host(const DeviceTensor& tensor);
  // The same into and out of memory that is there, of the tensor's size, without gaps.
  void put(const DeviceTensor& to, std::span<const std::byte> from);
  void take(const DeviceTensor& from, std::span<std::byte> to);

  // The plan for such operands: from a cache, within the device's memory. Throws UserError.
  std::shared_ptr<const Plan> plan(std::string_view expression, std::span<const Operand> operands,
                                   const CallOptions& options = {}, bool result_stays = true);
  std::shared_ptr<const Plan> plan(std::string_view expression,
                                   std::span<const OperandSpec> operands, PlanOptions options);

  // out = alpha·contraction + beta·out. The operands are as the plan has them (else UserError); out
  // has the result's shape and dtype, any strides without overlap, and shares no memory with an
  // operand.
  RunReport run_into(const Plan& plan, std::span<const DeviceTensor> operands,
                     const DeviceTensor& out, const RunOptions& options = {});

  // The contraction, left on the device.
  DeviceTensor einsum(std::string_view expression, std::span<const Operand> operands,
                      const CallOptions& options = {});
  DeviceTensor einsum(std::string_view expression, std::initializer_list<Operand> operands,
                      const CallOptions& options = {}) {
    return einsum(expression, std::span(operands.begin(), operands.size()), options);
  }

  void wait() const;  // for all work so far
  const TimeModel& model() const { return planner_.model(); }
  Engine& planner() { return planner_; }
  std::size_t peak_bytes() const { return workspace_.peak_bytes(); }  // of intermediates
  std::string cublas_version() const { return cublas_.version(); }
  // "NVIDIA H200, cuBLAS 13.0.2": what a calibration is of.
  std::string description() const;

 private:
  template <typename T>
  RunReport run_as(const Plan& plan, std::span<const DeviceTensor> operands,
                   const DeviceTensor& out, const RunOptions& options);
  void check_tensors(const Plan& plan, std::span<const DeviceTensor> operands,
                     const DeviceTensor& out) const;
  void make_room(const Plan& plan);

  std::unique_ptr<kernels::cuda::OwnStream> own_;
  kernels::cuda::Stream stream_;
  kernels::cuda::Cublas cublas_;
  std::optional<std::uint64_t> memory_;
  Engine planner_;
  Workspace workspace_;
};

}  // namespace assay::einsum::cuda
