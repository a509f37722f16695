// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/gpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::lab {
namespace {

using testing::HasSubstr;

TEST(Gpu, HeatPowerBrakesAndStrangersContaminate) {
  const auto why = [](std::vector<std::string> throttled, std::int64_t strangers) {
    GpuRecord record;
    record.throttled = std::move(throttled);
    record.strangers = strangers;
    return gpu_contamination(record).value_or("");
  };
  EXPECT_EQ(gpu_contamination(GpuRecord()), std::nullopt);
  EXPECT_EQ(why({}, 0), "");
  EXPECT_EQ(why({GpuState::kPowerCap}, 0), "") << "the device as it is";
  EXPECT_THAT(why({GpuState::kPowerCap, GpuState::kThermal}, 0), HasSubstr("thermal"));
  EXPECT_THAT(why({GpuState::kPowerBrake}, 0), HasSubstr("power_brake"));
  EXPECT_THAT(why({GpuState::kHardware}, 0), HasSubstr("hardware_slowdown"));
  EXPECT_THAT(why({}, 2), HasSubstr("2 other processes"));
}

}  // namespace
}  // namespace assay::lab
