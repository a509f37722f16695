// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Calibration example_calibration() {
  Calibration c;
  c.measured = "2026-01-01T00:00:00Z";
  c.kernels = {"semiring_matmul naive"};
  c.comparisons = 40;
  c.rounds = 20;
  c.floor = 0.008;
  c.largest = 0.009;
  c.sigma_d = 0.01;
  c.tolerance = 0.05;
  c.false_alarms = {1, 80, 0.0125, 0.0003, 0.0677};
  c.noise = {{"semiring_matmul naive", 0.01, 0.02, std::nullopt, 3}};
  c.settings = Json::object();
  return c;
}

TEST(Calibration, SurvivesTheMachinesFile) {
  const TemporaryDirectory dir;
  setenv("ASSAY_MACHINE_DIR", dir.path().c_str(), 1);
  EXPECT_FALSE(load_calibration("0123456789abcdef"));
  save_calibration("0123456789abcdef", example_calibration());
  const auto back = load_calibration("0123456789abcdef");
  ASSERT_TRUE(back);
  EXPECT_EQ(canonical_json(back->to_json()), canonical_json(example_calibration().to_json()));
  EXPECT_EQ(back->record().floor, 0.008);
  EXPECT_FALSE(load_calibration("fedcba9876543210"));
  unsetenv("ASSAY_MACHINE_DIR");
}

TEST(Calibration, WhatIsNoneIsRefused) {
  auto json = example_calibration().to_json();
  json["floor"] = -1;
  EXPECT_THAT([&] { Calibration::from_json(json, "file"); },
              ThrowsMessage<UserError>(HasSubstr("'floor'")));
  json = example_calibration().to_json();
  json.erase("false_alarms");
  EXPECT_THROW(Calibration::from_json(json, "file"), UserError);
  json = example_calibration().to_json();
  json["comparisons"] = 0;
  EXPECT_THROW(Calibration::from_json(json, "file"), UserError);
  EXPECT_THROW(Calibration::from_json(Json::array(), "file"), UserError);
}

}  // namespace
}  // namespace assay::lab
