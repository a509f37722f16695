// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace assay::cli {

// While one lives, the first Ctrl-C or SIGTERM ends the text that is being said, where it is; the
// second everything.
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

// While the one that there is lives, Ctrl-C ends nothing but the wait for a line.
class InterruptedLine {
 public:
  InterruptedLine();
  ~InterruptedLine();
  InterruptedLine(const InterruptedLine&) = delete;
  InterruptedLine& operator=(const InterruptedLine&) = delete;

  // Until standard input has something to read, or is at its end; false: Ctrl-C came first.
  bool wait() const;

 private:
  int from_ = -1, to_ = -1;  // a pipe, which the handler writes to
};

}  // namespace assay::cli
