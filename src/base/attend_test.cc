// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/attend.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "base/test_attention.h"

namespace assay {
namespace {

TEST(Attend, NobodyAsks) {
  EXPECT_TRUE(still_wanted());
  EXPECT_NO_THROW(attend());
}

TEST(Attend, EndsWithWhatTheAnswerThrows) {
  int asked = 0;
  Attention attention([&] {
    if (++asked == 2) throw std::runtime_error("no more");
  });
  attend();
  EXPECT_EQ(asked, 0);  // it has only begun
  let_attention_wait();
  EXPECT_TRUE(still_wanted());
  EXPECT_EQ(asked, 1);
  let_attention_wait();
  EXPECT_FALSE(still_wanted());
  EXPECT_FALSE(still_wanted());
  EXPECT_THROW(attend(), std::runtime_error);
  EXPECT_EQ(asked, 2);  // what has ended is not asked about again
}

TEST(Attend, TheNewestIsAsked) {
  int outer = 0, inner = 0;
  const Attention first([&] { ++outer; });
  {
    const Attention second([&] { ++inner; });
    let_attention_wait();
    attend();
  }
  EXPECT_EQ(outer, 0);
  EXPECT_EQ(inner, 1);
  attend();
  EXPECT_EQ(outer, 1);
}

TEST(Attend, HelpersHearOfTheEndAndAskNothing) {
  bool is_wanted = true;
  const auto asker = std::this_thread::get_id();
  Attention attention([&] {
    EXPECT_EQ(std::this_thread::get_id(), asker);
    if (!is_wanted) throw std::runtime_error("no more");
  });
  const auto help = [&](const auto& look) {
    std::thread([&] {
      EXPECT_TRUE(still_wanted());
      const AttendTo same(&attention);
      look();
    }).join();
  };
  let_attention_wait();
  help([] { EXPECT_TRUE(still_wanted()); });
  is_wanted = false;
  EXPECT_FALSE(still_wanted());
  help([] {
    EXPECT_FALSE(still_wanted());
    EXPECT_THROW(attend(), std::runtime_error);
  });
}

}  // namespace
}  // namespace assay
