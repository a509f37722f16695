// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/exchange/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "lab/record/point.h"
#include "lab/show/terminal/cells.h"

namespace assay::lab {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '"' ? "&quot;" : c == '\'' ? "&apos;" : markup_escaped(c);
  }
  return result;
}

// U+FFFE and U+FFFF are valid UTF-8 and no characters of XML.
std::string without_noncharacters(std::string text) {
  for (const char* forbidden : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
    for (auto at = text.find(forbidden); at != std::string::npos; at = text.find(forbidden, at)) {
      text.replace(at, 3, "\uFFFD");
    }
  }
  return text;
}

std::string xml_text(std::string_view text) {
  return escaped(without_noncharacters(printable(text)));
}

std::string xml_lines(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    result += xml_text(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string seconds_of(double seconds) {
  return fmt::format("{:.9f}", std::isfinite(seconds) && seconds > 0 ? seconds : 0.0);
}

std::string element_of(const TestCase& test) {
  const auto open =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{}\"",
                  xml_text(test.class_name), xml_text(test.name), seconds_of(test.seconds));
  const auto body = xml_lines(test.details);
  switch (test.outcome) {
    case TestOutcome::kPassed:
      if (body.empty()) return open + "/>\n";
      return open + ">\n      <system-out>" + body + "</system-out>\n    </testcase>\n";
    case TestOutcome::kSkipped:
      return fmt::format("{}>\n      <skipped message=\"{}\"/>\n    </testcase>\n", open,
                         xml_text(test.message));
    case TestOutcome::kFailed:
    case TestOutcome::kError: {
      const auto* tag = test.outcome == TestOutcome::kFailed ? "failure" : "error";
      return fmt::format("{}>\n      <{} message=\"{}\" type=\"{}\">{}</{}>\n    </testcase>\n",
                         open, tag, xml_text(test.message), xml_text(test.type), body, tag);
    }
  }
  return {};
}

}  // namespace

std::string junit_xml(const std::string& suite, std::span<const TestCase> cases) {
  const auto count = [&](TestOutcome outcome) {
    return std::ranges::count(cases, outcome, &TestCase::outcome);
  };
  double seconds = 0;
  for (const auto& test : cases) {
    if (std::isfinite(test.seconds) && test.seconds > 0) seconds += test.seconds;
  }
  const auto counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\"",
                  cases.size(), count(TestOutcome::kFailed), count(TestOutcome::kError),
                  count(TestOutcome::kSkipped), seconds_of(seconds));
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  xml += fmt::format("<testsuites {}>\n  <testsuite name=\"{}\" {}>\n", counts, xml_text(suite),
                     counts);
  for (const auto& test : cases) xml += element_of(test);
  return xml + "  </testsuite>\n</testsuites>\n";
}

TestCase test_of(const SeriesId& s) {
  TestCase test;
  test.class_name = s.suite + "." + s.case_name;
  test.name = fmt::format("{} {} on {}, {} cores, machine {}", s.provider, point_label(s.point),
                          s.platform, s.cores, s.fingerprint) +
              (s.isolation == "in-process" ? ", in process" : "");
  return test;
}

std::vector<TestCase> summary_tests(std::span<const Summary> summaries) {
  std::vector<TestCase> tests;
  for (const Summary& s : summaries) {
    TestCase test = test_of(s);
    if (s.median && s.metric == "steady_time") test.seconds = *s.median;
    test.type = name_of(s.status);
    test.message = s.failure ? s.failure->message : test.type;
    if (test.message.empty()) test.message = test.type;
    test.details =
        fmt::format("median {}\nratio {}\n{}", median_cell(s), ratio_cell(s), verdict_cell(s));
    const bool untried =
        s.status == Status::kSkipped || s.status == Status::kEnvMissing || is_void(s.status);
    test.outcome = s.status == Status::kOk || s.as_expected ? TestOutcome::kPassed
                   : untried                                ? TestOutcome::kSkipped
                   : s.status == Status::kWrongResult       ? TestOutcome::kFailed
                                                            : TestOutcome::kError;
    if (test.outcome == TestOutcome::kSkipped) test.message = test.type + ": " + test.message;
    tests.push_back(std::move(test));
  }
  return tests;
}

}  // namespace assay::lab
