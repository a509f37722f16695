// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/command.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "cases/own/command_words.h"
#include "cases/own/guarded_tensor.h"

namespace assay::cases::own {
namespace {

CommandSpec shell(const std::string& script) { return {{"sh", "-c", script}, "", "/dev/null"}; }

TEST(Command, TellsHowItEnded) {
  EXPECT_EQ(run_command(shell("exit 0")).exit_code, 0);
  EXPECT_EQ(failure_of(run_command(shell("exit 3"))), "exit status 3");
  EXPECT_EQ(run_command(shell("kill -SEGV $$")).signal, SIGSEGV);
  const CommandSpec missing{{"/nonexistent/program"}};
  EXPECT_EQ(failure_of(run_command(missing)), "cannot be started: No such file or directory");
}

TEST(Command, CountsItsTime) {
  const auto times = run_command(shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"));
  EXPECT_GT(times.user_s + times.system_s, 0);
  EXPECT_GE(times.wall_s, 0.5 * (times.user_s + times.system_s));
  EXPECT_GT(times.peak_bytes, 1e5);
}

TEST(Command, HasNoTerminalAndNoInput) {
  const TemporaryDirectory folder;
  auto spec = shell("if read line; then exit 1; fi; if (: </dev/tty) 2>/dev/null; then exit 2; fi");
  spec.errors = folder.path() + "/errors";
  EXPECT_EQ(failure_of(run_command(spec)), "") << last_line(spec.errors);
}

TEST(Command, RunsWhereItIsTold) {
  const TemporaryDirectory folder;
  auto spec = shell("pwd; echo one >&2; echo two >&2; echo >&2");
  spec.working_directory = folder.path();
  spec.output = folder.path() + "/printed";
  spec.errors = folder.path() + "/errors";
  EXPECT_EQ(run_command(spec).exit_code, 0);
  EXPECT_EQ(read_file(spec.output), folder.path() + "\n");
  EXPECT_EQ(last_line(spec.errors), "two");
  EXPECT_EQ(last_line(folder.path() + "/none"), "");
}

// What a command leaves in the background does not outlive it.
TEST(Command, LeavesNothingBehind) {
  const TemporaryDirectory folder;
  auto spec = shell("trap '' TERM; sleep 1000 & echo $!");
  spec.output = folder.path() + "/pid";
  EXPECT_EQ(run_command(spec).exit_code, 0);
  const int pid = std::stoi(read_file(spec.output));
  const auto until = monotonic_ns() + 20'000'000'000;
  const auto is_alive = [&] {
    const auto stat = read_small_file(fmt::format("/proc/{}/stat", pid));
    return stat && stat->find(") Z ") == std::string::npos;  // a zombie waits for its reaper
  };
  while (is_alive() && monotonic_ns() < until) ::usleep(1000);
  EXPECT_FALSE(is_alive());
}

TEST(CommandWords, ReplacesNames) {
  const std::map<std::string, std::string> values = {{"n", "5"}, {"x", "/a/x.npy"}};
  EXPECT_EQ(with_words_replaced("--n={n}{n}", values), "--n=55");
  EXPECT_EQ(with_words_replaced("{\"k\": {n}} {} {", values), "{\"k\": 5} {} {");
  EXPECT_THROW(with_words_replaced("{m}", values), UserError);
}

TEST(GuardedTensor, MarksWhatLiesAround) {
  for (const std::int64_t n : {1, 15, 16, 17, 1000, 1024, 100'000}) {
    GuardedTensor tensor(DType::kF32, Shape({n}));
    tensor.poison();
    EXPECT_TRUE(tensor.is_intact()) << n;
    auto* const bytes = static_cast<std::byte*>(tensor.mutable_view().raw_data());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes) % 64, 0u);
    if (n % 16 != 0) {
      bytes[4 * n] = std::byte{0};
      EXPECT_FALSE(tensor.is_intact()) << n;
    }
  }
}

TEST(GuardedTensorDeathTest, EndsWhereItsPagesEnd) {
  GuardedTensor tensor(DType::kF32, Shape({1024}));
  auto* const values = tensor.mutable_view().data<float>();
  EXPECT_DEATH(const_cast<volatile float*>(values)[1024] = 1, "");
  tensor.protect(true);
  EXPECT_DEATH(const_cast<volatile float*>(values)[0] = 1, "");
}

}  // namespace
}  // namespace assay::cases::own
