// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/calibrate/calibration_measure.h"

//
// Each shape is a contraction whose lowering is forced to one kernel, so that what is measured is
// what plans run, loops and packing included.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/clock.h"
#include "base/error.h"
#include "base/machine.h"
#include "einsum/calibrate/calibration_fit.h"
#include "einsum/calibrate/calibration_shapes.h"
#include "einsum/kernels/strided.h"
#include "einsum/run/run_pair.h"
#include "kernels/blas/blas.h"
#include "tensor/fill.h"
#include "tensor/tensor.h"

namespace assay::einsum {
namespace {

constexpr double kBatch_s = 1.5e-3;  // one timed batch of calls
constexpr int kBatches = 3;
// Over all shapes: what disturbs one moment is gone the next. The fastest counts, so that all parts
// are measured at the same speed of a machine whose speed changes.
constexpr int kPasses = 4;

// Seconds of one call in the fastest batch: everything that disturbs makes it slower.
template <typename F>
double time_calls(F&& call) {
  call();  // pages, caches, threads
  int calls = 1;
  const auto elapsed = [&] {
    const auto begin = monotonic_ns();
    for (int i = 0; i < calls; ++i) call();
    return 1e-9 * static_cast<double>(monotonic_ns() - begin);
  };
  double seconds = elapsed();
  while (seconds < kBatch_s && calls < (1 << 20)) {
    calls *= seconds > 0 ? std::clamp(static_cast<int>(1.2 * kBatch_s / seconds), 2, 16) : 16;
    seconds = elapsed();
  }
  for (int i = 1; i < kBatches; ++i) seconds = std::min(seconds, elapsed());
  return seconds / calls;
}

template <typename T>
class Measurer {
 public:
  Measurer(int threads, Calibration& to, const std::function<void(const std::string&)>& progress)
      : threads_(threads), to_(to), progress_(progress) {}

  void run() {
    for (int pass = 0; pass < kPasses; ++pass) {
      pass_ = pass;
      next_ = begin_;
      for (const auto& shape : calibration_shapes()) {
        if (progress_) progress_(fmt::format("{} {}", name_of(kDTypeOf<T>), shape.text()));
        shape.part == Part::kPermute ? permutation(shape) : pair(shape);
      }
    }
    for (auto i = begin_; i < to_.measurements.size(); ++i) {
      auto& m = to_.measurements[i];
      if (m.again_s < m.measured_s) std::swap(m.again_s, m.measured_s);
    }
  }

 private:
  static constexpr bool kWide = sizeof(T) == 8;

  // Memory for all indices of a layout whose strides are positive.
  Tensor filled(const Layout& layout) {
    std::int64_t last = 0;
    for (const auto& mode : layout) last += (mode.extent - 1) * mode.stride;
    Tensor tensor(kDTypeOf<T>, Shape({last + 1}));
    fill_uniform(tensor.mutable_view(), Philox(1), -1, 1);
    return tensor;
  }

  void record(const CalibrationShape& shape, const Work& work, double measured) {
    const Part part = shape.part == Part::kGemm ? gemm_part(work.m, work.n, work.k) : shape.part;
    if (pass_ == 0) {
      constexpr double kNever = std::numeric_limits<double>::infinity();
      to_.measurements.push_back({part, kWide, shape.text(), work, measured, 0, kNever});
    } else {
      auto& m = to_.measurements[next_++];
      double& half = pass_ < kPasses / 2 ? m.measured_s : m.again_s;
      half = std::min(half, measured);
    }
  }

  void pair(const CalibrationShape& shape) {
    const auto layouts = shape.layouts();
    const PairTask task{layouts[0], layouts[1], layouts[2], kDTypeOf<T>, threads_};
    const auto ways = lower_pair(task, to_.model);
    const auto* way = measured_way(shape, ways);
    check(way != nullptr, "a calibration shape has the kernel it is for");
    const Tensor a = filled(task.a), b = filled(task.b);
    Tensor c = filled(task.c);
    Counters counters;
    const double measured = time_calls([&] {
      run_pair<T>(*way, a.as<T>().data(), b.as<T>().data(), c.as<T>().data(), T(1), T(0), threads_,
                  workspace_, counters);
    });
    record(shape, way->work, measured);
  }

  void permutation(const CalibrationShape& shape) {
    const auto layouts = shape.layouts();
    const auto loops = loops_over(layouts[0], {}, layouts[1]);
    const Tensor a = filled(layouts[0]);
    Tensor c = filled(layouts[1]);
    const double measured = time_calls(
        [&] { permute<T>(loops, a.as<T>().data(), c.as<T>().data(), T(1), T(0), threads_); });
    record(shape, permute_work(loops, sizeof(T)), measured);
  }

  int threads_;
  Calibration& to_;
  const std::function<void(const std::string&)>& progress_;
  Workspace workspace_;
  // Measurements of this dtype start at begin_; later passes walk them again in the same order.
  std::size_t begin_ = to_.measurements.size(), next_ = begin_;
  int pass_ = 0;
};

}  // namespace

Calibration calibrate(int threads, const std::function<void(const std::string&)>& progress) {
  Calibration c;
  c.fingerprint = read_machine().fingerprint();
  c.blas = blas::description();
  c.threads = threads;
  Measurer<float>(threads, c, progress).run();
  Measurer<double>(threads, c, progress).run();
  for (const Part part : kParts) {
    for (const bool wide : {false, true}) {
      std::vector<Measurement> own;
      for (const auto& m : c.measurements) {
        if (m.part == part && m.wide == wide) own.push_back(m);
      }
      c.model.part(part, wide) = fit(c.model.part(part, wide), own);
    }
  }
  for (auto& m : c.measurements) {
    m.predicted_s = seconds(c.model.part(m.part, m.wide), m.work);
  }
  // The id a reader of the file would give it.
  c.model.id = calibration_from_json(to_json(c), "calibration").model.id;
  return c;
}

}  // namespace assay::einsum
