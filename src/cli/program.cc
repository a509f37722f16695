// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupted.h"
#include "base/text.h"
#include "cli/build_commit.h"
#include "cli/commands.h"
#include "lab/run/provenance.h"

namespace assay::cli {
namespace {

int complain(const std::exception& e, int status) {
  // A message may quote a file that is anyone's: one line, and nothing that moves the cursor.
  std::fprintf(stderr, "assay: %s\n", printable(e.what()).c_str());
  return status;
}

constexpr const char* kNotPrinted = "cannot write to standard output";
constexpr const char* kNoMemory = "not enough memory for what was asked";

// Where memory ends while memory is being given back (a large JSON value allocates to be
// destroyed), nothing can be caught any more; the status can still be the right one.
std::terminate_handler usual_end = nullptr;

void end_without_memory() {
  try {
    if (const auto error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "assay: %s\n", kNoMemory);
    std::_Exit(kEnvironmentRefused);
  } catch (...) {
  }
  usual_end();
}

// Whoever read our output has stopped. (What was lost on an earlier flush shows in the stream's
// state only, without the reason: so the pipe itself is asked.)
bool output_closed() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

// The command's status; that of a closed output where what it printed did not arrive.
int finish_output(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  if (output_closed()) return kOutputClosed;
  fail("{}", kNotPrinted);
}

}  // namespace

std::string version_line() {
  return fmt::format("assay {} (commit {}{})", lab::version(),
                     std::string_view(kBuildCommit.commit).substr(0, 12),
                     kBuildCommit.dirty ? ", with uncommitted changes" : "");
}

int run_program(int argc, char** argv, const std::function<int(const Command&)>& serve,
                const std::function<std::string(const std::string&)>& as_typed) {
  // A run goes on when nobody reads what it prints; `assay list | head` ends with a status of its
  // own.
  signal(SIGPIPE, SIG_IGN);
  usual_end = std::set_terminate(end_without_memory);
  try {
    const auto parsed = parse_arguments(argc, argv, version_line(), as_typed);
    const int* const answered = std::get_if<int>(&parsed);
    const int status = answered != nullptr ? *answered : serve(std::get<Command>(parsed));
    return finish_output(status);
  } catch (const Interrupted& e) {
    return complain(e, kInterrupted);
  } catch (const EnvironmentError& e) {
    return complain(e, kEnvironmentRefused);
  } catch (const UserError& e) {
    return complain(e, kBadInput);
  } catch (const std::bad_alloc&) {
    return complain(EnvironmentError(kNoMemory), kEnvironmentRefused);
  } catch (const std::system_error& e) {
    if (e.code().value() == EPIPE) return kOutputClosed;
    // Of a disk that is full in the middle of a long text.
    if (std::ferror(stdout) != 0) return complain(UserError(kNotPrinted), kBadInput);
    return complain(e, kBug);
  } catch (const std::exception& e) {
    return complain(e, kBug);  // a bug of ours; the message says where
  }
}

std::vector<std::string> sources_or_default(const std::vector<std::string>& sources) {
  return sources.empty() ? std::vector<std::string>{"results"} : sources;
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const auto& warning : warnings) std::fputs(("warning: " + warning + "\n").c_str(), stderr);
}

void print(const std::string& text) { std::fputs(text.c_str(), stdout); }

void put_text(const std::string& out, const std::string& text) {
  if (out.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
  } else {
    write_file_atomically(out, text);
  }
}

}  // namespace assay::cli
