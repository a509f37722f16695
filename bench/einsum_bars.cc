// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// The bars of the einsum suite in one process, ratios of interleaved best times:
//
//   build/bench/einsum_bars [THREADS] [CALIBRATION]
//
// Without a calibration file it calibrates first. Prints the planner's times, the pair grid (share
// of the equal-size matrix product, regret of the choice of kernel, prediction against band), the
// overhead of small calls, the cache's hit time, the MP2 rate and CP sweeps.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>

#include "base/clock.h"
#include "einsum/calibrate/calibration_measure.h"
#include "einsum/decompose/cp.h"
#include "einsum/einsum.h"
#include "einsum/kernels/parallel.h"
#include "einsum/mp2/mp2.h"
#include "einsum/mp2/mp2_synthetic.h"
#include "einsum/run/run_pair.h"
#include "einsum/search/search_greedy.h"
#include "einsum/testing/example_networks.h"
#include "kernels/blas/blas.h"
#include "tensor/fill.h"

namespace {

using namespace assay;
using namespace assay::einsum;

// Best seconds of a call for each of several functions, taken in turn, in another order each time.
// Each is called once before it is timed: what it finds in the nearer caches is what itself has
// left there. A last-level cache remembers more than one call: who always came after the same other
// one would always find it in the same state.
std::vector<double> best_of(const std::vector<std::function<void()>>& calls,
                            double budget_s = 0.4) {
  std::vector<double> best(calls.size(), 1e30);
  std::vector<int> repeat(calls.size(), 1);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    calls[i]();
    const auto t = monotonic_ns();
    calls[i]();
    const double once = 1e-9 * static_cast<double>(monotonic_ns() - t);
    repeat[i] = std::clamp(static_cast<int>(2e-4 / std::max(once, 1e-9)), 1, 10000);
  }
  std::vector<std::size_t> order(calls.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(1);
  const auto start = monotonic_ns();
  int rounds = 0;
  while (rounds < 5 || 1e-9 * static_cast<double>(monotonic_ns() - start) < budget_s) {
    std::ranges::shuffle(order, random);
    for (const std::size_t i : order) {
      calls[i]();
      const auto t = monotonic_ns();
      for (int r = 0; r < repeat[i]; ++r) calls[i]();
      best[i] = std::min(best[i], 1e-9 * static_cast<double>(monotonic_ns() - t) / repeat[i]);
    }
    ++rounds;
  }
  return best;
}

void planner() {
  fmt::print("## planner (objective mac)\n");
  for (const auto& row : planner_table()) {
    const auto network = network_of(row.expression, row.extents);
    const auto t = monotonic_ns();
    const auto found = search(network, {.objective = Objective::kMac});
    const double s = 1e-9 * static_cast<double>(monotonic_ns() - t);
    fmt::print("{:2} terms  {:>13.0f} MAC  {}  {:.1f} ms\n", network.terms.size(), found->cost,
               found->cost == row.min_mac ? "= minimum" : "MISSED", 1e3 * s);
  }
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto network = random_network(100, 3, 8, seed);
    const SearchOptions options{.objective = Objective::kMac, .seed = seed};
    const double greedy =
        cost_of(network, search_random_greedy(network, options).front(), Objective::kMac, nullptr);
    const auto t = monotonic_ns();
    const auto found = search(network, options);
    fmt::print("100 terms  {:.3g} MAC ({}), random greedy {:.3g}: x{:.3f}  {:.2f} s\n", found->cost,
               found->method, greedy, found->cost / greedy,
               1e-9 * static_cast<double>(monotonic_ns() - t));
  }
}

struct PairRow {
  const char* expression;
  std::vector<std::int64_t> extents;
};

// The suite's pairs: sizes are in order of appearance of the labels.
const std::vector<PairRow> kPairs = {
    {"ap,bp->ab", {48, 128, 48}},
    {"mi,mnP->inP", {32, 8, 32, 64}},
    {"ij,jk->ik", {512, 512, 512}},
    {"ij,jk->ik", {1024, 1024, 1024}},
    {"ij,jk->ik", {2048, 2048, 2048}},
    {"bij,bjk->bik", {16, 256, 256, 256}},
    {"bij,bjk->bik", {32, 1024, 1024, 1024}},
    {"ij,jk->ki", {512, 512, 512}},
    {"ij,jk->ki", {1024, 1024, 1024}},
    {"abcd,dbea->ec", {32, 64, 48, 24, 96}},
    {"abcde,efbad->cf", {16, 16, 48, 16, 32, 48}},
    {"abcd,aebf->cdef", {24, 24, 32, 32, 32, 32}},
    {"abc,acd->bd", {64, 128, 64, 128}},
    {"abcd,bd->ac", {64, 64, 64, 64}},
    {"abcdef,dfgb->aceg", {12, 12, 12, 12, 12, 12, 48}},
    {"aibj,jick->abck", {32, 24, 32, 24, 32, 32}},
    {"ij,j->i", {2048, 2048}},
    {"ij,ij->ij", {2048, 2048}},
    {"i,j->ij", {2048, 2048}},
};

struct Bars {
  int in_band = 0, steps = 0;
  std::vector<double> regrets;
};

template <typename T>
void pair_grid(const TimeModel& model, int threads, Bars& bars) {
  fmt::print("\n## pairs, {}\n{:<18} {:<22} {:<14} {:>10} {:>9} {:>8} {:>7} {:>9}\n",
             name_of(kDTypeOf<T>), "expression", "m n k batch", "kernel", "time", "of gemm",
             "of triad", "regret", "predicted");
  Workspace workspace(std::size_t{1} << 30);
  for (const auto& row : kPairs) {
    const std::string e = row.expression;
    const auto shapes = shapes_of(e, row.extents);
    double work = 1;
    for (const auto x : row.extents) work *= static_cast<double>(x);
    if (sizeof(T) == 8 && work > 2e10) continue;
    std::vector<Tensor> in;
    for (const auto& shape : shapes) {
      in.emplace_back(kDTypeOf<T>, shape);
      fill_uniform(in.back().mutable_view(), Philox(in.size()), -1, 1);
    }
    const auto plan = make_plan(
        parse_notation(e),
        {OperandSpec::dense(kDTypeOf<T>, shapes[0]), OperandSpec::dense(kDTypeOf<T>, shapes[1])},
        {.threads = threads}, model);
    const auto& step = plan.steps.back();
    Tensor out(kDTypeOf<T>, plan.output_shape());
    Counters counters;
    const auto ways = lower_pair({step.a, step.b, step.c, kDTypeOf<T>, threads}, model);
    const T* a = in[static_cast<std::size_t>(step.operands[0])].template as<T>().data();
    const T* b = in[static_cast<std::size_t>(step.operands[1])].template as<T>().data();
    T* c = out.template as<T>().data();
    std::vector<std::function<void()>> calls;
    // Every way that is not hopeless, the chosen one first; then the equal-size product and a
    // triad.
    std::size_t tried = 0;
    for (const auto& way : ways) {
      if (way.predicted_s > 4 * ways[0].predicted_s && tried > 0) continue;
      ++tried;
      calls.emplace_back(
          [&, w = &way] { run_pair<T>(*w, a, b, c, T(1), T(0), threads, workspace, counters); });
    }
    const auto& s = step.lowered.size;
    const int m = static_cast<int>(s.m), n = static_cast<int>(s.n), k = static_cast<int>(s.k);
    const auto batch = static_cast<std::int64_t>(s.batch);
    const bool product = m > 1 && n > 1 && k > 1;
    Tensor x(kDTypeOf<T>, Shape({product ? batch * m * k : 1})),
        y(kDTypeOf<T>, Shape({product ? batch * k * n : 1})),
        z(kDTypeOf<T>, Shape({product ? batch * m * n : 1}));
    if (product) {
      fill_uniform(x.mutable_view(), Philox(1), -1, 1);
      fill_uniform(y.mutable_view(), Philox(2), -1, 1);
      Lowered plain;
      plain.kernel = batch > 1 ? Kernel::kBatchedGemm : Kernel::kGemm;
      plain.gemm.m = m;
      plain.gemm.n = n;
      plain.gemm.k = k;
      plain.gemm.lda = k;
      plain.gemm.ldb = n;
      plain.gemm.ldc = n;
      if (batch > 1) plain.gemm.free = {{batch, m * k, k * n, m * n}};
      calls.emplace_back([&, plain] {
        run_pair<T>(plain, x.template as<T>().data(), y.template as<T>().data(),
                    z.template as<T>().data(), T(1), T(0), threads, workspace, counters);
      });
    }
    const auto elements = static_cast<std::size_t>(step.lowered.bytes / sizeof(T) / 3) + 1;
    std::vector<T> p(elements, T(1)), q(elements, T(2)), r(elements);
    calls.emplace_back([&] {
      parallel_parts(elements < 32768 ? 1 : threads, static_cast<std::int64_t>(elements),
                     [&](std::int64_t from, std::int64_t to) {
                       for (auto i = from; i < to; ++i) {
                         const auto j = static_cast<std::size_t>(i);
                         r[j] = p[j] + T(3) * q[j];
                       }
                     });
    });
    const auto best = best_of(calls, std::max(0.3, 12 * ways[0].predicted_s));
    const double chosen = best[0];
    const double least =
        *std::min_element(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(tried));
    const double regret = chosen / least - 1;
    const double ratio = chosen / step.lowered.predicted_s;
    const bool within = ratio <= 1 + step.lowered.band && 1 / ratio <= 1 + step.lowered.band;
    bars.regrets.push_back(regret);
    ++bars.steps;
    bars.in_band += within;
    fmt::print("{:<18} {:<22} {:<14} {:>7.1f} µs {:>9} {:>8.2f} {:>6.1f}% {:>7.2f}x{}\n", e,
               fmt::format("{} {} {} {}", m, n, k, batch), name_of(step.lowered.kernel),
               1e6 * chosen, product ? fmt::format("{:.3f}", best[tried] / chosen) : "-",
               best.back() / chosen, 100 * regret, ratio, within ? "" : " outside its band");
  }
}

void overhead(const TimeModel& model) {
  Engine engine({.model = model});
  Tensor a(DType::kF32, Shape({48, 128})), b(DType::kF32, Shape({48, 128})),
      c(DType::kF32, Shape({48, 48}));
  fill_uniform(a.mutable_view(), Philox(1), -1, 1);
  fill_uniform(b.mutable_view(), Philox(2), -1, 1);
  const std::vector<TensorView> in = {a.view(), b.view()};
  const auto out = c.mutable_view();
  const auto plan = engine.plan("ap,bp->ab", in);
  Workspace workspace;
  const auto best = best_of({[&] { engine.einsum_into("ap,bp->ab", in, out); },
                             [&] { plan->run_into(in, out, workspace); },
                             [&] {
                               blas::gemm<float>(blas::Op::kNone, blas::Op::kTranspose, 48, 48, 128,
                                                 1, a.as<float>().data(), 128, b.as<float>().data(),
                                                 128, 0, c.as<float>().data(), 48);
                             },
                             [&] { engine.plan("ap,bp->ab", in); }});
  fmt::print(
      "\n## small calls (48x48x128 f32)\neinsum {:.2f} µs, plan.run {:.2f} µs, bare gemm {:.2f} "
      "µs: overhead {:.2f} µs; cache hit {:.3f} µs\n",
      1e6 * best[0], 1e6 * best[1], 1e6 * best[2], 1e6 * (best[0] - best[2]), 1e6 * best[3]);
}

void mp2_rates(int threads) {
  fmt::print("\n## mp2\n");
  struct Size {
    std::int64_t nocc, nvir, naux;
  };
  for (const auto& [nocc, nvir, naux] : {Size{5, 19, 72}, Size{16, 128, 128}, Size{32, 256, 512}}) {
    const auto s = synthetic_mp2(nocc, nvir, naux);
    std::vector<double> t(static_cast<std::size_t>(nvir * nvir * 4));
    const int v = static_cast<int>(nvir), x = static_cast<int>(naux);
    std::vector<std::vector<double>> own(static_cast<std::size_t>(threads), t);
    // The equal-size product: nvir × nvir × naux, the two operands as MP2 has them.
    const auto best = best_of(
        {[&] { mp2_energy(s.b.view(), s.occupied, s.virtuals, {.threads = threads}); },
         [&] {
           parallel_parts(threads, threads, [&](std::int64_t w, std::int64_t) {
             blas::gemm<double>(blas::Op::kNone, blas::Op::kTranspose, v, v, x, 1,
                                s.b.as<double>().data(), x, s.b.as<double>().data() + nvir * naux,
                                x, 0, own[static_cast<std::size_t>(w)].data(), v);
           });
         }},
        1.5);
    const double rate = mp2_flop(nocc, nvir, naux) / best[0];
    const double gemm_rate = threads * 2.0 * v * v * x / best[1];
    fmt::print("({},{},{})  {:.3f} ms  {:.1f} Gflop/s, gemm of a pair {:.1f}: {:.0f} %\n", nocc,
               nvir, naux, 1e3 * best[0], 1e-9 * rate, 1e-9 * gemm_rate, 100 * rate / gemm_rate);
  }
}

void cp_sweeps() {
  fmt::print("\n## cp (f64, one thread)\n");
  struct Size {
    std::vector<std::int64_t> shape;
    std::int64_t rank;
    int sweeps;
  };
  for (const auto& [shape, rank, sweeps] :
       {Size{{16, 16, 16}, 8, 20}, Size{{128, 128, 128}, 16, 10}}) {
    Tensor x(DType::kF64, Shape(shape));
    fill_uniform(x.mutable_view(), Philox(5), -1, 1);
    const CpOptions options{
        .rank = rank, .max_sweeps = sweeps, .change = 0, .init = CpInit::kRandom};
    CpOptions twice = options;
    twice.max_sweeps = 2 * sweeps;
    const auto best = best_of({[&] { cp(x.view(), options); }, [&] { cp(x.view(), twice); }}, 1);
    fmt::print("{} rank {}: {} sweeps {:.3f} ms, one sweep {:.3f} ms\n", x.shape().to_string(),
               rank, sweeps, 1e3 * best[0], 1e3 * (best[1] - best[0]) / sweeps);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1;
  const auto calibration = argc > 2 ? load_calibration(argv[2], threads) : calibrate(threads);
  fmt::print("{}, {} threads\n\n", blas::description(), threads);
  planner();
  Bars bars;
  pair_grid<float>(calibration.model, threads, bars);
  pair_grid<double>(calibration.model, threads, bars);
  double sum = 0, worst = 0;
  for (const double r : bars.regrets) {
    sum += r;
    worst = std::max(worst, r);
  }
  fmt::print("\nregret: mean {:.1f} %, worst {:.1f} %; predictions within their band: {} of {}\n",
             100 * sum / static_cast<double>(bars.regrets.size()), 100 * worst, bars.in_band,
             bars.steps);
  overhead(calibration.model);
  mp2_rates(threads);
  cp_sweeps();
  return 0;
}
