// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>

#include "base/file.h"
#include "lab/store/test_backends.h"
#include "lab/store/transfer.h"
#include "lab/testing/example_rows.h"
#include "lab/testing/forked.h"

namespace assay::lab {
namespace {

using namespace testing_rows;
using testing::IsEmpty;

// A pipe: children wait for its other end to close, so that they all start at once.
struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw std::runtime_error("pipe");
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
  UniqueFd read, write;
};

class Concurrency : public OverBackends {};
INSTANTIATE_TEST_SUITE_P(, Concurrency, kBackends, name_of_backend);

// Several writers make the store, add rows of their own one by one, and all add the same run.
TEST_P(Concurrency, ManyWritersLoseNothing) {
  constexpr int kWriters = 5, kRounds = 12;
  const auto path = url_of("sub/assay.db");
  const auto shared = example_run("shared", kRounds);
  Pipe start;
  std::vector<pid_t> children;
  for (int writer = 0; writer < kWriters; ++writer) {
    children.push_back(start_child([&] {
      start.write.reset();
      char byte;
      if (::read(start.read.get(), &byte, 1) != 0) return 1;
      const auto own = example_run(fmt::format("r{}", writer), kRounds);
      for (std::size_t i = 0; i < own.size(); ++i) {
        const auto store = std::make_unique<Store>(path, Access::kCreate);
        const std::vector<std::string> lines = {row_to_line(own[i]), row_to_line(shared[i])};
        ingest_lines(*store, lines, "test");
      }
      return 0;
    }));
  }
  start.write.reset();
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  const auto store = std::make_unique<Store>(path, Access::kRead);
  EXPECT_THAT(store->verify(), IsEmpty());
  EXPECT_EQ(export_run(*store, "shared"), journal_text(shared));
  for (int writer = 0; writer < kWriters; ++writer) {
    const auto name = fmt::format("r{}", writer);
    EXPECT_EQ(export_run(*store, name), journal_text(example_run(name, kRounds)));
  }
}

TEST_P(Concurrency, ReadersDuringARebuildFindEveryRow) {
  const auto path = url_of("assay.db");
  const auto rows = example_run("r", 600);
  ingest_lines(*std::make_unique<Store>(path, Access::kCreate), lines_of(rows), "test");
  Pipe over;
  const pid_t child = start_child([&] {
    over.read.reset();
    const auto store = std::make_unique<Store>(path, Access::kWrite);
    for (int i = 0; i < 4; ++i) store->rebuild();
    return 0;
  });
  over.write.reset();
  ::fcntl(over.read.get(), F_SETFL, O_NONBLOCK);
  char byte;
  int looks = 0;
  while (::read(over.read.get(), &byte, 1) != 0) {
    const auto store = std::make_unique<Store>(path, Access::kRead);
    ASSERT_EQ(export_run(*store, "r"), journal_text(rows));
    ++looks;
  }
  EXPECT_EQ(wait_for(child), 0);
  EXPECT_GT(looks, 0);
}

// A writer killed at any moment leaves whole batches: all that it had reported, at most one more.
TEST_P(Concurrency, AKilledWriterLeavesWholeBatches) {
  const auto path = url_of("assay.db");
  for (const int survived : {1, 3, 10}) {
    Pipe progress;
    const pid_t child = start_child([&] {
      const auto store = std::make_unique<Store>(path, Access::kCreate);
      for (int i = 0;; ++i) {
        const auto rows = example_run(fmt::format("{:03}-{:06}", survived, i), 5);
        ingest_lines(*store, lines_of(rows), "test");
        if (::write(progress.write.get(), "x", 1) != 1) return 1;
      }
      return 0;
    });
    for (int i = 0; i < survived; ++i) {
      char byte;
      ASSERT_EQ(::read(progress.read.get(), &byte, 1), 1);
    }
    ::kill(child, SIGKILL);
    EXPECT_EQ(wait_for(child), -SIGKILL);
    const auto store = std::make_unique<Store>(path, Access::kRead);
    EXPECT_THAT(store->verify(), IsEmpty());
    int complete = 0;
    for (const auto& run : store->runs()) {
      EXPECT_EQ(run.rows, 10);
      complete += run.run_id.starts_with(fmt::format("{:03}-", survived));
    }
    EXPECT_GE(complete, survived);
  }
}

}  // namespace
}  // namespace assay::lab
