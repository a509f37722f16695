// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/machine_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"

namespace assay {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class MachineFiles : public testing::Test {
 protected:
  MachineFiles() { ::setenv("ASSAY_MACHINE_DIR", folder_.path().c_str(), 1); }
  ~MachineFiles() override { ::unsetenv("ASSAY_MACHINE_DIR"); }
  TemporaryDirectory folder_;
};

TEST_F(MachineFiles, WhatIsSavedIsLoaded) {
  EXPECT_FALSE(load_machine_file("abc", "ceilings"));
  const auto path = save_machine_file("abc", "ceilings", {{"fma", 2}});
  EXPECT_EQ(path, folder_.path() + "/abc/ceilings.json");
  const auto loaded = load_machine_file("abc", "ceilings");
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->at("fma"), 2);
  save_machine_file("abc", "ceilings", {{"fma", 3}});
  EXPECT_EQ(load_machine_file("abc", "ceilings")->at("fma"), 3);
}

TEST_F(MachineFiles, AFingerprintLeadsNowhereElse) {
  save_machine_file("abc", "ceilings", {{"fma", 2}});
  for (const char* strange : {"", ".", "..", "../abc", "abc/", "abc/../abc", "/etc"}) {
    EXPECT_FALSE(load_machine_file(strange, "ceilings")) << strange;
  }
  EXPECT_FALSE(load_machine_file(std::string(10'000, 'a'), "ceilings"));
}

TEST_F(MachineFiles, AnotherMachinesFileIsRefused) {
  save_machine_file("abc", "ceilings", {{"fma", 2}});
  std::filesystem::rename(folder_.path() + "/abc", folder_.path() + "/xyz");
  EXPECT_THAT([] { load_machine_file("xyz", "ceilings"); },
              ThrowsMessage<UserError>(HasSubstr("it says \"abc\", this is \"xyz\"")));
}

TEST_F(MachineFiles, GarbageIsNamed) {
  const auto path = save_machine_file("abc", "ceilings", {{"fma", 2}});
  write_file_atomically(path, "[1, 2");
  EXPECT_THAT([] { load_machine_file("abc", "ceilings"); },
              ThrowsMessage<UserError>(HasSubstr("ceilings.json")));
  write_file_atomically(path, "[1, 2]");
  EXPECT_THROW(load_machine_file("abc", "ceilings"), UserError);
}

TEST_F(MachineFiles, AFolderThatCannotBeMadeIsNamed) {
  write_file_atomically(folder_.path() + "/abc", "a file in the way");
  EXPECT_THAT([] { save_machine_file("abc", "ceilings", Json::object()); },
              ThrowsMessage<UserError>(HasSubstr("abc/ceilings.json")));
}

}  // namespace
}  // namespace assay
