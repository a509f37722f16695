// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A program run from start to end, and what it cost (launcher.h runs it). It stands in a session of
// its own: it has no terminal to read from, and whatever it leaves running is killed with it.

#include <optional>
#include <string>
#include <vector>

namespace assay::cases::own {

struct CommandSpec {
  std::vector<std::string> argv;     // argv[0] is looked up in PATH unless it has a slash
  std::string working_directory;     // empty: ours
  std::string input = "/dev/null";   // files are relative to the working directory
  std::string output = "/dev/null";  // of what it prints; truncated. kThroughPipe: read, not kept
  std::string errors = "/dev/null";  // a file to look into afterwards; truncated
};

struct CommandTimes {
  int start_errno = 0;              // not 0: it could not be started, and nothing else is known
  std::string missing;              // then: for want of what
  std::optional<int> exit_code;     // it ended by itself
  std::optional<int> signal;        // or was ended
  double wall_s = 0;                // from before it was started until it was gone
  double user_s = 0, system_s = 0;  // of it and of all that it waited for
  double peak_bytes = 0;            // of its resident memory, at most
  int leftovers = 0;                // processes that outlived it and were killed
};

// The last line of a file that is not blank, at most 500 bytes of it; empty where there is none.
std::string last_line(const std::string& path);

// How a command that did not end well ended: "exit status 3", "signal 11 (Segmentation fault)",
// "cannot be started: 'x': No such file or directory". Empty for exit status 0.
std::string failure_of(const CommandTimes& times);

}  // namespace assay::cases::own
