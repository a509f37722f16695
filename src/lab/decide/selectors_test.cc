// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/selectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "lab/testing/decision_rows.h"

namespace assay::lab {
namespace {

using namespace testing_rows;
using testing::HasSubstr;
using testing::Not;

std::vector<Row> example() {
  auto rows = make_rounds(2, {.provider = "naive"});
  append(rows, make_rounds(2, {.provider = "simd"}));
  append(rows,
         make_rounds(2, {.run_id = "20260102T000000.000000Z-abcdef0", .commit = "abcdef0123"}));
  append(rows, make_rounds(2, {.run_id = "20260103T000000.000000Z-abcd111", .commit = "abcd111"}));
  return rows;
}

Selector resolve(const std::string& text) {
  return resolve_selector(text, example(), [](const std::string& path) {
    return path == "results/" || path == "naive";
  });
}

std::string refusal(const std::string& text) {
  try {
    resolve(text);
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    return error.what();
  }
  return "not refused";
}

TEST(Selectors, KnowProvidersRunsCommitsAndSources) {
  EXPECT_EQ(resolve("simd").kind, SelectorKind::kProvider);
  EXPECT_EQ(resolve("20260102").kind, SelectorKind::kRun);
  EXPECT_EQ(resolve("20260102").value, "20260102T000000.000000Z-abcdef0");
  EXPECT_EQ(resolve("abcde").value, "abcdef0123");
  EXPECT_EQ(resolve("abcd111").value, "abcd111");
  EXPECT_EQ(resolve("results/").kind, SelectorKind::kSource);
  EXPECT_EQ(resolve("provider:naive").kind, SelectorKind::kProvider);
  EXPECT_EQ(resolve("source:naive").kind, SelectorKind::kSource);
}

TEST(Selectors, RefuseWhatIsUnknownOrAmbiguousByName) {
  EXPECT_THAT(refusal("torch"), testing::AllOf(HasSubstr("'torch'"), HasSubstr("naive, simd")));
  EXPECT_THAT(refusal("abcd"), testing::AllOf(HasSubstr("ambiguous"), HasSubstr("abcdef0123"),
                                              HasSubstr("abcd111"), HasSubstr("'abcd'")));
  EXPECT_THAT(refusal("2026"), HasSubstr("ambiguous"));
  EXPECT_THAT(refusal("naive"), testing::AllOf(HasSubstr("provider naive"), HasSubstr("source:")));
  EXPECT_THAT(refusal(""), HasSubstr("''"));
  EXPECT_THAT(refusal("run:naive"), HasSubstr("'run:naive'"));
  EXPECT_THAT(refusal("abc"), HasSubstr("'abc'"));  // too short for a commit
  for (const auto& name : hostile_names()) EXPECT_THAT(refusal(name), Not(HasSubstr("\x1b")));
}

// Tables cut names; what programs read has them whole.
TEST(Selectors, AreCalledByTheirWholeNames) {
  const std::string path(100, 'p');
  EXPECT_EQ(resolve("source:" + path).name, path);
  const auto rows = make_rounds(1, {.provider = path});
  EXPECT_EQ(resolve_selector(path, rows, [](const auto&) { return false; }).name,
            "provider " + path);
}

TEST(Selectors, SelectTheirRows) {
  EXPECT_EQ(selected_rows(resolve("provider:naive"), example()).size(), 2u);
  EXPECT_EQ(selected_rows(resolve("simd"), example()).size(), 6u);
  EXPECT_EQ(selected_rows(resolve("abcd111"), example()).size(), 2u);
}

TEST(Selectors, ProvidersAreComparedInTheNewestRunOfBoth) {
  auto a = make_rounds(3, {.provider = "naive"}), b = make_rounds(3, {.provider = "simd"});
  append(b, make_rounds(3, {.run_id = "20260105T000000.000000Z-abcdef0"}));
  keep_newest_shared_runs(a, b);
  EXPECT_EQ(a.size(), 3u);
  ASSERT_EQ(b.size(), 3u);
  EXPECT_EQ(b[0].run_id, a[0].run_id);
  // Never together: the newest of each.
  auto c = make_rounds(3, {.provider = "naive"});
  auto d = make_rounds(3, {.run_id = "20260104T000000.000000Z-abcdef0"});
  append(d, make_rounds(2, {.run_id = "20260105T000000.000000Z-abcdef0"}));
  keep_newest_shared_runs(c, d);
  EXPECT_EQ(c.size(), 3u);
  EXPECT_EQ(d.size(), 2u);
}

}  // namespace
}  // namespace assay::lab
