// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/accuracy.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"

namespace assay::transport {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

Grid raised_all(Grid grid) {
  for (const auto& number : kGridNumbers) grid = raised(grid, number);
  return grid;
}

std::vector<std::string> texts_of(const ScanResult& result) {
  std::vector<std::string> texts;
  for (const auto& s : result.solutions) texts.push_back(canonical_json(solution_to_json(s)));
  return texts;
}

// Each answer beside the one of a grid two steps finer in every number: within the accuracy, and
// within its own error bar.
TEST(Accuracy, IsReachedOnTheBuiltInSurfaces) {
  struct {
    const char* name;
    std::vector<Case> cases;
  } const kTried[] = {{"tokamak", {{1e-2, 0}, {1e-3, 0}, {1e-3, 1e-2}}},
                      {"example", {{1e-1, 0}, {1e-2, 1e-3}, {3e-3, 0}}},
                      {"w7x_eim_sample", {{1e-1, 0}, {1e-2, 1e-3}, {3e-3, 0}}}};
  for (const auto& tried : kTried) {
    const auto surface = builtin_surface(tried.name);
    const auto result = solve_scan_to(surface, tried.cases, {.threads = 2}, {.accuracy = 1e-2});
    for (const auto& s : result.solutions) {
      SCOPED_TRACE(fmt::format("{} {} {}", tried.name, s.at.nu_hat, s.at.epsi_hat));
      ASSERT_TRUE(s.resolution);
      EXPECT_TRUE(s.resolution->reached);
      EXPECT_THAT(s.warnings, IsEmpty());
      const auto finer = raised_all(raised_all(s.resolution->grid));
      const auto exact = solve(prepare(surface, finer), s.at);
      const auto error = relative_changes(s.d, exact.d);
      const auto& bar = s.resolution->error;
      const std::array<double, 4> bars = {bar.d11, bar.d31, bar.d13, bar.d33};
      for (std::size_t i = 0; i < error.size(); ++i) {
        EXPECT_LE(error[i], bars[i] + 1e-9) << i;
        EXPECT_LE(bars[i], 1e-2) << i;
      }
    }
  }
}

TEST(Accuracy, AGreaterOneTakesAFinerGrid) {
  const auto surface = builtin_surface("w7x_eim_sample");
  const std::vector<Case> at = {{1e-2, 0}};
  const auto rough = solve_scan_to(surface, at, {}, {.accuracy = 0.05}).solutions.front(),
             fine = solve_scan_to(surface, at, {}, {.accuracy = 1e-4}).solutions.front();
  EXPECT_LT(flops_of(rough.resolution->grid, rough.method),
            flops_of(fine.resolution->grid, fine.method));
  EXPECT_LE(fine.resolution->error.d31, 1e-4);
}

// An interruption at any case, any number of threads, and a journal in between: the same bits.
TEST(Accuracy, DoesNotDependOnThreadsOrInterruptions) {
  const auto surface = builtin_surface("example");
  const auto cases =
      case_grid(std::vector<double>{3e-2, 1e-1, 1, 1e-2}, std::vector<double>{-1e-3, 0, 1e-3});
  const auto whole = solve_scan_to(surface, cases, {}, {.accuracy = 0.05});
  EXPECT_EQ(whole.solved, 8u);
  EXPECT_EQ(whole.mirrored, 4u);
  EXPECT_EQ(texts_of(solve_scan_to(surface, cases, {.threads = 3}, {.accuracy = 0.05})),
            texts_of(whole));
  for (const std::size_t stop_after : {1u, 3u, 6u}) {
    const TemporaryDirectory folder;
    std::atomic<bool> interrupt = false;
    ScanOptions options;
    options.journal = folder.path() + "/journal";
    options.threads = 2;
    options.interrupt = &interrupt;
    options.on_progress = [&](std::size_t done, std::size_t) { interrupt = done >= stop_after; };
    EXPECT_FALSE(solve_scan_to(surface, cases, options, {.accuracy = 0.05}).complete);
    options.on_progress = {};
    interrupt = false;
    EXPECT_THROW(solve_scan_to(surface, cases, options, {.accuracy = 0.04}), UserError);
    const auto rest = solve_scan_to(surface, cases, options, {.accuracy = 0.05});
    EXPECT_GE(rest.resumed, stop_after);
    EXPECT_EQ(texts_of(rest), texts_of(whole));
  }
}

TEST(Accuracy, ACaseStartsFromItsNeighbour) {
  const auto surface = builtin_surface("w7x_eim_sample");
  const std::vector<Case> both = {{3e-3, 0}, {1e-2, 0}}, alone = {{3e-3, 0}};
  const auto with = solve_scan_to(surface, both, {}, {}).solutions.front(),
             without = solve_scan_to(surface, alone, {}, {}).solutions.front();
  EXPECT_LT(with.resolution->solves, without.resolution->solves);
}

TEST(Accuracy, LimitsThatEndTheClimbAreNamedWithFigures) {
  const auto surface = builtin_surface("w7x_eim_sample");
  const std::vector<Case> at = {{1e-4, 0}};
  const auto by_points =
      solve_scan_to(surface, at, {}, {.limits = {.max_points = 150}}).solutions.front();
  EXPECT_FALSE(by_points.resolution->reached);
  EXPECT_LE(by_points.resolution->grid.points(), 150);
  EXPECT_GT(by_points.resolution->error.d11, 1e-2);
  EXPECT_THAT(by_points.warnings, Contains(HasSubstr("raise --max-points 150")));
  EXPECT_THAT(by_points.warnings, Contains(HasSubstr("accuracy 1 % is not reached")));
  const auto by_xi = solve_scan_to(surface, at, {}, {.limits = {.max_xi = 20}}).solutions.front();
  EXPECT_THAT(by_xi.warnings, Contains(HasSubstr("--max-xi 20")));
  EXPECT_THROW(solve_scan_to(surface, at, {}, {.limits = {.max_points = 20}}), UserError);
  for (const double nonsense : {0.0, -0.01, 1.0, std::nan("")}) {
    EXPECT_THROW(solve_scan_to(surface, at, {}, {.accuracy = nonsense}), UserError);
  }
}

// A grid that has the resonant mode has no answer at zero field: those without it are kept to.
TEST(Accuracy, ARationalSurfaceWithoutFieldIsSaid) {
  const std::vector<Case> cases = {{1e-2, 0}, {1e-4, 0}, {1e-2, 1e-3}};
  auto surface = builtin_surface("sample_dkes");
  const auto result = solve_scan_to(surface, cases, {}, {});
  EXPECT_TRUE(result.solutions[0].resolution->reached);
  EXPECT_FALSE(result.solutions[1].resolution->reached);
  EXPECT_LT(result.solutions[1].resolution->grid.n_theta, 11);  // (5, -1)
  EXPECT_THAT(result.solutions[1].warnings, Contains(HasSubstr("nearly rational")));
  EXPECT_TRUE(result.solutions[2].resolution->reached);
  // And where there is none, the error is not known.
  surface.nfp = 1;
  surface.iota = 1;
  const auto hopeless = solve_scan_to(surface, std::vector<Case>{{1e-2, 0}}, {}, {});
  EXPECT_FALSE(hopeless.solutions[0].resolution->reached);
  EXPECT_TRUE(std::isnan(hopeless.solutions[0].resolution->error.d11));
  EXPECT_THAT(hopeless.solutions[0].warnings, Contains(HasSubstr("nearly rational")));
}

TEST(Accuracy, CostCountsEachSolvedCaseOnce) {
  Solution s;
  s.at = {1e-3, 1e-3};
  s.method = Method::kStructured;
  s.resolution = Resolution{{3, 5, 10}, {}, true, 4, 100};
  auto mirror = s;
  mirror.at.epsi_hat = -1e-3;
  auto other = s;
  other.at = {1e-3, 0};
  other.resolution->grid = {5, 3, 20};
  const std::vector<Solution> all = {s, mirror, other};
  const auto cost = cost_of(all, true);
  EXPECT_EQ(cost.cases, 2u);
  EXPECT_EQ(cost.solves, 8u);
  EXPECT_EQ(cost.flops, 200);
  EXPECT_EQ(cost.finest, (Grid{5, 5, 20}));
  EXPECT_EQ(cost.fixed_flops, 2 * flops_of({5, 5, 20}, Method::kStructured));
  EXPECT_EQ(cost_of(all, false).cases, 3u);
}

}  // namespace
}  // namespace assay::transport
