// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/cuda/calibrate.h"

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "base/error.h"
#include "base/machine.h"
#include "einsum/calibrate/calibration_fit.h"
#include "einsum/calibrate/device_shapes.h"
#include "einsum/cuda/permute.h"
#include "einsum/cuda/run_step.h"
#include "einsum/kernels/device_time_model.h"
#include "einsum/lower/device_nest.h"
#include "tensor/fill.h"
#include "tensor/tensor.h"

namespace assay::einsum::cuda {
namespace {

constexpr double kBatch_s = 2e-3;
constexpr int kPasses = 3, kMostCalls = 256;

// All operands are parts of one block of random numbers, which is copied there once.
template <typename T>
class DeviceMeasurer {
 public:
  DeviceMeasurer(Calibration& to, const std::function<void(const std::string&)>& progress)
      : to_(to), progress_(progress), cublas_(clock_.stream()), workspace_(kKeep, device_memory()) {
    Tensor random(kDTypeOf<T>, Shape({kDeviceShapeElements}));
    fill_uniform(random.mutable_view(), Philox(1), -1, 1);
    const std::size_t bytes = random.bytes().size();
    for (T** block : {&a_, &b_, &c_}) {
      *block = static_cast<T*>(memory_.allocate(bytes));
      kernels::cuda::copy_to_device(*block, random.bytes().data(), bytes);
    }
  }

  void run() {
    for (const auto& shape : device_calibration_shapes()) {
      if (progress_) progress_(fmt::format("{} {}", name_of(kDTypeOf<T>), shape.text()));
      shape.part == Part::kPermute ? permutation(shape) : pair(shape);
    }
  }
  std::string device() const {
    return fmt::format("{}, cuBLAS {}", kernels::cuda::device_facts().name, cublas_.version());
  }

 private:
  static constexpr std::size_t kKeep = std::size_t{1} << 30;

  template <typename F>
  double seconds_of(int calls, F&& call) {
    clock_.begin();
    for (int i = 0; i < calls; ++i) call();
    return clock_.end().calls_s / calls;
  }

  // Fastest and slowest of a few batches.
  template <typename F>
  std::pair<double, double> time_calls(F&& call) {
    seconds_of(1, call);  // code, workspaces
    const double once = seconds_of(1, call);
    const int calls = std::clamp(static_cast<int>(kBatch_s / std::max(once, 1e-6)), 1, kMostCalls);
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (int pass = 0; pass < kPasses; ++pass) {
      const double seconds = seconds_of(calls, call);
      least = std::min(least, seconds);
      most = std::max(most, seconds);
    }
    return {least, most};
  }

  void record(const CalibrationShape& shape, const Work& work, std::pair<double, double> measured) {
    to_.measurements.push_back(
        {shape.part, sizeof(T) == 8, shape.text(), work, measured.first, 0, measured.second});
  }

  void pair(const CalibrationShape& shape) {
    const auto layouts = shape.layouts();
    const PairTask task{layouts[0], layouts[1], layouts[2], kDTypeOf<T>, 1};
    const auto ways = lower_pair(task, to_.model);
    const auto* way = measured_way(shape, ways);
    check(way != nullptr, "a calibration shape has the kernel it is for");
    Counters counters;
    const StepPlace place{cublas_, workspace_, clock_.stream()};
    record(shape, way->work,
           time_calls([&] { run_step<T>(*way, a_, b_, c_, T(1), T(0), place, counters); }));
  }

  void permutation(const CalibrationShape& shape) {
    const auto layouts = shape.layouts();
    const auto loops = fused_loops(loops_over(layouts[0], {}, layouts[1]));
    record(shape, device_permute_work(loops, sizeof(T)),
           time_calls([&] { permute<T>(loops, a_, c_, T(1), T(0), clock_.stream()); }));
  }

  Calibration& to_;
  const std::function<void(const std::string&)>& progress_;
  kernels::cuda::Clock clock_;
  kernels::cuda::Cublas cublas_;
  kernels::cuda::Memory memory_;
  Workspace workspace_;
  T *a_ = nullptr, *b_ = nullptr, *c_ = nullptr;
};

// A straight line through a small and a large copy, by the host's clock.
template <typename Copy>
TransferModel transfers(const Copy& copy) {
  constexpr std::size_t kSmall = 4096, kLarge = std::size_t{128} << 20;
  const auto least = [&](std::size_t bytes) {
    copy(bytes);
    double seconds = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 5; ++i) {
      const auto begin = monotonic_ns();
      copy(bytes);
      seconds = std::min(seconds, 1e-9 * static_cast<double>(monotonic_ns() - begin));
    }
    return seconds;
  };
  const double small = least(kSmall), large = least(kLarge);
  return {small, static_cast<double>(kLarge) / std::max(large - small, 1e-9)};
}

}  // namespace

Calibration calibrate(const std::function<void(const std::string&)>& progress) {
  Calibration c;
  c.fingerprint = read_machine().fingerprint();
  c.threads = 0;
  c.model = default_device_model();
  {
    DeviceMeasurer<float> f32(c, progress);
    f32.run();
    c.blas = f32.device();
  }
  DeviceMeasurer<double>(c, progress).run();
  for (const Part part : kParts) {
    for (const bool wide : {false, true}) {
      std::vector<Measurement> own;
      for (const auto& m : c.measurements) {
        if (m.part == part && m.wide == wide) own.push_back(m);
      }
      if (!own.empty()) c.model.part(part, wide) = fit(c.model.part(part, wide), own);
    }
  }
  for (auto& m : c.measurements) m.predicted_s = seconds(c.model.part(m.part, m.wide), m.work);
  if (progress) progress("transfers");
  Tensor host(DType::kU8, Shape({std::int64_t{128} << 20}));
  std::fill(host.bytes().begin(), host.bytes().end(), std::byte{1});
  kernels::cuda::Memory memory;
  void* const device = memory.allocate(host.bytes().size());
  c.model.to_device = transfers([&](std::size_t bytes) {
    kernels::cuda::copy_to_device(device, host.bytes().data(), bytes);
  });
  c.model.from_device = transfers(
      [&](std::size_t bytes) { kernels::cuda::copy_to_host(host.bytes().data(), device, bytes); });
  // The id a reader of the file would give it.
  c.model.id = calibration_from_json(to_json(c), "calibration").model.id;
  return c;
}

}  // namespace assay::einsum::cuda
