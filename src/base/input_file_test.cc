// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/input_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/toml.h"

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(InputFile, ReadsUpToTheLimit) {
  const TemporaryDirectory folder;
  const auto path = folder.path() + "/f";
  write_file_atomically(path, "abc");
  EXPECT_EQ(read_input_file(path), "abc");
  std::filesystem::resize_file(path, kLargestInputFile);
  EXPECT_EQ(read_input_file(path).size(), kLargestInputFile);
  std::filesystem::resize_file(path, kLargestInputFile + 1);
  EXPECT_THAT([&] { read_input_file(path); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("64.00 MiB"), HasSubstr(path))));
}

TEST(InputFile, IsReadByPiecesAsOftenAsOneLikes) {
  const TemporaryDirectory folder;
  const auto path = folder.path() + "/f";
  std::string content;
  for (int i = 0; i < 50'000; ++i) content += std::to_string(i);
  write_file_atomically(path, content);
  InputFile file(path, content.size());
  const auto read = [&] {
    std::string all;
    int pieces = 0;
    for (auto piece = file.piece(0); !piece.empty(); piece = file.piece(all.size())) {
      all += piece;
      ++pieces;
    }
    EXPECT_GT(pieces, 1);
    return all;
  };
  EXPECT_EQ(read(), content);
  EXPECT_EQ(read(), content);
  EXPECT_THAT([&] { InputFile(path, content.size() - 1); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("larger than"), HasSubstr(path))));
  // What would be another text the second time is refused.
  std::filesystem::resize_file(path, content.size() - 1);
  EXPECT_THAT(read, ThrowsMessage<UserError>("changed while it was read: '" + path + "'"));
}

TEST(InputFile, RefusesWhatHasNoEnd) {
  const TemporaryDirectory folder;
  const auto pipe = folder.path() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {std::string("/dev/zero"), pipe, folder.path()}) {
    const auto refusal = ThrowsMessage<UserError>("not a regular file: '" + path + "'");
    EXPECT_THAT([&] { read_input_file(path); }, refusal);
    EXPECT_THAT([&] { TomlTable::read(path); }, refusal);
    EXPECT_THAT([&] { read_json_file(path); }, refusal);
  }
  EXPECT_THAT([] { read_input_file("/nowhere/at/all"); },
              ThrowsMessage<UserError>(HasSubstr("'/nowhere/at/all'")));
}

}  // namespace
}  // namespace assay
