// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// The device held to the CPU: inverses of matrices of all sizes, then solutions by every method.
// `transport_cuda_test small` is short enough for compute-sanitizer, `transport_cuda_test time`
// measures scans and their parts, `transport_cuda_test profile METHOD` is short enough for ncu.
// Status 1: something is wrong.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <future>
#include <random>

#include "base/clock.h"
#include "transport/attempt.h"
#include "transport/cuda/batch.h"
#include "transport/cuda/eliminate.h"
#include "transport/prepared.h"
#include "transport/system/block.h"

namespace assay::transport::cuda {
namespace {

int failures = 0, checks = 0;

void expect(bool holds, const std::string& what) {
  ++checks;
  if (holds) return;
  if (++failures <= 40) std::puts(("FAILED " + what).c_str());
}

struct Device {
  kernels::cuda::Clock clock;
  kernels::cuda::Cublas cublas{clock.stream()};
  double seconds(const std::function<void()>& work) {
    clock.begin();
    work();
    return clock.end().calls_s;
  }
};

Matrices matrices(int n, int count, kernels::cuda::Memory& memory) {
  const int ld = (n + 7) / 8 * 8;
  const auto step = static_cast<std::int64_t>(ld) * n;
  return {static_cast<double*>(memory.allocate(static_cast<std::size_t>(step * count) * 8)), n, ld,
          step, count};
}

// ‖X A − 1‖ over what rounding allows. A strong diagonal for the inversion without exchanges; a
// zero one where rows must be exchanged.
void test_inverse(Device& device, int n, bool exchanging) {
  constexpr int kCount = 3;
  kernels::cuda::Memory memory;
  const auto a = matrices(n, kCount, memory);
  BatchedInverse inverse(n, kCount, memory, device.clock.stream(), device.cublas);
  std::mt19937_64 random(static_cast<unsigned>(n));
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> host(static_cast<std::size_t>(a.step * kCount), 0.0);
  for (int i = 0; i < kCount; ++i) {
    for (int c = 0; c < n; ++c) {
      for (int r = 0; r < n; ++r) {
        double x = uniform(random);
        if (r == c) x = exchanging && n > 1 ? 0 : 3 + std::sqrt(n);
        host[static_cast<std::size_t>(i * a.step + r + c * a.ld)] = x;
      }
    }
  }
  kernels::cuda::copy_to_device(a.data, host.data(), host.size() * 8);
  inverse.invert(a, exchanging);
  std::vector<double> found(host.size());
  kernels::cuda::copy_to_host(found.data(), a.data, found.size() * 8, device.clock.stream());
  double worst = 0;
  for (int i = 0; i < kCount; ++i) {
    const auto x = [&](int r, int c) {
      return found[static_cast<std::size_t>(i * a.step + r + c * a.ld)];
    };
    const auto y = [&](int r, int c) {
      return host[static_cast<std::size_t>(i * a.step + r + c * a.ld)];
    };
    for (int r = 0; r < n; r += std::max(1, n / 37)) {
      for (int c = 0; c < n; ++c) {
        double sum = r == c ? -1 : 0, size = 0;
        for (int s = 0; s < n; ++s) {
          sum += x(r, s) * y(s, c);
          size += std::abs(x(r, s) * y(s, c));
        }
        const double share = std::abs(sum) / (1 + size);
        worst = std::isnan(share) ? INFINITY : std::max(worst, share);
      }
    }
  }
  const double bound = (exchanging ? 1e-12 : 1e-14) * (10 + n);
  expect(worst < bound,
         fmt::format("inverse, {} rows, exchanging {}: {:.1e}", n, exchanging, worst));
}

// Each coefficient within what both sides say of their errors.
void compare(const Solution& device, const Solution& cpu, const std::string& what) {
  if (cpu.quality.residual >
      1e-9) {  // singular but for rounding: noise on either side, and said so
    expect(!device.warnings.empty() && device.quality.residual < 1e4 * cpu.quality.residual,
           fmt::format("{}: residual {:.1e} where the CPU has {:.1e}", what,
                       device.quality.residual, cpu.quality.residual));
    return;
  }
  const double scale = 1e-3 * std::sqrt(std::abs(cpu.d.d11 * cpu.d.d33));
  const auto one = [&](const char* name, double x, double y, double ex, double ey, bool diagonal) {
    // Bounds are statistical, and a field with sines has no adjoint: a little more than both.
    const double allowed = 4 * (ex + ey) + 1e-13 * std::max(std::abs(y), diagonal ? 0 : scale);
    expect(std::abs(x - y) <= allowed,
           fmt::format("{}: {} is {:.17g}, not {:.17g}, off by {:.1e} of {:.1e}", what, name, x, y,
                       std::abs(x - y), allowed));
  };
  const auto &d = device.d, &c = cpu.d, &e = device.quality.error, &f = cpu.quality.error;
  one("D11", d.d11, c.d11, e.d11, f.d11, true);
  one("D31", d.d31, c.d31, e.d31, f.d31, false);
  one("D13", d.d13, c.d13, e.d13, f.d13, false);
  one("D33", d.d33, c.d33, e.d33, f.d33, true);
  expect(device.method == cpu.method, what + ": the method is another");
  expect(device.warnings.size() == cpu.warnings.size(),
         fmt::format("{}: {} warnings instead of {} ({} / {})", what, device.warnings.size(),
                     cpu.warnings.size(), fmt::join(device.warnings, "; "),
                     fmt::join(cpu.warnings, "; ")));
  expect(device.quality.whole && device.quality.residual < 1e-10,
         fmt::format("{}: residual {:.1e} instead of {:.1e}", what, device.quality.residual,
                     cpu.quality.residual));
  const auto near = [](double x, double y) {
    return std::abs(x - y) <= 1e-6 * std::abs(y) + 1e-20;
  };
  expect(near(device.quality.legendre_share, cpu.quality.legendre_share) &&
             near(device.quality.theta_share, cpu.quality.theta_share) &&
             near(device.quality.zeta_share, cpu.quality.zeta_share),
         what + ": shares of the highest modes differ");
}

Surface with_sines() {
  auto surface = builtin_surface("example");
  surface.name = "sines";
  surface.b.push_back({1, 1, 0.0, 0.01});
  return surface;
}

// By the CPU, a thread for each.
std::vector<Solution> solve_all(const Prepared& prepared, const std::vector<Case>& cases,
                                Method method) {
  std::vector<std::future<Solution>> started;
  for (const auto& c : cases) {
    started.push_back(
        std::async(std::launch::async, [&, c] { return solve(prepared, c, {.method = method}); }));
  }
  std::vector<Solution> solved;
  for (auto& one : started) solved.push_back(one.get());
  return solved;
}

void test_solutions(const Surface& surface, const Grid& grid, bool adjoint, Method method,
                    int batch, bool fields) {
  const auto prepared = prepare(surface, grid, {.adjoint_consistent = adjoint});
  std::vector<double> nu = {1e-4, 1e-3, 1e-2, 1}, field = {0};
  if (fields) field = {0, 1e-4, 1e-3, -2e-3};
  const auto cases = case_grid(nu, field);
  BatchSolver solver(prepared, batch);
  const auto what = fmt::format("{} {}x{}x{}{} '{}'", surface.name, grid.n_theta, grid.n_zeta,
                                grid.n_xi, adjoint ? " adjoint" : "", name_of(method));
  const auto right = solve_all(prepared, cases, method);
  for (int repetition = 0; repetition < 2; ++repetition) {
    std::vector<std::optional<Solution>> found(cases.size());
    solver.solve(cases, {.method = method},
                 [&](std::size_t i, Solution s) { found[i] = std::move(s); });
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto at = fmt::format("{} nu {:g} epsi {:g}", what, cases[i].nu_hat, cases[i].epsi_hat);
      if (found[i]) {
        compare(*found[i], right[i], at);
      } else {
        expect(false, at + ": not solved");
      }
    }
  }
}

// Dealt out to several streams, with cases that a sturdier method must solve among them: each is
// told once, and is what the CPU says.
void test_lanes(int lanes, int batch, int collisionalities, double of_a_decade = 7) {
  const auto prepared = prepare(builtin_surface("example"), {5, 7, 4});
  std::vector<double> nu;
  for (int i = 0; i < collisionalities; ++i) nu.push_back(1e-5 * std::pow(10, i / of_a_decade));
  const auto cases = case_grid(nu, std::vector<double>{0, 1e-3, 2e-3, -1e-3});
  BatchSolver solver(prepared, batch, lanes);
  for (const Method method : {Method::kAuto, Method::kStructured, Method::kDense}) {
    std::vector<int> told(cases.size());
    const auto right = solve_all(prepared, cases, method);
    solver.solve(cases, {.method = method}, [&](std::size_t i, const Solution& s) {
      ++told[i];
      compare(s, right[i], fmt::format("{} lanes, batch {}, case {}", lanes, batch, i));
    });
    expect(std::ranges::count(told, 1) == static_cast<std::ptrdiff_t>(cases.size()),
           fmt::format("{} lanes: each case is told once", lanes));
  }
}

void test_refusals() {
  const auto prepared = prepare(builtin_surface("example"), {5, 5, 4});
  BatchSolver solver(prepared);
  const auto refused = [&](const Case& c, Method method) {
    try {
      solver.solve(std::vector{c}, {.method = method}, [](std::size_t, Solution) {});
    } catch (const std::exception&) {
      return true;
    }
    return false;
  };
  expect(refused({1e-3, 0}, Method::kMixed), "mixed precision is refused");
  expect(refused({-1, 0}, Method::kAuto), "a negative collisionality is refused");
  expect(refused({1e-3, 1e-3}, Method::kParity), "parity with a field is refused");
}

double best_of(int times, const std::function<double()>& seconds) {
  double best = INFINITY;
  for (int i = 0; i < times; ++i) best = std::min(best, seconds());
  return best;
}

void time_scan(const char* what, const std::vector<Case>& cases, const Prepared& prepared,
               Method method, int batch, int lanes = 2) {
  BatchSolver solver(prepared, batch, lanes);
  const double seconds = best_of(4, [&] {
    const auto begin = monotonic_ns();
    std::size_t solved = 0;
    solver.solve(cases, {.method = method}, [&](std::size_t, Solution) { ++solved; });
    return 1e-9 * static_cast<double>(monotonic_ns() - begin);
  });
  std::puts(fmt::format("{:<40} {:9.4f} s, {:.1f} GB", what, seconds,
                        1e-9 * static_cast<double>(solver.device_bytes()))
                .c_str());
}

// Few blocks of full size, for a profiler.
void solve_few(Method method) {
  const auto prepared = prepare(builtin_surface("w7x_eim_sample"), {25, 25, 4});
  std::vector<Case> cases;
  for (int i = 0; i < 192; ++i) {
    cases.push_back({1e-3 + 1e-5 * i, method == Method::kParity ? 0 : 1e-3});
  }
  BatchSolver solver(prepared);
  solver.solve(cases, {.method = method}, [](std::size_t, Solution) {});
}

void time_all(Device& device) {
  std::vector<double> nu, field, many;
  for (int i = 0; i < 16; ++i) nu.push_back(1e-4 * std::pow(100, i / 15.0));
  for (int i = 0; i < 12; ++i) field.push_back(2e-3 / 0.5 * i / 11);
  for (int i = 0; i < 192; ++i) many.push_back(1e-4 * std::pow(100, i / 191.0));
  const auto prepared = prepare(builtin_surface("w7x_eim_sample"), {25, 25, 60});
  const std::vector<double> none = {0};
  const auto grid = case_grid(nu, field), zero = case_grid(many, none);
  const auto dkes = prepare(builtin_surface("sample_dkes"), {25, 25, 60});
  for (const int lanes : {1, 2, 3, 4}) {
    const auto told = fmt::format("{} lanes", lanes);
    time_scan((told + ", auto").c_str(), grid, prepared, Method::kAuto, 0, lanes);
    time_scan((told + ", auto, sample_dkes").c_str(), grid, dkes, Method::kAuto, 0, lanes);
    time_scan((told + ", parity").c_str(), zero, prepared, Method::kParity, 0, lanes);
  }
  time_scan("192 cases 25x25x60, auto, batch 32", grid, prepared, Method::kAuto, 32);
  time_scan("192 cases 25x25x60, structured", grid, prepared, Method::kStructured, 0);
  time_scan("192 cases 25x25x60, dense", grid, prepared, Method::kDense, 0);
  time_scan("192 cases 25x25x60, parity", zero, prepared, Method::kParity, 0);
  time_scan("1 case 25x25x60, structured", {grid[5]}, prepared, Method::kStructured, 0);
  const DeviceSystem system(prepared.parts().full);
  const int n = 625, count = 192;
  kernels::cuda::Memory memory;
  const auto a = matrices(n, count, memory), b = matrices(n, count, memory);
  std::vector<double> host(static_cast<std::size_t>(a.step * count), 0.0);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = std::sin(static_cast<double>(i));
  for (int i = 0; i < count; ++i) {
    for (int r = 0; r < n; ++r) host[static_cast<std::size_t>(i * a.step + r + r * a.ld)] += 30;
  }
  kernels::cuda::copy_to_device(a.data, host.data(), host.size() * 8);
  BatchedInverse inverse(n, count, memory, device.clock.stream(), device.cublas);
  const auto stream = device.clock.stream();
  const auto tell = [&](const char* what, const std::function<void()>& work) {
    std::puts(fmt::format("{:<40} {:9.4f} ms", what,
                          1e3 * best_of(4, [&] { return device.seconds(work); }))
                  .c_str());
  };
  tell("192 inverses of 625, leaves", [&] { inverse.invert(a, false); });
  tell("192 inverses of 625, exchanging", [&] { inverse.invert(a, true); });
  tell("192 combinations, turned",
       [&] { combine_columns(system.lower_by_column(5), 1, n, a, true, b, stream); });
  tell("192 combinations",
       [&] { combine_columns(system.upper_by_row(5), 1, n, a, false, b, stream); });
  const DeviceSystem half(system_of(prepared, Method::kParity));
  tell("192 combinations of one parity, turned", [&] {
    combine_columns(half.lower_by_column(5), 1, half.host().block_size(5), a, true, b, stream);
  });
  const double one = 1;
  for (const int width : {320, 160, 64, 32}) {
    tell(fmt::format("192 products 625x{0}x{0}", width).c_str(), [&] {
      device.cublas.gemm_columns(n, width, width, {a.data, a.ld, a.step}, {b.data, b.ld, b.step},
                                 one, {a.data + 320 * a.ld, a.ld, a.step}, count);
    });
  }
}

}  // namespace
}  // namespace assay::transport::cuda

int main(int argc, char** argv) {
  using namespace assay::transport;
  using namespace assay::transport::cuda;
  const bool small = argc > 1 && std::strcmp(argv[1], "small") == 0;
  try {
    Device device;
    if (argc > 2 && std::strcmp(argv[1], "profile") == 0) {
      solve_few(method_from_name(argv[2]));
      return 0;
    }
    if (argc > 1 && std::strcmp(argv[1], "time") == 0) {
      time_all(device);
      return 0;
    }
    for (const int n : {1, 2, 15, 16, 17, 31, 32, 33, 48, 63, 65, 100, 129}) {
      test_inverse(device, n, false);
      test_inverse(device, n, true);
    }
    if (!small) {
      for (const int n : {312, 425, 625, 1025, 2000}) {
        test_inverse(device, n, false);
        test_inverse(device, n, true);
      }
    }
    std::puts(fmt::format("inverses: {} checks, {} failed", checks, failures).c_str());
    const auto example = builtin_surface("example"), sines = with_sines();
    std::fflush(stdout);
    for (const bool adjoint : {false, true}) {
      if (small && adjoint) break;  // the same kernels
      for (const Grid grid : {Grid{3, 3, 2}, Grid{5, 7, 4}, Grid{5, 3, 9}}) {
        if (small && grid.n_zeta != 7) continue;  // one of them has every kernel
        test_solutions(example, grid, adjoint, Method::kAuto, 0, true);
        test_solutions(example, grid, adjoint, Method::kDense, 3, true);
        test_solutions(example, grid, adjoint, Method::kParity, 0, false);
        test_solutions(sines, grid, adjoint, Method::kAuto, 5, true);
      }
      if (small) continue;
      for (const Grid grid : {Grid{9, 11, 16}, Grid{17, 25, 16}, Grid{15, 13, 60}}) {
        for (const auto& name : {"example", "sample_dkes", "w7x_eim_sample"}) {
          test_solutions(builtin_surface(name), grid, adjoint, Method::kAuto, 0, true);
        }
        test_solutions(example, grid, adjoint, Method::kDense, 7, true);
        test_solutions(example, grid, adjoint, Method::kStructured, 7, true);
        test_solutions(sines, grid, adjoint, Method::kAuto, 0, true);
      }
    }
    if (!small) {
      test_lanes(2, 0, 17);
      test_lanes(1, 0, 35);
      test_lanes(3, 0, 35);
      test_lanes(3, 70, 35);
      test_lanes(2, 0, 135, 27);
    }
    test_refusals();
  } catch (const std::exception& e) {
    expect(false, e.what());
  }
  std::puts(fmt::format("{} checks, {} failed", checks, failures).c_str());
  return failures == 0 ? 0 : 1;
}
