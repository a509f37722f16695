// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/tiles/product_progress.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

namespace assay::kernels {
namespace {

// One cell, one unit, that has no tiles in steps 0 and 1. The worker of step 0 is held up before it
// says so, and that of step 1 is not: whoever needs the unit in step 2 must not wait forever.
TEST(ProductProgress, AStepThatIsReportedLateTakesNothingBack) {
  // Shared with the thread below, which a failure leaves behind.
  const auto progress = std::make_shared<ProductProgress>(1, 1, 1, 1);
  ASSERT_EQ(progress->take(0, 0), 0);
  ASSERT_EQ(progress->take(0, 1), 0);
  std::thread later([progress] { progress->done(0, 0, 1); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  progress->done(0, 0, 0);
  later.join();

  std::promise<void> came;
  std::future<void> in_step_2 = came.get_future();
  std::thread([progress, came = std::move(came)]() mutable {
    progress->await_turn(0, 0, 2);
    came.set_value();
  }).detach();
  EXPECT_EQ(in_step_2.wait_for(std::chrono::seconds(20)), std::future_status::ready);
}

}  // namespace
}  // namespace assay::kernels
