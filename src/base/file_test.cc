// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/error.h"

namespace assay {
namespace {

TEST(TemporaryDirectory, OnlyWhatNobodyHoldsIsAbandoned) {
  const TemporaryDirectory scratch;
  ::setenv("TMPDIR", scratch.path().c_str(), 1);
  std::filesystem::create_directories(scratch.path() + "/sweep-aaaaaa/full");
  std::filesystem::create_directories(scratch.path() + "/sweep-longer-aaaaaa");
  std::filesystem::create_symlink("/", scratch.path() + "/sweep-bbbbbb");
  {
    const TemporaryDirectory held("sweep");
    EXPECT_EQ(remove_abandoned_directories("sweep"), 1);
    EXPECT_TRUE(std::filesystem::exists(held.path()));
  }
  ::unsetenv("TMPDIR");
  EXPECT_FALSE(std::filesystem::exists(scratch.path() + "/sweep-aaaaaa"));
  EXPECT_TRUE(std::filesystem::exists(scratch.path() + "/sweep-longer-aaaaaa"));
  EXPECT_TRUE(std::filesystem::is_symlink(scratch.path() + "/sweep-bbbbbb"));
}

TEST(File, AtomicWriteReplacesWholeContent) {
  const TemporaryDirectory dir;
  const auto path = dir.path() + "/f";
  write_file_atomically(path, "first, and longer");
  write_file_atomically(path, "second");
  EXPECT_EQ(read_file(path), "second");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1);
}

TEST(File, FailedWriteLeavesTheOldContentAndNoDebris) {
  const TemporaryDirectory dir;
  EXPECT_THAT([&] { write_file_atomically(dir.path() + "/missing/f", "x"); },
              testing::ThrowsMessage<UserError>(testing::HasSubstr("/missing/f")));
  EXPECT_THAT([] { write_file_atomically("/dev/full", "x"); },
              testing::ThrowsMessage<DiskError>(testing::HasSubstr("No space left")));
  EXPECT_THROW(fail_to_write("write", "x", EROFS), DiskError);
  try {
    fail_to_write("write", "x", EACCES);
  } catch (const DiskError&) {
    ADD_FAILURE() << "no fault of the disk's";
  } catch (const UserError&) {
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(File, ErrorsNameThePath) {
  EXPECT_THAT([] { read_file("/nowhere/at/all"); },
              testing::ThrowsMessage<UserError>(testing::HasSubstr("'/nowhere/at/all'")));
  EXPECT_THROW(MappedFile("/"), UserError);
}

// The system would take what stands before it for the path.
TEST(File, PathsHaveNoNulCharacters) {
  const TemporaryDirectory dir;
  const auto plain = dir.path() + "/plain";
  const auto with_nul = plain + '\0' + "more";
  write_file_atomically(plain, "as it was");
  const auto refused = testing::ThrowsMessage<UserError>(testing::HasSubstr("plain\\x00more"));
  EXPECT_THAT([&] { read_file(with_nul); }, refused);
  EXPECT_THAT([&] { MappedFile{with_nul}; }, refused);
  EXPECT_THAT([&] { write_file_atomically(with_nul, "other"); }, refused);
  EXPECT_THAT([&] { make_directories(with_nul); }, refused);
  EXPECT_THAT([&] { FileLock::try_acquire(with_nul); }, refused);
  EXPECT_EQ(read_file(plain), "as it was");
}

TEST(File, APipeThatNobodyWritesToIsRefusedAtOnce) {
  const TemporaryDirectory dir;
  const auto path = dir.path() + "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT([&] { MappedFile mapped(path); },
              testing::ThrowsMessage<UserError>(testing::HasSubstr("not a regular file")));
}

TEST(File, MapsContentAndEmptyFiles) {
  const TemporaryDirectory dir;
  write_file_atomically(dir.path() + "/a", "abc");
  write_file_atomically(dir.path() + "/empty", "");
  EXPECT_EQ(MappedFile(dir.path() + "/a").text(), "abc");
  EXPECT_TRUE(MappedFile(dir.path() + "/empty").bytes().empty());
}

TEST(File, LockExcludesOtherProcessesUntilTheyEnd) {
  const TemporaryDirectory dir;
  const auto path = dir.path() + "/lock";
  int ready[2], finish[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(finish), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto held = FileLock::try_acquire(path);
    char byte = held ? 'y' : 'n';
    if (write(ready[1], &byte, 1) != 1) _exit(1);
    if (read(finish[0], &byte, 1) != 1) _exit(1);
    _exit(0);  // without unlocking
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  EXPECT_FALSE(FileLock::try_acquire(path));
  ASSERT_EQ(write(finish[1], "x", 1), 1);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(FileLock::try_acquire(path));
}

}  // namespace
}  // namespace assay
