// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/calibrate/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/machine.h"
#include "einsum/calibrate/calibration_fit.h"
#include "einsum/calibrate/calibration_measure.h"
#include "einsum/calibrate/calibration_shapes.h"
#include "kernels/blas/blas.h"

namespace assay::einsum {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Calibration, FitFindsTheModelItCameFrom) {
  const PartModel truth{.fixed = 2e-7,
                        .per_call = 3e-7,
                        .rate = 5e10,
                        .half_m = 4,
                        .half_n = 9,
                        .half_k = 20,
                        .bandwidth = 2e10};
  std::vector<Measurement> measured;
  for (const double m : {8, 32, 128, 512}) {
    for (const double n : {8, 64, 512}) {
      for (const double k : {8, 64, 1024}) {
        Work w{.m = m, .n = n, .k = k, .flop = 2 * m * n * k, .bytes = 8 * (m * k + k * n + m * n)};
        measured.push_back({Part::kGemm, true, "", w, seconds(truth, w), 0});
      }
    }
  }
  const auto fitted = fit(TimeModel().part(Part::kGemm, true), measured);
  EXPECT_LT(fitted.band, 0.2);
  EXPECT_EQ(fitted.shapes, 36);
  EXPECT_NEAR(std::log(fitted.rate / truth.rate), 0, 0.3);
}

TEST(Calibration, EveryShapeHasTheKernelItIsFor) {
  for (const auto& shape : calibration_shapes()) {
    const auto layouts = shape.layouts();
    if (shape.part == Part::kPermute) {
      ASSERT_EQ(layouts.size(), 2u) << shape.text();
      EXPECT_EQ(labels_of(layouts[0]), labels_of(layouts[1])) << shape.text();
      continue;
    }
    ASSERT_EQ(layouts.size(), 3u) << shape.text();
    const auto ways = lower_pair({layouts[0], layouts[1], layouts[2], DType::kF32, 1}, TimeModel());
    EXPECT_NE(measured_way(shape, ways), nullptr) << shape.text();
  }
}

TEST(Calibration, RowsThatLiePagesApartAreJumps) {
  EXPECT_EQ(jumps(6400, 64, 1024, 4), 100);  // 256 bytes every 4096
  EXPECT_EQ(jumps(6400, 64, 1023, 4), 0);    // within a page
  EXPECT_EQ(jumps(6400, 1024, 2048, 4), 0);  // whole pages
  const auto lowered = [](std::int64_t gap) {
    const CalibrationShape shape{Part::kGemm, "mGk,kn->mn", {64, gap, 32, 48}};
    const auto layouts = shape.layouts();
    auto ways = lower_pair({layouts[0], layouts[1], layouts[2], DType::kF64, 1}, TimeModel());
    std::erase_if(ways, [](const Lowered& way) { return way.kernel != Kernel::kGemm; });
    return ways.at(0).work;
  };
  EXPECT_EQ(lowered(1).jumps, 0);
  EXPECT_EQ(lowered(17).jumps, 64);
  EXPECT_EQ(lowered(16).jumps, 64 * 4);  // whole pages: each of a row's four lines evicts others
  // They are charged where no cache holds the whole.
  PartModel model{.bandwidth = 1e10, .cache_bandwidth = 1e10, .per_jump = 1e-7};
  const Work near{.bytes = 1e9}, far{.bytes = 1e9, .jumps = 1e6};
  EXPECT_NEAR(seconds(model, far) - seconds(model, near), 0.1, 1e-5);
  model.cache_bytes = 1e12;
  EXPECT_LT(seconds(model, far) - seconds(model, near), 1e-6);
}

TEST(Calibration, OfAMachineIsKeptForEachNumberOfThreads) {
  const TemporaryDirectory folder;
  ::setenv("ASSAY_MACHINE_DIR", folder.path().c_str(), 1);
  EXPECT_FALSE(load_machine_calibration(3));
  EXPECT_EQ(machine_model(3).id, "default");
  Calibration c;
  c.fingerprint = read_machine().fingerprint();
  c.blas = blas::description();
  c.threads = 3;
  c.model.part(Part::kGemm, true).rate = 7e9;
  const auto path = save_machine_calibration(c);
  EXPECT_EQ(machine_model(3).part(Part::kGemm, true).rate, 7e9);
  EXPECT_EQ(machine_model(2).id, "default");
  auto json = read_json_file(path);
  json["blas"] = "another";
  write_file_atomically(path, canonical_json(json));
  EXPECT_THAT([&] { machine_model(3); }, ThrowsMessage<UserError>(HasSubstr("of another BLAS")));
  json["machine"] = "0123456789abcdef";
  write_file_atomically(path, canonical_json(json));
  EXPECT_THAT([&] { machine_model(3); },
              ThrowsMessage<UserError>(HasSubstr("not of this machine")));
  ::unsetenv("ASSAY_MACHINE_DIR");
}

TEST(Calibration, OfAnotherMachineIsRefused) {
  const TemporaryDirectory folder;
  const auto file = folder.path() + "/c.json";
  Calibration c;
  c.fingerprint = "0123456789abcdef";
  c.blas = "some";
  save_calibration(file, c);
  EXPECT_THAT(
      [&] { load_calibration(file, 1); },
      ThrowsMessage<UserError>(HasSubstr("calibration of another machine, 0123456789abcdef")));
  auto json = to_json(c);
  json["parts"].erase("gemm");
  EXPECT_THAT([&] { calibration_from_json(json, "x"); },
              ThrowsMessage<UserError>(HasSubstr("gemm")));
  EXPECT_EQ(calibration_from_json(to_json(c), "x").model.part(Part::kGemm, true).rate,
            c.model.part(Part::kGemm, true).rate);
}

}  // namespace
}  // namespace assay::einsum
