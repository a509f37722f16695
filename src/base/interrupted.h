// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace assay {

// Somebody wants the program to end (Ctrl-C, SIGTERM) while it waits, and there is nothing to
// return: exit status 130. The message says what was waited for. Neither bad input nor a bug.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace assay
