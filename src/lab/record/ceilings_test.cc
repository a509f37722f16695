// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/ceilings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Ceilings example_ceilings() {
  return {"2026-01-01T00:00:00Z",
          "AVX2",
          {{1, 3e9, {{"fma_f32", 50}, {"read_16384", 100}, {"read_262144", 40}}},
           {4, 3e9, {{"fma_f32", 180}, {"read_16384", 390}, {"read_262144", 120}}}}};
}

TEST(Ceilings, RatesAreThoseOfTheGroupOrOfSoManyCores) {
  const auto c = example_ceilings();
  EXPECT_EQ(c.rate("fma_f32", 1), 50);
  EXPECT_EQ(c.rate("fma_f32", 4), 180);
  EXPECT_EQ(c.rate("fma_f32", 2), 100);
  EXPECT_EQ(c.rate("fma_f64", 1), std::nullopt);
}

TEST(Ceilings, ReadingCountsAtTheLevelThatHoldsIt) {
  const auto c = example_ceilings();
  EXPECT_EQ(c.read_rate(100, 1), 100);
  EXPECT_EQ(c.read_rate(16384, 1), 100);
  EXPECT_EQ(c.read_rate(16385, 4), 120);
  EXPECT_EQ(c.read_rate(1e9, 1), 40);  // larger than what was measured: the largest
  EXPECT_EQ(Ceilings{}.read_rate(1, 1), std::nullopt);
}

TEST(Ceilings, SurviveJson) {
  const auto c = example_ceilings();
  EXPECT_EQ(Ceilings::from_json(c.to_json(), "x").to_json(), c.to_json());
}

TEST(Ceilings, ADeviceHasItsOwn) {
  auto c = example_ceilings();
  c.devices.push_back(
      {"GPU", {{"gemm_tf32", 300}, {"gemm_f32", 50}, {"gemm_f64", 60}, {"triad", 7}}});
  EXPECT_EQ(Ceilings::from_json(c.to_json(), "x").to_json(), c.to_json());
  EXPECT_FALSE(c.on_device("another", 4));
  const auto device = c.on_device("GPU", 16);
  ASSERT_TRUE(device);
  EXPECT_TRUE(device->of_device());
  EXPECT_FALSE(c.of_device());
  EXPECT_EQ(device->rate("triad", 16), 7);  // however many cores ask
  EXPECT_EQ(device->rate("fma_f32", 16), std::nullopt);
  // Three products in TF32 are faster than one in f32.
  const auto f32 = device->product_time(600, "f32", 16), f64 = device->product_time(600, "f64", 16);
  EXPECT_EQ(f32->ceiling, "gemm_tf32");
  EXPECT_EQ(f32->seconds, 6);
  EXPECT_EQ(f64->ceiling, "gemm_f64");
  EXPECT_EQ(f64->seconds, 10);
  EXPECT_EQ(c.product_time(600, "f32", 4)->ceiling, "fma_f32");
  EXPECT_FALSE(c.product_time(600, "f64", 4));
  EXPECT_THROW(Ceilings::device_from_json(Json{{"name", "x"}}, "here"), UserError);
}

TEST(Ceilings, WhatIsNotOneIsRefusedByName) {
  auto json = example_ceilings().to_json();
  json["groups"][0]["rates"]["fma_f32"] = -1;
  EXPECT_THAT(
      [&] { Ceilings::from_json(json, "here"); },
      ThrowsMessage<UserError>(HasSubstr("here: 'fma_f32' must be a positive number, got -1")));
  for (const Json& bad : {Json(), Json::array(), Json{{"groups", 3}}, Json{{"groups", {3}}},
                          Json{{"groups", Json::array()}, {"measured", 4}}}) {
    EXPECT_THROW(Ceilings::from_json(bad, "here"), UserError);
  }
}

}  // namespace
}  // namespace assay::lab
