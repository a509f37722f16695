// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace assay::cli {

// While one lives, the first Ctrl-C or SIGTERM ends the text that is being said, where it is; the
// second, and any behind its life, everything.
class InterruptedText {
 public:
  InterruptedText();
  ~InterruptedText();
  InterruptedText(const InterruptedText&) = delete;
  InterruptedText& operator=(const InterruptedText&) = delete;

  bool is_interrupted() const;
  // By SIGTERM: nothing is to follow.
  bool ends_program() const;
};

// While one lives, Ctrl-C makes the system call that waits for a line fail.
class InterruptedLine {
 public:
  InterruptedLine();
  ~InterruptedLine();
  InterruptedLine(const InterruptedLine&) = delete;
  InterruptedLine& operator=(const InterruptedLine&) = delete;

  // Whether that happened since it was last asked.
  bool take() const;
};

}  // namespace assay::cli
