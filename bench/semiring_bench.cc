// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// How fast the CPU kernels of the semiring engine are, beside this machine's ceilings and the BLAS
// libraries people have.
//
//   semiring_bench [rounds] [group…]     groups: matmul small sizes threads edges; all without any
//
// Every round measures each line once, in turn, with its ceiling just before and after it, by loops
// that take as long as the kernel: clocks move, and a ratio means something only within one moment.
// Of a line's repeats in a round the fastest counts; a line's figures are medians over rounds,
// `best` its best rate.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <optional>

#include "base/clock.h"
#include "base/philox.h"
#include "kernels/peaks/peaks.h"
#include "semiring/ell.h"
#include "semiring/matmul.h"
#include "semiring_bench_blas.h"
#include "tensor/fill.h"

namespace assay::bench {
namespace {

using kernels::measure_peak;
using kernels::PeakKind;
using semiring::Algebra;
using semiring::Backend;
using semiring::EdgeReduce;

double median(std::vector<double> x) {
  if (x.empty()) return 0;
  std::sort(x.begin(), x.end());
  return x.size() % 2 == 1 ? x[x.size() / 2] : (x[x.size() / 2 - 1] + x[x.size() / 2]) / 2;
}

// Seconds of the fastest of as many calls as fit 40 ms, at least two.
double fastest(const std::function<void()>& call) {
  std::int64_t best = -1, total = 0;
  for (int i = 0; i < 2 || (total < 40'000'000 && i < 2000); ++i) {
    const std::int64_t before = monotonic_ns();
    call();
    const std::int64_t took = std::max<std::int64_t>(1, monotonic_ns() - before);
    total += took;
    best = best < 0 ? took : std::min(best, took);
  }
  return static_cast<double>(best) * 1e-9;
}

struct Line {
  std::string label;
  double work;  // pairs
  bool is_double;
  std::optional<PeakKind> ceiling;  // none: a limit of its own, or nothing to compare with
  std::function<double()> seconds;
  std::function<double(double fma_rate)> limit_seconds;
  std::vector<double> rates = {}, fractions = {};
  double last_seconds = 2e-3;  // of one call: as long a ceiling's loop takes
};

struct Matrices {
  Tensor a, b, c;
  Matrices(DType dtype, std::int64_t m, std::int64_t k, std::int64_t n)
      : a(dtype, Shape{m, k}), b(dtype, Shape{k, n}), c(dtype, Shape{m, n}) {
    if (dtype == DType::kBool) {
      fill_below(a.mutable_view(), Philox(1), 2);
      fill_below(b.mutable_view(), Philox(2), 2);
    } else {
      fill_uniform(a.mutable_view(), Philox(1), -std::sqrt(3.0), std::sqrt(3.0));
      fill_uniform(b.mutable_view(), Philox(2), -std::sqrt(3.0), std::sqrt(3.0));
    }
  }
};

class Bench {
 public:
  explicit Bench(std::string self) : self_(std::move(self)) {}

  void add_matmul(Algebra algebra, DType dtype, std::int64_t m, std::int64_t k, std::int64_t n,
                  int threads = 1) {
    auto data = std::make_shared<Matrices>(dtype, m, k, n);
    const semiring::MatmulOptions options{.backend = Backend::kSimd,
                                          .simd = {.threads = threads, .caches = caches_}};
    Line line;
    line.label = fmt::format("{} {} {}x{}x{}{}", name_of(algebra), name_of(dtype), m, k, n,
                             threads > 1 ? fmt::format(" {} threads", threads) : "");
    line.work = static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
    line.is_double = dtype == DType::kF64;
    if (algebra == Algebra::kMaxPlus || algebra == Algebra::kMinPlus) {
      line.ceiling = PeakKind::kAddMax;
    } else if (algebra != Algebra::kBoolean) {
      line.ceiling = PeakKind::kFma;
    }
    line.seconds = [=] {
      return fastest([&] {
        matmul(algebra, data->a.view(), data->b.view(), data->c.mutable_view(), options);
      });
    };
    lines_.push_back(std::move(line));
  }

  void add_blas(DType dtype, std::int64_t m, std::int64_t k, std::int64_t n) {
    for (const BlasChoice& choice : blas_choices()) {
      if (processes_.count(choice.label) == 0) {
        processes_[choice.label] = BlasProcess::start(choice, self_);
      }
      BlasProcess* process = processes_[choice.label].get();
      if (process == nullptr) continue;
      Line line;
      line.label = fmt::format("  {} {} {}x{}x{}", choice.label, name_of(dtype), m, k, n);
      line.work = static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
      line.is_double = dtype == DType::kF64;
      line.ceiling = PeakKind::kFma;
      const auto repeats =
          std::clamp<std::int64_t>(static_cast<std::int64_t>(2e9 / line.work), 2, 2000);
      line.seconds = [=, is_double = line.is_double] {
        return process->best_seconds(m, k, n, is_double, repeats);
      };
      lines_.push_back(std::move(line));
    }
  }

  // The limit: W·x at the multiply-add ceiling, then the gather at the bandwidth of the level where
  // x lives.
  void add_edges(EdgeReduce reduce, std::int64_t n, std::int64_t slots, std::int64_t d,
                 int threads = 1) {
    struct Edges {
      Tensor v, idx, x, w, out;
    };
    auto data = std::make_shared<Edges>(
        Edges{Tensor(DType::kF32, Shape{n, slots}), Tensor(DType::kI32, Shape{n, slots}),
              Tensor(DType::kF32, Shape{n, d}), Tensor(DType::kF32, Shape{d, d}),
              Tensor(DType::kF32, Shape{n, d})});
    fill_uniform(data->v.mutable_view(), Philox(1), 0, 1);
    fill_below(data->idx.mutable_view(), Philox(2), static_cast<std::uint64_t>(n));
    fill_uniform(data->x.mutable_view(), Philox(3), -std::sqrt(3.0), std::sqrt(3.0));
    fill_uniform(data->w.mutable_view(), Philox(4), -std::sqrt(3.0), std::sqrt(3.0));
    const auto edges = static_cast<double>(n * slots), features = static_cast<double>(d);
    const double rows = static_cast<double>(n);
    const double bytes = edges * features * 4 + rows * features * 4 + edges * 8;
    Line line;
    line.label = fmt::format("edges {} n={} k={} d={}{}", name_of(reduce), n, slots, d,
                             threads > 1 ? fmt::format(" {} threads", threads) : "");
    line.work = edges * features + rows * features * features;
    line.is_double = false;
    const semiring::EllOptions options{.backend = Backend::kSimd,
                                       .simd = {.threads = threads, .caches = caches_}};
    line.seconds = [=] {
      return fastest([&] {
        ell_edge_aggregate(reduce, data->v.view(), data->idx.view(), data->x.view(), data->w.view(),
                           data->out.mutable_view(), options);
      });
    };
    const std::int64_t x_bytes = n * d * 4;
    line.limit_seconds = [=](double fma_rate) {
      const double bandwidth = kernels::measure_peaks({.threads = threads,
                                                       .rounds = 3,
                                                       .seconds_per_loop = 1e-3,
                                                       .read_bytes = {x_bytes},
                                                       .triad_bytes = 1 << 10})
                                   .read[0]
                                   .bytes_per_second;
      return rows * features * features / (fma_rate * threads) + bytes / bandwidth;
    };
    lines_.push_back(std::move(line));
  }

  void run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      for (Line& line : lines_) measure(line);
    }
    fmt::print("{:<38} {:>12} {:>12} {:>12} {:>9}\n", "kernel", "time", "Gpair/s", "best",
               "of limit");
    for (const Line& line : lines_) {
      const double rate = median(line.rates);
      const double best =
          line.rates.empty() ? 0 : *std::max_element(line.rates.begin(), line.rates.end());
      fmt::print(
          "{:<38} {:>9.1f} us {:>12.2f} {:>12.2f} {:>9}\n", line.label, line.work / rate * 1e6,
          rate * 1e-9, best * 1e-9,
          line.fractions.empty() ? "" : fmt::format("{:.1f} %", 100 * median(line.fractions)));
    }
    lines_.clear();
  }

 private:
  void measure(Line& line) {
    const PeakKind kind = line.ceiling.value_or(PeakKind::kFma);
    const auto peak = [&](double seconds) {
      return line.is_double ? measure_peak(kind, double{}, seconds)
                            : measure_peak(kind, float{}, seconds);
    };
    const double before = peak(line.last_seconds), seconds = line.seconds();
    if (seconds <= 0) return;
    line.last_seconds = std::clamp(seconds, 5e-4, 2e-2);
    const double ceiling = std::max(before, peak(line.last_seconds));
    line.rates.push_back(line.work / seconds);
    if (line.limit_seconds) {
      line.fractions.push_back(line.limit_seconds(ceiling) / seconds);
    } else if (line.ceiling) {
      line.fractions.push_back(line.work / seconds / ceiling);
    }
  }

  std::string self_;
  kernels::CacheSizes caches_ = kernels::read_cache_sizes();
  std::vector<Line> lines_;
  std::map<std::string, std::unique_ptr<BlasProcess>> processes_;
};

int run(int argc, char** argv) {
  char self[PATH_MAX] = {};
  if (::readlink("/proc/self/exe", self, sizeof self - 1) <= 0) return 1;
  int rounds = 9;
  std::vector<std::string> groups;
  for (int i = 1; i < argc; ++i) {
    if (std::atoi(argv[i]) > 0) {
      rounds = std::atoi(argv[i]);
    } else {
      groups.emplace_back(argv[i]);
    }
  }
  const auto wanted = [&](const std::string& group) {
    return groups.empty() || std::find(groups.begin(), groups.end(), group) != groups.end();
  };
  Bench bench(self);
  if (wanted("matmul")) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      for (const Algebra algebra : {Algebra::kReal, Algebra::kMaxPlus, Algebra::kMinPlus,
                                    Algebra::kLog, Algebra::kEuclidean}) {
        bench.add_matmul(algebra, dtype, 1024, 1024, 1024);
      }
      bench.add_blas(dtype, 1024, 1024, 1024);
    }
    bench.add_matmul(Algebra::kBoolean, DType::kBool, 1024, 1024, 1024);
    bench.run(rounds);
  }
  if (wanted("small")) {
    for (const int n : {32, 64, 128}) {
      bench.add_matmul(Algebra::kReal, DType::kF32, n, n, n);
      bench.add_blas(DType::kF32, n, n, n);
    }
    bench.run(rounds);
  }
  if (wanted("sizes")) {
    for (const auto& [m, k, n] : {std::tuple{256, 256, 256},
                                  {512, 512, 512},
                                  {513, 257, 129},
                                  {1000, 1000, 1000},
                                  {1024, 1024, 1024},
                                  {4096, 64, 4096},
                                  {64, 4096, 64}}) {
      bench.add_matmul(Algebra::kReal, DType::kF32, m, k, n);
      bench.add_blas(DType::kF32, m, k, n);
      for (const Algebra algebra : {Algebra::kMaxPlus, Algebra::kLog, Algebra::kEuclidean}) {
        bench.add_matmul(algebra, DType::kF32, m, k, n);
      }
    }
    bench.run(rounds);
  }
  if (wanted("threads")) {
    for (const Algebra algebra :
         {Algebra::kReal, Algebra::kMaxPlus, Algebra::kLog, Algebra::kEuclidean}) {
      for (const int n : {512, 1024, 2048}) {
        for (const int threads : {1, 2}) {
          bench.add_matmul(algebra, DType::kF32, n, n, n, threads);
        }
      }
    }
    bench.run(rounds);
  }
  if (wanted("edges")) {
    for (const EdgeReduce reduce : {EdgeReduce::kSum, EdgeReduce::kMax}) {
      bench.add_edges(reduce, 16384, 16, 64);
      bench.add_edges(reduce, 16384, 16, 64, 2);
      bench.add_edges(reduce, 4096, 16, 64);
      bench.add_edges(reduce, 16384, 16, 8);
      bench.add_edges(reduce, 16384, 16, 256);
      bench.add_edges(reduce, 262144, 16, 64);
    }
    bench.run(rounds);
  }
  return 0;
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--blas") == 0) return assay::bench::blas_child(argv[2]);
  return assay::bench::run(argc, argv);
}
