// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/nvml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class NvmlTest : public testing::Test {
 protected:
  NvmlTest() {
    setenv("ASSAY_NVML", FAKE_NVML, 1);
    setenv("FAKE_GPU", file_.c_str(), 1);
  }
  ~NvmlTest() override {
    for (const char* name : {"ASSAY_NVML", "FAKE_GPU", "CUDA_VISIBLE_DEVICES"}) unsetenv(name);
  }
  TemporaryDirectory dir_;
  std::string file_ = dir_.path() + "/gpu";
};

TEST_F(NvmlTest, WithoutLibraryOrDriverThereIsNothing) {
  EXPECT_EQ(Nvml::open(), nullptr) << "the fake has no driver without its file";
  setenv("ASSAY_NVML", "/nonexistent/library.so", 1);
  EXPECT_EQ(Nvml::open(), nullptr);
}

TEST_F(NvmlTest, SaysWhatTheDriverSays) {
  write_file_atomically(file_,
                        "count 2 clock 1755 temperature 61 reasons 196 processes 2 memory_used 77");
  const auto nvml = Nvml::open();
  ASSERT_NE(nvml, nullptr);
  ASSERT_EQ(nvml->gpus().size(), 2u);
  EXPECT_EQ(nvml->gpus()[1].uuid, "GPU-fake-1");
  EXPECT_EQ(nvml->gpus()[0].name, "Fake GPU");
  EXPECT_EQ(nvml->driver(), "999.1");
  const auto state = nvml->state(0);
  EXPECT_EQ(state.sm_clock_mhz, 1755);
  EXPECT_EQ(state.memory_clock_mhz, 1000);
  EXPECT_EQ(state.temperature_c, 61);
  EXPECT_EQ(state.memory_used_bytes, 77u);
  EXPECT_EQ(state.power_w, std::nullopt) << "the fake does not know it";
  // 0x80 + 0x40 + 0x4
  EXPECT_THAT(state.throttled,
              ElementsAre(GpuState::kThermal, GpuState::kPowerBrake, GpuState::kPowerCap));
  EXPECT_THAT(state.processes, ElementsAre(100, 101));
}

TEST_F(NvmlTest, ALibraryThatCountsWithoutEndIsNotBelieved) {
  write_file_atomically(file_, "count 4294967295");
  const auto nvml = Nvml::open();
  ASSERT_NE(nvml, nullptr);
  EXPECT_EQ(nvml->gpus().size(), 256u);
}

TEST_F(NvmlTest, VisibleDevicesAreThoseThatCudaWouldSee) {
  const std::vector<Gpu> gpus = {{"GPU-aa", "", 0}, {"GPU-ab", "", 0}, {"GPU-c", "", 0}};
  const auto with = [&](const char* text) {
    setenv("CUDA_VISIBLE_DEVICES", text, 1);
    return visible_gpus(gpus);
  };
  EXPECT_THAT(visible_gpus(gpus), ElementsAre(0, 1, 2));
  EXPECT_THAT(with("2,0"), ElementsAre(2, 0));
  EXPECT_THAT(with("GPU-c"), ElementsAre(2));
  EXPECT_THAT(with("1,7,0"), ElementsAre(1)) << "what follows a wrong word is not seen";
  EXPECT_THAT(with(""), IsEmpty());
  EXPECT_THAT(with("-1"), IsEmpty());
}

}  // namespace
}  // namespace assay
