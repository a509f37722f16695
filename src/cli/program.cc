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
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupted.h"
#include "base/json.h"
#include "base/password.h"
#include "base/text.h"
#include "cli/build_commit.h"
#include "cli/commands.h"
#include "lab/run/disk_ends_run.h"
#include "lab/run/provenance.h"

namespace assay::cli {
namespace {

// Whether errors are for a program that started this one (docs/exits.md). What this one starts in
// turn is not asked for them.
bool errors_as_json() {
  const char* asked = std::getenv("ASSAY_ERRORS");
  const bool as_json = asked != nullptr && asked == std::string_view("json");
  ::unsetenv("ASSAY_ERRORS");
  return as_json;
}

class Complaints {
 public:
  explicit Complaints(bool as_json) : as_json_(as_json) {}
  // Prints the message and returns the status.
  int operator()(const std::exception& e, int status, const char* kind) const {
    // A message may quote a file that is anyone's: one line, and nothing that moves the cursor; and
    // words that were mistyped, passwords among them.
    auto line = without_passwords(printable(e.what()));
    line = as_json_ ? canonical_json({{"kind", kind}, {"message", line}}) : "assay: " + line;
    std::fprintf(stderr, "%s\n", line.c_str());
    return status;
  }

 private:
  bool as_json_;
};

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
  signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit of a file's size is an error like any other
  usual_end = std::set_terminate(end_without_memory);
  const Complaints complain(errors_as_json());
  try {
    const auto parsed = parse_arguments(argc, argv, version_line(), as_typed);
    const int* const answered = std::get_if<int>(&parsed);
    const int status = answered != nullptr ? *answered : serve(std::get<Command>(parsed));
    return finish_output(status);
  } catch (const Interrupted& e) {
    return complain(e, kInterrupted, "interrupted");
  } catch (const lab::DiskEndsRun& e) {
    return complain(e, kEnvironmentRefused, "disk");
  } catch (const EnvironmentError& e) {
    return complain(e, kEnvironmentRefused, "environment");
  } catch (const DiskError& e) {
    return complain(e, kBadInput, "disk");
  } catch (const UserError& e) {
    return complain(e, kBadInput, "input");
  } catch (const std::bad_alloc&) {
    return complain(EnvironmentError(kNoMemory), kEnvironmentRefused, "environment");
  } catch (const std::filesystem::filesystem_error& e) {
    // A path that cannot be looked at: too long, in a folder that may not be entered.
    const auto said =
        fmt::format("cannot look at '{}': {}", e.path1().string(), e.code().message());
    return complain(UserError(said), kBadInput, "input");
  } catch (const std::system_error& e) {
    if (e.code().value() == EPIPE) return kOutputClosed;
    // Of a disk that is full in the middle of a long text.
    if (std::ferror(stdout) != 0) return complain(UserError(kNotPrinted), kBadInput, "disk");
    return complain(e, kBug, "bug");
  } catch (const std::exception& e) {
    return complain(e, kBug, "bug");  // the message says where
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
