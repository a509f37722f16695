// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <signal.h>

#include <cstdio>
#include <exception>
#include <new>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"

namespace assay::cli {
namespace {

int complain(const std::exception& e, int status) {
  // A message may quote a file that is anyone's: one line, and nothing that moves the cursor.
  std::fprintf(stderr, "assay: %s\n", printable(e.what()).c_str());
  return status;
}

void finish_output() {
  // What was lost on an earlier flush shows in the stream's state only.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    fail("cannot write to standard output");
  }
}

}  // namespace

int run_program(int argc, char** argv, const std::function<int(const Command&)>& serve) {
  signal(SIGPIPE, SIG_IGN);  // `assay list | head` ends with a write error, not a signal
  try {
    const auto parsed = parse_arguments(argc, argv);
    const int* const answered = std::get_if<int>(&parsed);
    const int status = answered != nullptr ? *answered : serve(std::get<Command>(parsed));
    finish_output();
    return status;
  } catch (const EnvironmentError& e) {
    return complain(e, kEnvironmentRefused);
  } catch (const UserError& e) {
    return complain(e, kBadInput);
  } catch (const std::bad_alloc&) {
    return complain(EnvironmentError("not enough memory for what was asked"), kEnvironmentRefused);
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
