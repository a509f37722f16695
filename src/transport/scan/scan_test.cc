// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace assay::transport {
namespace {

// A scan is the same arithmetic as single solves, whatever the lanes: equal to the last bit.
TEST(Scan, EqualsSingleSolves) {
  const auto prepared = prepare(builtin_surface("sample_dkes"), {9, 11, 8});
  const std::vector<double> nu = {1e-4, 1e-3, 1e-2}, field = {-1e-3, 0, 1e-3, 2e-3};
  const auto cases = case_grid(nu, field);
  for (const int threads : {1, 3}) {
    for (const int batch : {1, 5, 100}) {
      std::size_t told = 0;
      ScanOptions options;
      options.threads = threads;
      options.batch = batch;
      options.on_progress = [&](std::size_t done, std::size_t total) {
        EXPECT_LE(done, total);
        told = done;
      };
      const auto result = solve_scan(prepared, cases, options);
      EXPECT_TRUE(result.complete);
      EXPECT_EQ(result.solved, 9u);
      EXPECT_EQ(result.mirrored, 3u);  // −1e-3 is 1e-3
      EXPECT_EQ(told, 9u);
      ASSERT_EQ(result.solutions.size(), cases.size());
      for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto single = solve(prepared, {cases[i].nu_hat, std::abs(cases[i].epsi_hat)});
        EXPECT_EQ(result.solutions[i].d.d11, single.d.d11);
        EXPECT_EQ(result.solutions[i].d.d13, single.d.d13);
        EXPECT_EQ(result.solutions[i].at.epsi_hat, cases[i].epsi_hat);
        // And the mirror image itself is within κ·ε.
        const auto mirror = solve(prepared, cases[i]);
        EXPECT_NEAR(mirror.d.d11, single.d.d11, 1e-7 * single.d.d11);
      }
    }
  }
}

}  // namespace
}  // namespace assay::transport
