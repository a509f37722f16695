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
#include "cases/own/launch_protocol.h"
#include "cases/own/launcher.h"
#include "lab/measure/workload.h"

namespace assay::cases::own {
namespace {

CommandSpec shell(const std::string& script) { return {{"sh", "-c", script}, "", "/dev/null"}; }

CommandTimes run_command(const CommandSpec& spec) { return Launcher(ASSAY_LAUNCH).run(spec); }

TEST(Command, TellsHowItEnded) {
  EXPECT_EQ(run_command(shell("exit 0")).exit_code, 0);
  EXPECT_EQ(failure_of(run_command(shell("exit 3"))), "exit status 3");
  EXPECT_EQ(run_command(shell("kill -SEGV $$")).signal, SIGSEGV);
  const CommandSpec missing{{"/nonexistent/program"}};
  EXPECT_EQ(failure_of(run_command(missing)),
            "cannot be started: '/nonexistent/program': No such file or directory");
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

// The peak is the program's, whatever we hold ourselves.
TEST(Command, IsNotChargedForOurMemory) {
  std::vector<char> ours(64 << 20, 1);
  const auto times = run_command({{"true"}});
  EXPECT_GT(times.peak_bytes, 1e4);
  EXPECT_LT(times.peak_bytes, 16e6) << ours.size();
}

TEST(Command, SaysWhatIsMissing) {
  const TemporaryDirectory folder;
  auto spec = shell("true");
  spec.input = folder.path() + "/none";
  EXPECT_EQ(failure_of(run_command(spec)),
            "cannot be started: input '" + spec.input + "': No such file or directory");
  spec = shell("true");
  spec.output = "/nonexistent/out";
  EXPECT_NE(failure_of(run_command(spec)).find("output '/nonexistent/out'"), std::string::npos);
  spec = shell("true");
  spec.working_directory = "/nonexistent";
  EXPECT_NE(failure_of(run_command(spec)).find("folder '/nonexistent'"), std::string::npos);
}

TEST(Command, PrintsIntoAPipeThatIsRead) {
  auto spec = shell("if [ -p /dev/stdout ]; then head -c 3000000 /dev/zero; else exit 3; fi");
  spec.output = kThroughPipe;
  EXPECT_EQ(failure_of(run_command(spec)), "");
  // Whoever keeps the pipe open is not waited for.
  spec = shell("sleep 1000 & exit 0");
  spec.output = kThroughPipe;
  EXPECT_EQ(run_command(spec).leftovers, 1);
}

TEST(Launcher, ServesManyAndKeepsWhatASetUpStarts) {
  const TemporaryDirectory folder;
  Launcher launcher(ASSAY_LAUNCH);
  auto server = shell("sleep 1000 & echo $!");
  server.output = folder.path() + "/pid";
  EXPECT_EQ(failure_of(launcher.run(server, true)), "");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(failure_of(launcher.run(shell("sleep 1000 & true"))), "");
  EXPECT_EQ(failure_of(launcher.run(shell("kill -0 " + read_file(server.output)))), "");
}

TEST(Launcher, ThatIsMissingOrGoneIsSaid) {
  EXPECT_THROW(Launcher("/nonexistent/assay-launch"), lab::ProviderFailure);
  Launcher launcher(ASSAY_LAUNCH);
  EXPECT_THROW(launcher.run(shell("kill -9 $PPID; sleep 1000")), lab::ProviderFailure);
  EXPECT_THROW(launcher.run(shell("true")), lab::ProviderFailure);
}

// What a command leaves in the background does not outlive it.
TEST(Command, LeavesNothingBehind) {
  const TemporaryDirectory folder;
  auto spec = shell("trap '' TERM; setsid sleep 1000 & echo $!");
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
  EXPECT_EQ(with_known_replaced("awk '{print} {n}' ${HOME}", values), "awk '{print} 5' ${HOME}");
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
