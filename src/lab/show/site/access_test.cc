// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/access.h"

#include <gtest/gtest.h>

namespace assay::lab {
namespace {

TEST(Access, KnowsTheAddressesOfThisMachineAlone) {
  for (const char* own : {"localhost", "LocalHost", "127.0.0.1", "127.8.9.10", "::1"}) {
    EXPECT_TRUE(is_loopback(own)) << own;
  }
  for (const char* other : {"", "0.0.0.0", "::", "192.168.1.2", "127.evil.example",
                            "localhost.evil", "127.0.0.1.evil", "fe80::1", "::ffff:10.0.0.1"}) {
    EXPECT_FALSE(is_loopback(other)) << other;
  }
}

TEST(Access, AllowsHostsThatNoStrangerCanName) {
  for (const char* own : {"127.0.0.1:8377", "localhost:8377", "LOCALHOST:8377", "[::1]:8377",
                          "192.168.1.2:8377", "lab-server:8377"}) {
    EXPECT_TRUE(host_allowed(own, "lab-server", 8377)) << own;
  }
  for (const char* other : {"", "evil.example:8377", "127.0.0.1", "127.0.0.1:80", "localhost:83770",
                            "localhost:", "localhost.evil.example:8377", "[evil]:8377", "[::1]",
                            "127.0.0.1.evil.example:8377", "127.0.0.1:8377:8377", ":8377",
                            "evil.example:80@127.0.0.1:8377"}) {
    EXPECT_FALSE(host_allowed(other, "lab-server", 8377)) << other;
  }
  EXPECT_TRUE(host_allowed("localhost", "127.0.0.1", 80));  // a browser leaves port 80 out
}

}  // namespace
}  // namespace assay::lab
