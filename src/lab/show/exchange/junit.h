// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// JUnit XML, the form in which CI systems take results of any kind.

#include <span>
#include <string>
#include <vector>

#include "lab/beside/summary.h"

namespace assay::lab {

enum class TestOutcome { kPassed, kFailed, kError, kSkipped };

struct TestCase {
  std::string class_name, name;
  double seconds = 0;  // the time that the test is about; not finite: 0
  TestOutcome outcome = TestOutcome::kPassed;
  std::string type;     // of a failure or error: "regressed", "wrong_result"
  std::string message;  // one line: why it did not pass
  std::string details;  // more lines, for whoever opens it
};

// A document with one suite. Counts are those of the children. Whatever the texts hold, the
// document is well-formed XML 1.0 and they are text in it: control characters, direction marks and
// invalid bytes are spelled out as printable() does, in `details` line by line.
std::string junit_xml(const std::string& suite, std::span<const TestCase> cases);

// A test that is named after a series, and passed.
TestCase test_of(const SeriesId& series);

// One test for each summary: passed when ok (or refused as expected), skipped when it was not
// tried, else failed (a wrong result) or an error (crashed, out of memory, timeout, failed).
std::vector<TestCase> summary_tests(std::span<const Summary> summaries);

}  // namespace assay::lab
