// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/markdown/report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "lab/show/markdown/markdown.h"
#include "lab/testing/example_rows.h"

namespace assay::lab {
namespace {

using namespace testing_rows;
using testing::HasSubstr;
using testing::Not;

// Cells of a table's line: pipes that are not escaped.
int pipes(const std::string& line) {
  int count = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '|') {
      ++count;
    }
  }
  return count;
}

TEST(Report, Golden) {
  expect_golden(ASSAY_TESTDATA, "report.md",
                markdown_report(example_history(), {.warnings = {"the last line is incomplete"}}));
}

TEST(Report, GoldenForOneMachine) {
  expect_golden(ASSAY_TESTDATA, "report_one_machine.md", markdown_report(example_rounds(10, 0.25)));
}

TEST(Report, DoesNotDependOnTheOrderOfRows) {
  auto rows = example_history();
  const auto report = markdown_report(rows);
  std::ranges::reverse(rows);
  EXPECT_EQ(markdown_report(rows), report);
  std::rotate(rows.begin(), rows.begin() + 17, rows.end());
  EXPECT_EQ(markdown_report(rows), report);
}

TEST(Report, OfNothing) {
  EXPECT_EQ(markdown_report({}), "# Assay report\n\nThere are no rows.\n");
  EXPECT_THAT(markdown_report({}, {.warnings = {"torn: 'x'"}}), HasSubstr("torn: 'x'"));
}

// Strings that try to be markup, in every place a row has for text. The document must have the
// shape it has with harmless strings: the same lines, the same cells.
class Hostile : public testing::Test {
 protected:
  static std::vector<Row> rows_with(const std::string& text) {
    auto rows = example_rounds(6, 0.5);
    auto failed = example_row({.provider = "x", .status = Status::kFailed});
    failed.failure = failure_from_json(Json{{"phase", text},
                                            {"code", text},
                                            {"message", text},
                                            {"signal", 11},
                                            {"exit_code", 1},
                                            {"stderr_tail", text}});
    rows.push_back(failed);
    for (auto& row : rows) {
      row.suite = row.case_name = row.run_id = text;
      row.platform = text;
      row.point = {{"k", text}, {"seed", 0}};
      row.machine = machine_from_json(Json{{"fingerprint", text},
                                           {"cpu_model", text},
                                           {"gpus", {text, 7}},
                                           {"os", text},
                                           {"kernel", text},
                                           {"governor", text}});
      auto& p = row.provenance;
      for (auto* fact : {&p.label, &p.mode, &p.assay_version, &p.commit, &p.branch, &p.compiler,
                         &p.flags, &p.unequal_work, &p.time_start, &p.time_end}) {
        *fact = text;
      }
      p.versions.emplace()["k"] = text;
      p.environment.emplace()["k"] = text;
      p.settings = Json{{"k", text}};
      row.provenance.baseline = row.provider == "naive" ? text : row.provider;
      if (row.provider == "naive") row.provider = text;
      row.provenance.baseline = text;
      row.provenance.request = Json{{"cases", {text}},
                                    {"mode", "points"},
                                    {"points", {{"k", text}}},
                                    {"providers", {text}},
                                    {"platforms", {text}}};
    }
    return rows;
  }
};

TEST_F(Hostile, FormsNoMarkup) {
  const std::string strings[] = {"<script>alert(1)</script>",
                                 "a|b|c",
                                 "``` `code` ```",
                                 "two\n\n# lines\n- x",
                                 "\u202egnirts a\u202c",
                                 "*bold* _em_ ~~gone~~ [x](http://evil.example)",
                                 "![i](x) &amp; &lt; $math$ <!-- c -->",
                                 "\\",
                                 "\\|",
                                 "'; rm -rf /; '",
                                 "|---|\n|x|",
                                 std::string(10'000, 'n'),
                                 "\x1b[2J\x07",
                                 "- 1. # > =",
                                 "数学 شمس"};
  for (const auto& text : strings) {
    SCOPED_TRACE(text.substr(0, 60));
    const auto report = markdown_report(rows_with(text), {.warnings = {text}});
    EXPECT_THAT(report, Not(HasSubstr("<")));
    EXPECT_THAT(report, Not(HasSubstr("\u202e")));
    const auto lines = lines_of(report);
    const auto harmless =
        lines_of(markdown_report(rows_with("harmless"), {.warnings = {"harmless"}}));
    bool code = false;
    std::vector<std::string> shape, wanted;
    const auto shape_of = [&](const std::vector<std::string>& document) {
      std::vector<std::string> result;
      for (const auto& line : document) {
        if (line.starts_with("```")) code = !code;
        // Commands may lose arguments and gain a remark; they are in a block that nothing ends.
        if (code && !line.starts_with("```")) continue;
        result.push_back(line.starts_with("|") ? fmt::format("table of {}", pipes(line))
                                               : line.substr(0, 3));
      }
      EXPECT_FALSE(code);
      return result;
    };
    EXPECT_EQ(shape_of(lines), shape_of(harmless));
    for (const auto& line : lines) EXPECT_LT(line.size(), 20'000u);
  }
}

TEST(Markdown, TextIsReadAsItIs) {
  EXPECT_EQ(markdown_text("semiring_matmul n=512"), "semiring_matmul n=512");
  EXPECT_EQ(markdown_text("_x_ a_b*c"), "\\_x\\_ a_b\\*c");
  EXPECT_EQ(markdown_text("a|b<c>&"), "a\\|b&lt;c&gt;&amp;");
  EXPECT_EQ(markdown_text("https://x www.y.z a@b"), "https&#58;//x www&#46;y.z a&#64;b");
  EXPECT_EQ(markdown_text("a\nb"), "a\\\\nb");
  EXPECT_EQ(markdown_text("abcdef", 4), "abc…");
}

TEST(Markdown, CodeCannotBeEnded) {
  EXPECT_EQ(markdown_code({"a"}), "```sh\na\n```\n");
  EXPECT_EQ(markdown_code({"x ```` y", "z\n```"}), "`````sh\nx ```` y\nz\\n```\n`````\n");
}

TEST(Markdown, ShellWordsAreOneWord) {
  EXPECT_EQ(shell_word("a-b_c.d"), "a-b_c.d");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("{\"n\":1}"), "'{\"n\":1}'");
  EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
}

}  // namespace
}  // namespace assay::lab
