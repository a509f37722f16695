// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// `assay transport`: the engine with its file formats and MPI, which `assay` itself does not link.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "cli/arguments/arguments.h"
#include "cli/commands.h"
#include "cli/engines/transport_commands.h"
#include "cli/engines/transport_device.h"
#include "cli/engines/transport_slurm.h"
#include "cli/program.h"
#include "transport/ranks/ranks.h"

namespace assay::cli {
namespace {

std::atomic<const char*> last_words = "interrupted\n";

// Solves take from milliseconds to hours and leave nothing to tidy up: whoever asks for the end
// gets it now. Only what a signal handler may do is done here.
void end_now(int) {
  const char* words = last_words.load();
  [[maybe_unused]] const auto n = ::write(STDERR_FILENO, words, std::strlen(words));
  ::_exit(kInterrupted);
}

sigset_t both_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

// Options typed before the name of an action are read, even if they mean nothing to it.
void refuse_unused(const TransportArguments& a) {
  using Action = TransportArguments::Action;
  const bool runs =
      a.action == Action::kRun || a.action == Action::kScan || a.action == Action::kSolve;
  const bool profiles = a.action == Action::kProfiles;
  const bool many = runs || a.action == Action::kDatabase;
  if (a.plot && !runs && !profiles) fail("'{}' draws nothing: --plot", name_of(a.action));
  if (a.strict && a.action == Action::kInspect) fail("'inspect' solves nothing: --strict");
  if (a.verbose && !runs && !profiles)
    fail("'{}' has no more to say: --verbose", name_of(a.action));
  if (a.threads && !many && !profiles)
    fail("'{}' solves one case at a time: --threads", name_of(a.action));
  if (a.batch && !many) fail("'{}' has no batches: --batch", name_of(a.action));
  if (a.device != "cpu" && !many) fail("'{}' runs on the CPU: --device", name_of(a.action));
  if (!a.normalisation.empty() && !runs) {
    fail("'{}' has one normalisation: --normalisation", name_of(a.action));
  }
  if (!a.method.empty() && a.action == Action::kInspect) fail("'inspect' solves nothing: --method");
  if (!a.output.empty() && !many && !profiles) {
    fail("'{}' writes no file: --output '{}'", name_of(a.action), a.output);
  }
}

int serve(const TransportArguments& a) {
  using Action = TransportArguments::Action;
  switch (a.action) {
    case Action::kRun:
    case Action::kScan:
    case Action::kSolve:
      return transport_run(a);
    case Action::kInspect:
      return transport_inspect(a);
    case Action::kConverge:
      return transport_converge(a);
    case Action::kDatabase:
      return transport_database(a);
    case Action::kProfiles:
      return transport_profiles(a);
  }
  throw InternalError("an action is one of its enumerators");
}

// Refused before anything is solved; started where another program has it.
void look_for_device(const TransportArguments& a, char** argv) {
  if (a.device == "cpu") return;
  if (!is_cuda(a.device)) fail("--device must be cpu or cuda, got '{}'", a.device);
  if (transport::started_by_mpi()) {
    fail("--device cuda is one process with all cases: start it without mpirun");
  }
  if (!a.accuracy.empty()) {
    fail(
        "--accuracy chooses a grid for each case, a device takes cases of one grid: leave out "
        "--device cuda");
  }
  if (!has_device()) {
    const auto program =
        (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "assay-transport-cuda")
            .string();
    ::execv(program.c_str(), argv);
    throw EnvironmentError(fmt::format(
        "this build has no CUDA: '--device cuda' needs assay-transport-cuda, which is built where "
        "nvcc 12.4 or newer is found (looked for '{}')",
        program));
  }
  const auto name = device_name();
  if (a.verbose) std::fputs((name + "\n").c_str(), stderr);
}

int dispatch(const TransportArguments& a, char** argv) {
  refuse_unused(a);
  if (is_for_slurm(a)) return transport_on_slurm(a, argv);
  look_for_device(a, argv);
  using Action = TransportArguments::Action;
  const bool one_piece = a.action == Action::kInspect || a.action == Action::kConverge ||
                         a.action == Action::kProfiles;
  if (!one_piece) return serve(a);
  // One piece of work is done by one of mpirun's ranks, and is one answer.
  return over_ranks([&](transport::Ranks* ranks) {
    return ranks == nullptr || ranks->rank() == 0 ? serve(a) : static_cast<int>(kFine);
  });
}

}  // namespace

void say_when_interrupted(const char* words) { last_words = words; }

Uninterrupted::Uninterrupted() {
  const auto set = both_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}
Uninterrupted::~Uninterrupted() {
  const auto set = both_signals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace assay::cli

int main(int argc, char** argv) {
  using namespace assay::cli;
  signal(SIGINT, end_now);
  signal(SIGTERM, end_now);
  return run_program(argc, argv, [argv](const Command& command) {
    const auto* arguments = std::get_if<TransportArguments>(&command);
    if (arguments == nullptr) assay::fail("this program serves 'assay transport' only");
    return dispatch(*arguments, argv);
  });
}
