// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "base/file.h"
#include "cases/own/command.h"
#include "lab/measure/workload.h"

namespace assay::cases::own {

// A small process that starts programs for us (launch_main.cc), so that their peak of memory is
// their own and the clock is next to them. It ends with this object, and kills what was left.
class Launcher {
 public:
  // Starts it. Throws lab::ProviderFailure (env_missing, launcher_missing).
  explicit Launcher(const std::string& program);
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher();

  // Waits for the program itself, then kills all that it left running, wherever that went; with
  // `keeps_children` that lives until the launcher ends. Throws lab::ProviderFailure (failed,
  // launcher_gone) when somebody has killed the launcher.
  CommandTimes run(const CommandSpec& spec, bool keeps_children = false);

 private:
  UniqueFd socket_;
  pid_t process_ = -1;
};

// What a command that did not end well is to the attempt (failure_of is not empty), with the last
// line of what it had to say.
lab::ProviderFailure failed_command(const CommandTimes& times, const std::string& errors_file);

// Where assay-launch is: beside the running program, or where an installation has it.
std::string launcher_program();

}  // namespace assay::cases::own
