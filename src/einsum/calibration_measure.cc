// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// The shapes that are measured. Each is a contraction whose lowering is forced to one kernel, so
// that what is measured is what plans run, loops and packing included.
#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/machine.h"
#include "einsum/blas.h"
#include "einsum/calibration.h"
#include "einsum/lower.h"
#include "einsum/run_pair.h"
#include "einsum/strided.h"
#include "tensor/fill.h"
#include "tensor/tensor.h"

namespace assay::einsum {
namespace {

constexpr double kBatch_s = 1.5e-3;  // one timed batch of calls
constexpr int kBatches = 5;
constexpr int kPasses = 2;  // over all shapes: what disturbs one moment is gone the next

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

// A contraction of dense tensors: labels 0 (batch), 1 (M), 2 (N), 3 (K).
struct Shape4 {
  std::int64_t batch, m, n, k;
  std::vector<Label> a = {0, 1, 3}, b = {0, 3, 2}, c = {0, 1, 2};
};

template <typename T>
class Measurer {
 public:
  Measurer(int threads, Calibration& to, const std::function<void(const std::string&)>& progress)
      : threads_(threads), to_(to), progress_(progress) {}

  void run() {
    for (int pass = 0; pass < kPasses; ++pass) {
      first_pass_ = pass == 0;
      next_ = begin_;
      measure_all();
    }
  }

 private:
  void measure_all() {
    for (const std::int64_t n : {8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024}) {
      pair(Part::kGemm, {1, n, n, n});
    }
    for (const std::int64_t s : {4, 16, 64}) {
      for (const std::int64_t l : {128, 512}) {
        pair(Part::kGemm, {1, s, l, l});
        pair(Part::kGemm, {1, l, s, l});
        pair(Part::kGemm, {1, l, l, s});
        pair(Part::kGemm, {1, s, s, l});
        pair(Part::kGemm, {1, s, l, s});
        pair(Part::kGemm, {1, l, s, s});
      }
      pair(Part::kGemm, {1, s, s, 4096});
      pair(Part::kGemm, {1, 16384, s, s});
      pair(Part::kGemm, {1, s, 16384, s});
      pair(Part::kGemm, {64, s, s, s});
      pair(Part::kGemm, {16, s, 256, s});
    }
    pair(Part::kGemm, {16, 256, 256, 256});
    // Transposed operands and result, as steps often have them.
    pair(Part::kGemm, {1, 256, 256, 256, {3, 1}, {3, 2}, {1, 2}});
    pair(Part::kGemm, {1, 256, 256, 256, {1, 3}, {2, 3}, {2, 1}});
    pair(Part::kGemm, {1, 64, 64, 512, {1, 3}, {2, 3}, {1, 2}});
    pair(Part::kGemm, {1, 32, 48, 96, {1, 3}, {2, 3}, {1, 2}});
    pair(Part::kGemm, {1, 64, 32, 256, {1, 3}, {2, 3}, {1, 2}});
    pair(Part::kGemm, {1, 64, 96, 32768});
    pair(Part::kGemm, {1, 48, 48, 16384});
    pair(Part::kGemm, {1, 1536, 1536, 1536});

    for (const std::int64_t n : {16, 64, 256, 1024, 2048}) {
      pair(Part::kGemv, {1, n, 1, n, {1, 3}, {3}, {1}});
      pair(Part::kGemv, {1, n, 1, n, {3, 1}, {3}, {1}});
    }
    pair(Part::kGemv, {1, 16, 1, 65536, {1, 3}, {3}, {1}});
    pair(Part::kGemv, {1, 65536, 1, 16, {1, 3}, {3}, {1}});
    pair(Part::kGemv, {64, 32, 1, 32, {0, 1, 3}, {0, 3}, {0, 1}});
    pair(Part::kGemv, {1024, 64, 1, 64, {0, 1, 3}, {0, 3}, {0, 1}});
    // Matrices that no cache holds, one by one.
    pair(Part::kGemv, {4096, 64, 1, 64, {0, 1, 3}, {0, 3}, {0, 1}});
    pair(Part::kGemm, {4096, 64, 1, 64, {0, 1, 3}, {0, 3}, {0, 1}});

    for (const std::int64_t n : {64, 1024, 16384, 262144, 2097152, 6291456}) {
      pair(Part::kLoops, {1, 1, 1, n, {3}, {3}, {}});
      pair(Part::kLoops, {n, 1, 1, 1, {0}, {0}, {0}});
    }
    for (const std::int64_t n : {16, 128, 1024, 3072}) {
      pair(Part::kLoops, {1, n, n, 1, {1}, {2}, {1, 2}});
      pair(Part::kLoops, {n, 1, 1, n, {0, 3}, {0, 3}, {0}});
    }
    pair(Part::kLoops, {1, 8, 8, 8, {1, 3}, {3, 2}, {1, 2}});
    pair(Part::kLoops, {1, 32, 32, 4, {1, 3}, {3, 2}, {1, 2}});
    pair(Part::kLoops, {64, 4, 4, 4});

    for (const std::int64_t n : {16, 64, 128, 256, 512, 1024, 2048}) transpose(n, n, 1);
    transpose(16, 65536, 1);
    transpose(65536, 16, 1);
    transpose(64, 64, 64);
    transpose(256, 256, 8);
    transpose(8, 8, 4096);
    transpose(24, 32, 1024);
    transpose(1024, 4, 64);
    transpose(3, 512, 256);

    // Rows and columns contiguous, or the sum, on either side; few of any of them.
    for (const std::int64_t n : {16, 32, 64, 128, 256, 512, 1024}) {
      pair(Part::kGett, {1, n, n, n});
      pair(Part::kGett, {1, n, n, n, {1, 3}, {2, 3}, {1, 2}});
    }
    for (const std::int64_t n : {32, 48, 96, 160}) {
      pair(Part::kGett, {1, n, n, 65536, {1, 3}, {2, 3}, {1, 2}});
      pair(Part::kGett, {1, n, 2048, 512, {1, 3}, {2, 3}, {1, 2}});
      pair(Part::kGett, {1, 2048, n, 512, {1, 3}, {3, 2}, {1, 2}});
      pair(Part::kGett, {1, n, 8192, 24});
    }
    pair(Part::kGett, {1, 256, 256, 256, {3, 1}, {2, 3}, {2, 1}});
    pair(Part::kGett, {1, 512, 512, 64, {3, 1}, {2, 3}, {1, 2}});
    pair(Part::kGett, {1, 2048, 1024, 4});
    pair(Part::kGett, {16, 64, 64, 64});
    pair(Part::kGett, {256, 16, 16, 64});
  }

  static constexpr bool kWide = sizeof(T) == 8;

  Tensor filled(const Layout& layout) {
    Tensor tensor(kDTypeOf<T>, Shape({static_cast<std::int64_t>(element_count(layout))}));
    fill_uniform(tensor.mutable_view(), Philox(1), -1, 1);
    return tensor;
  }

  void record(Part part, const std::string& shape, const Work& work, double measured) {
    if (part == Part::kGemm) part = gemm_part(work.m, work.n, work.k);
    if (first_pass_) {
      to_.measurements.push_back({part, kWide, shape, work, measured});
    } else {
      auto& before = to_.measurements[next_++];
      before.again_s = std::max(before.measured_s, measured);
      before.measured_s = std::min(before.measured_s, measured);
    }
  }

  static bool serves(Kernel kernel, Part part) {
    switch (part) {
      case Part::kGemm:
        return kernel == Kernel::kGemm || kernel == Kernel::kBatchedGemm;
      case Part::kGemv:
        return kernel == Kernel::kGemv;
      case Part::kGett:
        return kernel == Kernel::kGett;
      default:
        return kernel == Kernel::kDot || kernel == Kernel::kHadamard || kernel == Kernel::kOuter ||
               kernel == Kernel::kLoops;
    }
  }

  void pair(Part part, const Shape4& s) {
    const std::int64_t extents[] = {s.batch, s.m, s.n, s.k};
    const auto layout = [&](std::vector<Label> labels) {
      std::erase_if(labels, [&](Label l) { return extents[l] == 1; });
      return dense_layout(labels, extents);
    };
    const PairTask task{layout(s.a), layout(s.b), layout(s.c), kDTypeOf<T>, threads_};
    const auto ways = lower_pair(task, to_.model);
    const auto way =
        std::ranges::find_if(ways, [&](const auto& w) { return serves(w.kernel, part); });
    check(way != ways.end(), "a calibration shape has the kernel it is for");
    const auto text = fmt::format("{}x{}x{}x{}", s.batch, s.m, s.n, s.k);
    if (progress_) progress_(fmt::format("{} {} {}", name_of(part), name_of(kDTypeOf<T>), text));
    const Tensor a = filled(task.a), b = filled(task.b);
    Tensor c = filled(task.c);
    Counters counters;
    const double measured = time_calls([&] {
      run_pair<T>(*way, a.as<T>().data(), b.as<T>().data(), c.as<T>().data(), T(1), T(0), threads_,
                  workspace_, counters);
    });
    record(part, text, way->work, measured);
  }

  // planes × rows × columns to planes × columns × rows.
  void transpose(std::int64_t rows, std::int64_t columns, std::int64_t planes) {
    const std::int64_t extents[] = {planes, rows, columns};
    const auto text = fmt::format("{}x{}x{}", planes, rows, columns);
    if (progress_) progress_(fmt::format("permute {} {}", name_of(kDTypeOf<T>), text));
    const Layout from = dense_layout(std::vector<Label>{0, 1, 2}, extents),
                 to = dense_layout(std::vector<Label>{0, 2, 1}, extents);
    const auto loops = loops_over(from, {}, to);
    const Tensor a = filled(from);
    Tensor c = filled(to);
    const double measured = time_calls(
        [&] { permute<T>(loops, a.as<T>().data(), c.as<T>().data(), T(1), T(0), threads_); });
    const auto moved = permute_work(loops, sizeof(T));
    record(Part::kPermute, text, {.calls = moved.planes, .bytes = moved.bytes}, measured);
  }

  int threads_;
  Calibration& to_;
  const std::function<void(const std::string&)>& progress_;
  Workspace workspace_;
  // Measurements of this dtype start at begin_; later passes walk them again in the same order.
  std::size_t begin_ = to_.measurements.size(), next_ = begin_;
  bool first_pass_ = true;
};

}  // namespace

Calibration calibrate(int threads, const std::function<void(const std::string&)>& progress) {
  Calibration c;
  c.fingerprint = read_machine().fingerprint();
  c.blas = blas_description();
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
