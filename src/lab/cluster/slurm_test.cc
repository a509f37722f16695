// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/cluster/slurm.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "lab/cluster/slurm_waits.h"

namespace assay::lab {
namespace {

TEST(SlurmTime, IsReadAsSlurmReadsIt) {
  EXPECT_EQ(slurm_time_s("90"), 5400);
  EXPECT_EQ(slurm_time_s("90:30"), 5430);
  EXPECT_EQ(slurm_time_s("1:30:05"), 5405);
  EXPECT_EQ(slurm_time_s("2-0"), 172800);
  EXPECT_EQ(slurm_time_s("2-12"), 216000);
  EXPECT_EQ(slurm_time_s("2-12:30"), 217800);
}

TEST(SlurmTime, OtherTextsAreRefused) {
  for (const char* text : {"", "0", "-1", "1h", "1:2:3:4", "1-", "-", "10m", "1:", ":1"}) {
    EXPECT_THROW(slurm_time_s(text), UserError) << text;
  }
}

TEST(ShellQuoted, IsOneWordWhateverIsInIt) {
  for (const std::string text : {"a b", "it's", "$(false)`x`", "a\nb\t\\", "%a*?", "", "'"}) {
    ProcessSpec spec;
    spec.argv = {"sh", "-c", "printf %s " + shell_quoted(text)};
    EXPECT_EQ(run_process(spec).stdout_text, text);
  }
}

TEST(ShellNeedsFolder, EndsWithAStatusOfItsOwn) {
  const TemporaryDirectory folder("assay test's ");
  const auto ends_with = [](const std::string& needed, const std::string& before) {
    ProcessSpec spec;
    spec.argv = {"sh", "-c", before + shell_needs_folder(needed) + "exit 3\n"};
    return run_process(spec).exit_code;
  };
  const auto missing = folder.path() + "/a/b";
  EXPECT_EQ(ends_with(folder.path(), ""), 3);
  EXPECT_EQ(ends_with(missing, ""), kFolderUnseen);
  // One that comes into sight.
  EXPECT_EQ(ends_with(missing, "(sleep 0.3; mkdir -p " + shell_quoted(missing) + ") &\n"), 3);
}

TEST(SlurmOptions, AreReadAsWritten) {
  const SlurmOptions options = {"p", "a", "1:00", "c&d", 3, 2, {"n1", "n2"}};
  const auto json = slurm_options_to_json(options);
  EXPECT_EQ(slurm_options_to_json(slurm_options_from_json(json, "test")), json);
}

TEST(SlurmJobs, StatesThatMayComeToAnEndAreActive) {
  EXPECT_TRUE(is_active({"1", 0, "", "PENDING"}));
  EXPECT_TRUE(is_active({"1", 0, "", "COMPLETING"}));
  EXPECT_FALSE(is_active({"1", 0, "", "CANCELLED"}));
  EXPECT_FALSE(is_active({"1", 0, "", "NODE_FAIL"}));
}

TEST(SlurmJobs, ThoseThatSlurmWillNeverStartWereRefused) {
  EXPECT_TRUE(was_refused({"1", 0, "", "FAILED", "BadConstraints"}));
  EXPECT_FALSE(was_refused({"1", 0, "", "PENDING", "BadConstraints"}));  // a node may come
  EXPECT_FALSE(was_refused({"1", 0, "", "FAILED", "NonZeroExitCode"}));
}

TEST(SlurmWaits, TellsEachReasonOnceInAWhile) {
  constexpr std::int64_t kMinute = 60'000'000'000;
  const std::vector<SlurmJob> down = {{"7", 0, "", "PENDING", "PartitionDown"}},
                              far = {{"7", 0, "", "PENDING", "PartitionTimeLimit"}},
                              soon = {{"7", 0, "", "PENDING", "Priority"}};
  SlurmWaits waits;
  EXPECT_FALSE(waits.news(soon, 0));
  EXPECT_NE(waits.news(down, 0).value_or("").find("PartitionDown"), std::string::npos);
  EXPECT_FALSE(waits.news(down, 9 * kMinute));
  EXPECT_TRUE(waits.news(far, 9 * kMinute));
  EXPECT_TRUE(waits.news(down, 10 * kMinute));
  EXPECT_FALSE(waits.news(down, 11 * kMinute));
}

TEST(SlurmOptions, AreShownAsTheyWereTyped) {
  const SlurmOptions options = {"p", "", "", "c&d", 3, 2, {"n1"}};
  EXPECT_EQ(placement_typed(options), "--partition=p --constraint=c&d --gpus-per-node=2");
  EXPECT_EQ(placement_typed({}), "");
}

}  // namespace
}  // namespace assay::lab
