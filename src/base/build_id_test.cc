// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/build_id.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace assay {
namespace {

// What the linker wrote is found in the program's file as it is in memory.
TEST(BuildId, IsWhatTheProgramsFileHas) {
  const auto id = build_id();
  if (id.empty()) GTEST_SKIP() << "linked without a build id";
  std::string bytes;
  for (std::size_t i = 0; i + 1 < id.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(id.substr(i, 2), nullptr, 16));
  }
  EXPECT_GE(bytes.size(), 8u);
  EXPECT_NE(read_file("/proc/self/exe").find(bytes), std::string::npos);
}

}  // namespace
}  // namespace assay
