// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/json.h"
#include "einsum/calibrate/calibration.h"
#include "einsum/calibrate/device_shapes.h"
#include "einsum/kernels/device_time_model.h"

namespace assay::einsum {
namespace {

TEST(DeviceCalibration, EachShapeHasItsKernel) {
  for (const auto& shape : device_calibration_shapes()) {
    const auto layouts = shape.layouts();
    for (const auto& layout : layouts) {
      EXPECT_LE(element_count(layout), static_cast<double>(kDeviceShapeElements)) << shape.text();
    }
    if (shape.part == Part::kPermute) continue;
    const auto ways =
        lower_pair({layouts[0], layouts[1], layouts[2], DType::kF32, 1}, default_device_model());
    EXPECT_NE(measured_way(shape, ways), nullptr) << shape.text();
  }
}

TEST(DeviceCalibration, SurvivesItsFile) {
  Calibration c;
  c.blas = "some device";
  c.threads = 0;
  c.model = default_device_model();
  c.model.to_device = {1e-5, 2e10};
  const auto back = calibration_from_json(to_json(c), "test");
  EXPECT_TRUE(back.model.on_device);
  EXPECT_EQ(back.model.to_device.bandwidth, 2e10);
  auto other = c;
  other.model.to_device.bandwidth = 3e10;
  EXPECT_NE(calibration_from_json(to_json(other), "test").model.id, back.model.id);
  EXPECT_FALSE(calibration_from_json(to_json(Calibration()), "test").model.on_device);
}

}  // namespace
}  // namespace assay::einsum
