// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Test code in processes of its own.

#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <iostream>

namespace assay::lab::testing_rows {

// Starts a child that exits with what `body` returns, or with 99 when it throws.
template <typename Body>
pid_t start_child(Body body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int code = 99;
  try {
    code = body();
  } catch (const std::exception& error) {
    std::cerr << "child: " << error.what() << "\n";
  }
  ::_exit(code);
}

// Its exit code, or minus the signal that ended it.
inline int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

template <typename Body>
int in_child(Body body) {
  return wait_for(start_child(body));
}

}  // namespace assay::lab::testing_rows
