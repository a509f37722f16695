// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Solves and scans end when they are wanted no more (base/attend.h).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/file.h"
#include "base/test_attention.h"
#include "transport/derivative.h"
#include "transport/scan/accuracy.h"
#include "transport/scan/scan.h"

namespace assay::transport {
namespace {

TEST(AttendTransport, SolvesByEveryMethod) {
  const auto prepared = prepare(builtin_surface("example"), {9, 9, 8});
  for (const auto method : {Method::kDense, Method::kStructured, Method::kParity, Method::kMixed}) {
    Workspace workspace;
    const auto expected = solve(prepared, {0.1, 0}, {.method = method}, workspace).d.d11;
    {
      const Unwanted unwanted;
      EXPECT_THROW(solve(prepared, {0.1, 0}, {.method = method}, workspace), Unwanted::Ended);
    }
    EXPECT_EQ(solve(prepared, {0.1, 0}, {.method = method}, workspace).d.d11, expected);
  }
  const Unwanted unwanted;
  EXPECT_THROW(differentiate(prepared, {0.1, 0}), Unwanted::Ended);
}

TEST(AttendTransport, ScansKeepNothingThatIsUnfinished) {
  const TemporaryDirectory folder;
  const auto prepared = prepare(builtin_surface("example"), {9, 9, 8});
  const auto cases = case_grid(std::vector{0.1, 0.2, 0.3, 0.4, 0.5}, std::vector{0.0, 1e-3});
  for (const int threads : {1, 3}) {
    const ScanOptions options{.threads = threads,
                              .journal = fmt::format("{}/scan.{}", folder.path(), threads)};
    {
      const Unwanted unwanted;
      EXPECT_THROW(solve_scan(prepared, cases, options), Unwanted::Ended);
    }
    const auto again = solve_scan(prepared, cases, options);
    EXPECT_EQ(again.resumed, 0u);
    const auto plain = solve_scan(prepared, cases, {.threads = threads});
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_EQ(again.solutions[i].d.d11, plain.solutions[i].d.d11);
    }
  }
}

TEST(AttendTransport, ScansThatChooseTheirGrids) {
  const auto cases = case_grid(std::vector{0.5, 1.0}, std::vector{0.0});
  for (const int threads : {1, 3}) {
    const Unwanted unwanted;
    EXPECT_THROW(
        solve_scan_to(builtin_surface("tokamak"), cases, {.threads = threads}, {.accuracy = 0.01}),
        Unwanted::Ended);
  }
}

}  // namespace
}  // namespace assay::transport
