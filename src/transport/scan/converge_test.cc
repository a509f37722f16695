// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/converge.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "transport/surface/surface_text.h"

namespace assay::transport {
namespace {

using testing::HasSubstr;

// n_theta used to take the points that n_zeta needs. (At nu = 1e-4 it ends at 21x99x175, in
// minutes.)
TEST(Converge, GivesEachNumberItsShareOfAGenuineSurface) {
  const char* set = std::getenv("ASSAY_SHARED_DATA");
  const auto file = std::string(set != nullptr ? set : ASSAY_SHARED_DATA_DEFAULT) +
                    "/transport/real/ciemat_qi_s0250.ddkes2.data";
  if (!std::filesystem::exists(file)) {
    GTEST_SKIP() << "no file " << file << ": set ASSAY_SHARED_DATA to the folder that holds it";
  }
  const auto found = converge(read_dkes(file), {1e-2, 0});
  EXPECT_EQ(found.outcome, Convergence::kConverged) << found.reason;
  EXPECT_GT(found.grid.n_zeta, 2 * found.grid.n_theta);
}

TEST(Converge, SolvesNoGridTwiceAndNamesTheLimitThatStopsIt) {
  const auto surface = builtin_surface("w7x_eim_sample");
  const auto found = converge(surface, {1e-3, 0});
  EXPECT_EQ(found.outcome, Convergence::kConverged) << found.reason;
  std::set<std::array<int, 3>> grids;
  for (const auto& step : found.ladder) {
    const auto& g = step.grid;
    EXPECT_TRUE(grids.insert({g.n_theta, g.n_zeta, g.n_xi}).second);
  }
  EXPECT_THAT(converge(surface, {1e-4, 0}, {.max_points = 200}).reason,
              HasSubstr("raise --max-points 200"));
  EXPECT_THAT(converge(surface, {1e-4, 0}, {.max_xi = 30}).reason, HasSubstr("--max-xi 30"));
}

}  // namespace
}  // namespace assay::transport
