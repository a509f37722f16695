// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A program run from start to end, and what it cost. It stands in a session of its own: it has no
// terminal to read from, and whatever it leaves running is killed with it.

#include <optional>
#include <string>
#include <vector>

namespace assay::cases::own {

struct CommandSpec {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH unless it has a slash
  std::string working_directory;  // empty: ours
  std::string input = "/dev/null";
  std::string output = "/dev/null";  // of what it prints; truncated
  std::string errors = "/dev/null";  // a file to look into afterwards; truncated
};

struct CommandTimes {
  int start_errno = 0;              // not 0: it could not be started, and nothing else is known
  std::optional<int> exit_code;     // it ended by itself
  std::optional<int> signal;        // or was ended
  double wall_s = 0;                // from before it was started until it was gone
  double user_s = 0, system_s = 0;  // of it and of all that it waited for
  // Its peak of resident memory, in bytes, but never less than what this process held when it
  // started it: the system counts from before the program took our place.
  double peak_bytes = 0;
};

// Waits for the program itself, then kills what is left of its session's first process group.
CommandTimes run_command(const CommandSpec& spec);

// The last line of a file that is not blank, at most 500 bytes of it; empty where there is none.
std::string last_line(const std::string& path);

// How a command that did not end well ended: "exit status 3", "signal 11 (Segmentation fault)",
// "cannot be started: No such file or directory". Empty for exit status 0.
std::string failure_of(const CommandTimes& times);

}  // namespace assay::cases::own
