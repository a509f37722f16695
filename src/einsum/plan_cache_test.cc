// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/plan/plan_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "einsum/einsum.h"
#include "einsum/testing/example_operands.h"
#include "tensor/fill.h"

namespace assay::einsum {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(PlanCache, IsBoundedAndCounts) {
  Engine engine({.cached_plans = 3});
  const auto a = filled(DType::kF32, Shape({4, 4}), 1);
  for (int i = 0; i < 2; ++i) engine.einsum("ij,jk->ik", {a.view(), a.view()});
  EXPECT_EQ(engine.plan_statistics().hits, 1);
  EXPECT_EQ(engine.plan_statistics().misses, 1);
  for (const char* e : {"ij->i", "ij->j", "ij->ji"}) engine.einsum(e, {a.view()});
  EXPECT_EQ(engine.plan_statistics().evictions, 1);
  EXPECT_EQ(engine.plan_statistics().entries, 3);
  engine.einsum("ij,jk->ik", {a.view(), a.view()});
  EXPECT_EQ(engine.plan_statistics().hits, 1) << "it was forgotten";
  // Where an operand begins makes no difference.
  const auto whole = filled(DType::kF32, Shape({5, 4}), 1);
  const auto inside = whole.view().slice(0, 1, 5);
  engine.einsum("ij,jk->ik", {inside, inside});
  EXPECT_EQ(engine.plan_statistics().hits, 2);
  // Other strides are another plan, another spelling shares the order of contractions.
  engine.einsum("ij,jk,kl->il", {a.view(), a.view(), a.view()});
  engine.einsum("xy,yz,zw->xw", {a.view(), a.view().transpose(), a.view()});
  EXPECT_EQ(engine.path_statistics().hits, 1);
}

TEST(PlanCache, OrdersPersistAndDamageIsLeftOut) {
  const TemporaryDirectory folder;
  const auto file = folder.path() + "/paths";
  const auto network = planner_table()[6];
  const auto tensors = operands_of(network.expression, network.extents);
  {
    Engine engine({.path_file = file});
    engine.einsum(network.expression, views_of(tensors));
    engine.save_paths();
  }
  {
    Engine engine({.path_file = file});
    engine.load_paths();
    engine.einsum(network.expression, views_of(tensors));
    EXPECT_EQ(engine.path_statistics().hits, 1);
  }
  const auto content = read_file(file);
  PathCache cache(10);
  for (std::size_t cut = 0; cut < content.size(); cut += 7) {  // torn anywhere
    write_file_atomically(file, content.substr(0, cut));
    EXPECT_EQ(load_paths(file, cache).loaded, 0);
  }
  auto changed = content;
  changed[20] ^= 1;
  write_file_atomically(file, changed + content);
  const auto report = load_paths(file, cache);
  EXPECT_EQ(report.loaded, 1);
  EXPECT_EQ(report.damaged, 1);
}

TEST(PlanCache, SurvivesAWriterThatIsKilled) {
  const TemporaryDirectory folder;
  const auto file = folder.path() + "/paths";
  PathCache cache(100000);
  for (int i = 0; i < 2000; ++i) {
    cache.insert("key" + std::to_string(i),
                 std::make_shared<const PathReport>(
                     PathReport{"exact", 1.0 * i, 0, true, Tree{{{0, 1}, {2, 3}}}}));
  }
  save_paths(file, cache, 100000);
  // Beside the file, a new one is there while it is written: a kill that leaves one behind came in
  // the middle.
  const auto entries = [&] {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      if (entry.path() != file) found.push_back(entry.path());
    }
    return found;
  };
  int interrupted = 0;
  for (int round = 0; round < 500 && interrupted < 3; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      while (true) save_paths(file, cache, 100000);
    }
    while (entries().empty()) {
    }
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    const auto left = entries();
    interrupted += left.empty() ? 0 : 1;
    for (const auto& path : left) std::filesystem::remove(path);
    PathCache read(100000);
    const auto report = load_paths(file, read);
    EXPECT_EQ(report.loaded, 2000);
    EXPECT_EQ(report.damaged, 0);
  }
  EXPECT_EQ(interrupted, 3);
}

}  // namespace
}  // namespace assay::einsum
