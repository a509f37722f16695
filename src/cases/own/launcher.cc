// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/launcher.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <filesystem>

#include "base/error.h"
#include "cases/own/launch_protocol.h"

extern char** environ;

namespace assay::cases::own {
namespace {

using lab::ProviderFailure;
using lab::Status;

bool send_all(int socket, const char* bytes, std::size_t count) {
  for (std::size_t done = 0; done < count;) {
    const auto n = ::send(socket, bytes + done, count - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

bool receive_all(int socket, void* to, std::size_t count) {
  for (std::size_t done = 0; done < count;) {
    const auto n = ::recv(socket, static_cast<char*>(to) + done, count - done, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

std::string what_is_missing(LaunchStep step, const CommandSpec& spec) {
  switch (step) {
    case LaunchStep::kFolder:
      return fmt::format("folder '{}'", spec.working_directory);
    case LaunchStep::kInput:
      return fmt::format("input '{}'", spec.input);
    case LaunchStep::kOutput:
      return fmt::format("output '{}'", spec.output);
    case LaunchStep::kErrors:
      return fmt::format("errors '{}'", spec.errors);
    case LaunchStep::kProgram:
      break;
  }
  return fmt::format("'{}'", spec.argv.front());
}

}  // namespace

lab::ProviderFailure failed_command(const CommandTimes& times, const std::string& errors_file) {
  const auto said = last_line(errors_file);
  const auto message =
      said.empty() ? failure_of(times) : fmt::format("{}: {}", failure_of(times), said);
  if (times.start_errno != 0) return {lab::Status::kEnvMissing, "command_missing", message};
  return {lab::Status::kFailed, times.signal ? "signal" : "exit_code", message};
}

std::string launcher_program() {
  constexpr const char* kName = "assay-launch";
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto installed = folder / "../libexec/assay" / kName;
  std::error_code error;
  return (std::filesystem::exists(installed, error) ? installed : folder / kName)
      .lexically_normal()
      .string();
}

Launcher::Launcher(const std::string& program) {
  int ends[2] = {-1, -1};
  check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "a socket can be made");
  socket_ = UniqueFd(ends[0]);
  UniqueFd theirs(ends[1]);
  // A descriptor copied onto itself would stay closed-on-exec: not so since glibc 2.29.
  posix_spawn_file_actions_t actions;
  check(::posix_spawn_file_actions_init(&actions) == 0, "a process can be described");
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), kLaunchSocket);
  auto name = program;
  char* argv[] = {name.data(), nullptr};
  const int error = ::posix_spawn(&process_, name.c_str(), &actions, nullptr, argv, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw ProviderFailure(Status::kEnvMissing, "launcher_missing",
                          fmt::format("cannot start '{}': {}", program, errno_text(error)));
  }
}

Launcher::~Launcher() {
  socket_.reset();
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
}

CommandTimes Launcher::run(const CommandSpec& spec, bool keeps_children) {
  std::string words;
  const auto add = [&](const std::string& word) { words.append(word.c_str(), word.size() + 1); };
  for (const auto* word : {&spec.working_directory, &spec.input, &spec.output, &spec.errors}) {
    add(*word);
  }
  for (const auto& word : spec.argv) add(word);
  check(words.size() <= kMostLaunchBytes, "a command's words are few");
  LaunchRequest request;
  request.bytes = static_cast<std::uint32_t>(words.size());
  request.words = static_cast<std::uint32_t>(4 + spec.argv.size());
  request.keeps_children = keeps_children ? 1 : 0;
  words.insert(0, reinterpret_cast<const char*>(&request), sizeof request);
  LaunchReply reply;
  if (!send_all(socket_.get(), words.data(), words.size()) ||
      !receive_all(socket_.get(), &reply, sizeof reply)) {
    throw ProviderFailure(Status::kFailed, "launcher_gone",
                          "the process that starts the command (assay-launch) is gone");
  }
  CommandTimes times;
  times.start_errno = reply.start_errno;
  if (reply.start_errno != 0) {
    times.missing = what_is_missing(reply.step, spec);
    return times;
  }
  times.wall_s = 1e-9 * static_cast<double>(reply.wall_ns);
  times.user_s = 1e-6 * static_cast<double>(reply.user_us);
  times.system_s = 1e-6 * static_cast<double>(reply.system_us);
  times.peak_bytes = 1024.0 * static_cast<double>(reply.peak_kib);
  times.leftovers = reply.leftovers;
  if (WIFEXITED(reply.status)) times.exit_code = WEXITSTATUS(reply.status);
  if (WIFSIGNALED(reply.status)) times.signal = WTERMSIG(reply.status);
  return times;
}

}  // namespace assay::cases::own
