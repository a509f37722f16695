// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/cuda/device_engine.h"

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "base/error.h"
#include "einsum/calibrate/calibration.h"
#include "einsum/cuda/convert.h"
#include "einsum/cuda/run_step.h"
#include "einsum/run/plan_run.h"
#include "tensor/convert.h"
#include "tensor/overlap.h"

namespace assay::einsum::cuda {
namespace {

Scalar scalar_of(DType dtype) {
  switch (dtype) {
    case DType::kBF16:
      return Scalar::kBf16;
    case DType::kF32:
      return Scalar::kF32;
    case DType::kF64:
      return Scalar::kF64;
    case DType::kC64:
      return Scalar::kC64;
    default:
      check(dtype == DType::kC128, "contractions are in bf16, f32, f64, c64 or c128");
      return Scalar::kC128;
  }
}

OperandSpec spec_of(const Operand& operand) {
  if (const auto* there = std::get_if<DeviceTensor>(&operand)) {
    return {there->dtype(), there->shape(), there->strides(), true};
  }
  // A view with gaps is sent without them.
  const auto& view = std::get<TensorView>(operand);
  return OperandSpec::dense(view.dtype(), view.shape());
}

// Where a tensor lies. Its elements are the device's: nobody may look at them.
TensorView place_of(const DeviceTensor& tensor) {
  return {tensor.dtype(), tensor.data(), tensor.shape(), tensor.strides()};
}

// The loops over all elements of two tensors of a shape, by their strides.
std::vector<Loop> loops_between(const Shape& shape, const Axes& from, const Axes& to) {
  std::vector<Loop> loops;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    loops.push_back({shape[axis], from[axis], 0, to[axis]});
  }
  return fused_loops(std::move(loops));
}

}  // namespace

DeviceTensor::DeviceTensor(DType dtype, Shape shape)
    : dtype_(dtype), shape_(std::move(shape)), strides_(row_major_strides(shape_)) {
  data_ =
      std::shared_ptr<void>(kernels::cuda::allocate_piece(std::max<std::size_t>(byte_count(), 256)),
                            [](void* piece) { kernels::cuda::release_piece(piece); });
}

DeviceTensor::DeviceTensor(DType dtype, Shape shape, Axes strides, void* data)
    : dtype_(dtype),
      shape_(std::move(shape)),
      strides_(std::move(strides)),
      data_(data, [](void*) {}) {}

bool DeviceTensor::is_contiguous() const { return place_of(*this).is_contiguous(); }

std::size_t DeviceTensor::byte_count() const {
  return static_cast<std::size_t>(shape_.element_count()) * size_of(dtype_);
}

DeviceEngine::DeviceEngine(Options options)
    : own_(options.stream ? nullptr : std::make_unique<kernels::cuda::OwnStream>()),
      stream_(own_ ? own_->get() : *options.stream),
      cublas_(stream_),
      memory_(options.memory),
      planner_({.backend = Backend::kCuda,
                .model = options.model ? *options.model : device_model(description()),
                .path_file = std::move(options.path_file)}),
      workspace_(options.kept_bytes, device_memory()) {}

void DeviceEngine::put(const DeviceTensor& to, std::span<const std::byte> from) {
  check(from.size() == to.byte_count() && to.is_contiguous(), "as many bytes as the tensor has");
  if (!from.empty()) kernels::cuda::copy_to_device(to.data(), from.data(), from.size(), stream_);
}

void DeviceEngine::take(const DeviceTensor& from, std::span<std::byte> to) {
  check(to.size() == from.byte_count() && from.is_contiguous(), "as many bytes as the tensor has");
  if (!to.empty()) kernels::cuda::copy_to_host(to.data(), from.data(), to.size(), stream_);
}

DeviceTensor DeviceEngine::to_device(const TensorView& tensor) {
  DeviceTensor to(tensor.dtype(), tensor.shape());
  if (tensor.is_contiguous()) {
    put(to, {static_cast<const std::byte*>(tensor.raw_data()), to.byte_count()});
  } else {
    put(to, Tensor::converted(tensor, tensor.dtype()).bytes());
  }
  return to;
}

Tensor DeviceEngine::to_host(const DeviceTensor& tensor) {
  Tensor to(tensor.dtype(), tensor.shape());
  take(tensor, to.bytes());
  return to;
}

std::shared_ptr<const Plan> DeviceEngine::plan(std::string_view expression,
                                               std::span<const OperandSpec> operands,
                                               PlanOptions options) {
  options.backend = Backend::kCuda;
  if (!options.memory) options.memory = memory_;
  const auto found = planner_.plan(expression, operands, options);
  if (options.memory) return found;
  // Without a bound of the caller's, the device's own counts, where a plan comes near it.
  constexpr double kNoQuestion = 1 << 30;
  if (found->peak_bytes < kNoQuestion) return found;
  double room = static_cast<double>(kernels::cuda::free_bytes() + workspace_.held_bytes());
  for (const auto& operand : operands) {
    if (operand.resident) {
      room += static_cast<double>(operand.shape.element_count()) *
              static_cast<double>(size_of(operand.dtype));
    }
  }
  constexpr double kLeft = 0.95;  // of it for tensors: cuBLAS takes some, and pieces are rounded up
  if (found->peak_bytes <= kLeft * room) return found;
  options.memory = static_cast<std::uint64_t>(kLeft * room);
  return planner_.plan(expression, operands, options);
}

std::shared_ptr<const Plan> DeviceEngine::plan(std::string_view expression,
                                               std::span<const Operand> operands,
                                               const CallOptions& call, bool result_stays) {
  std::vector<OperandSpec> specs;
  for (const auto& operand : operands) specs.push_back(spec_of(operand));
  PlanOptions options;
  options.objective = call.objective;
  options.dtype = call.dtype;
  options.precision = call.precision;
  options.memory = call.memory;
  options.result_stays = result_stays;
  return plan(expression, specs, options);
}

void DeviceEngine::check_tensors(const Plan& plan, std::span<const DeviceTensor> operands,
                                 const DeviceTensor& out) const {
  check(plan.options.backend == Backend::kCuda, "the plan is for a device");
  if (operands.size() != plan.operands.size()) {
    fail("einsum: the plan is for {} operands, but {} are given", plan.operands.size(),
         operands.size());
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto& spec = plan.operands[i];
    if (operands[i].dtype() != spec.dtype || !(operands[i].shape() == spec.shape)) {
      fail("einsum: operand {} is {} {} in the plan, but {} {} is given", i, name_of(spec.dtype),
           spec.shape.to_string(), name_of(operands[i].dtype()), operands[i].shape().to_string());
    }
    if (!std::ranges::equal(operands[i].strides(), spec.strides)) {
      fail("einsum: operand {} has other strides than in the plan", i);
    }
    if (overlap(place_of(out), place_of(operands[i]))) {
      fail("einsum: out shares memory with operand {}", i);
    }
  }
  if (out.dtype() != plan.result || !(out.shape() == plan.output_shape())) {
    fail("einsum: the result is {} {}, but out is {} {}", name_of(plan.result),
         plan.output_shape().to_string(), name_of(out.dtype()), out.shape().to_string());
  }
  if (const auto stride = overlapping_stride(place_of(out))) {
    fail("einsum: elements of out overlap: an axis has stride {}", *stride);
  }
}

// Blocks that are kept for later make room for a plan that needs it.
void DeviceEngine::make_room(const Plan& plan) {
  constexpr double kNoQuestion = 1 << 30;
  if (plan.peak_bytes < kNoQuestion) return;
  if (static_cast<double>(kernels::cuda::free_bytes()) < plan.peak_bytes) {
    workspace_.set_bound(0);
    workspace_.set_bound(std::numeric_limits<std::size_t>::max());
  }
}

template <typename T>
RunReport DeviceEngine::run_as(const Plan& plan, std::span<const DeviceTensor> operands,
                               const DeviceTensor& out, const RunOptions& options) {
  const DType compute = plan.compute;
  const std::int64_t elements = out.shape().element_count();
  std::vector<Workspace::Buffer> copies;
  std::vector<const T*> base;
  for (const auto& operand : operands) {
    if (operand.dtype() == compute) {
      base.push_back(static_cast<const T*>(operand.data()));
      continue;
    }
    const std::int64_t count = operand.shape().element_count();
    copies.push_back(workspace_.take<T>(static_cast<double>(count)));
    T* const to = copies.back().template data<T>();
    base.push_back(to);
    if (count == 0) continue;
    const auto loops =
        loops_between(operand.shape(), operand.strides(), row_major_strides(operand.shape()));
    convert(scalar_of(operand.dtype()), operand.data(), scalar_of(compute), to, loops, stream_);
  }
  const bool direct = out.dtype() == compute && out.is_contiguous();
  const Axes dense = row_major_strides(out.shape());
  Workspace::Buffer own;
  T* result = static_cast<T*>(out.data());
  if (!direct) {
    own = workspace_.take<T>(static_cast<double>(elements));
    result = own.template data<T>();
    if (options.beta != 0.0) {
      convert(scalar_of(out.dtype()), out.data(), scalar_of(compute), result,
              loops_between(out.shape(), out.strides(), dense), stream_);
    }
  }
  RunReport report;
  if (plan.problem.has_zero_extent()) {  // the contraction adds nothing
    const T beta = scalar<T>(options.beta);
    beta == T(0) ? kernels::cuda::fill_bytes(
                       result, 0, static_cast<std::size_t>(elements) * sizeof(T), stream_)
                 : scale<T>(result, elements, beta, stream_);
  } else {
    const StepPlace place{cublas_, workspace_, stream_};
    PlanRun<T> steps(
        plan, workspace_, options,
        [&](const Step& step, const T* a, const T* b, T* c, T alpha, T beta, Counters& counters) {
          run_step<T>(step.lowered, a, b, c, alpha, beta, place, counters);
        },
        [&] {
          wait();
          return 1e-9 * static_cast<double>(monotonic_ns());
        });
    report = steps.run(base, result);
  }
  if (!direct) {
    convert(scalar_of(compute), result, scalar_of(out.dtype()), out.data(),
            loops_between(out.shape(), dense, out.strides()), stream_);
  }
  return report;
}

RunReport DeviceEngine::run_into(const Plan& plan, std::span<const DeviceTensor> operands,
                                 const DeviceTensor& out, const RunOptions& options) {
  check_tensors(plan, operands, out);
  for (const auto& [name, value] :
       {std::pair{"alpha", options.alpha}, std::pair{"beta", options.beta}}) {
    if (value.imag() != 0 && !is_complex(plan.result)) {
      fail("einsum: {} is complex, but the result is {}", name, name_of(plan.result));
    }
  }
  RunReport report;
  if (out.shape().element_count() == 0) return report;
  make_room(plan);
  workspace_.reset_peak();
  switch (plan.compute) {
    case DType::kF32:
      report = run_as<float>(plan, operands, out, options);
      break;
    case DType::kF64:
      report = run_as<double>(plan, operands, out, options);
      break;
    case DType::kC64:
      report = run_as<std::complex<float>>(plan, operands, out, options);
      break;
    default:
      check(plan.compute == DType::kC128, "steps are in f32, f64, c64 or c128");
      report = run_as<std::complex<double>>(plan, operands, out, options);
  }
  report.peak_bytes = workspace_.peak_bytes() + out.byte_count();
  for (const auto& operand : operands) report.peak_bytes += operand.byte_count();
  return report;
}

DeviceTensor DeviceEngine::einsum(std::string_view expression, std::span<const Operand> operands,
                                  const CallOptions& call) {
  if (call.beta != 0.0)
    fail("einsum: beta needs an out to be added to, beta is {}", call.beta.real());
  const auto p = plan(expression, operands, call);
  std::vector<DeviceTensor> there;
  for (const auto& operand : operands) {
    const auto* resident = std::get_if<DeviceTensor>(&operand);
    there.push_back(resident != nullptr ? *resident : to_device(std::get<TensorView>(operand)));
  }
  DeviceTensor out(p->result, p->output_shape());
  run_into(*p, there, out, {.alpha = call.alpha});
  return out;
}

void DeviceEngine::wait() const { kernels::cuda::wait_for(stream_); }

std::string DeviceEngine::description() const {
  return fmt::format("{}, cuBLAS {}", kernels::cuda::device_facts().name, cublas_version());
}

}  // namespace assay::einsum::cuda
