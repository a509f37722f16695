// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/typed_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::Not;

// What stands in the arguments afterwards, beyond the ends of words as well.
std::vector<std::string> taken(std::vector<std::string> words,
                               std::span<const std::string_view> without_sources = {}) {
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  take_passwords(static_cast<int>(arguments.size()), arguments.data(), without_sources);
  for (const auto& word : words) EXPECT_THAT(word, Not(HasSubstr("secret")));
  return {arguments.begin(), arguments.end()};
}

TEST(TypedSources, AreTakenOutOfTheArgumentsOfAProgram) {
  const auto words =
      taken({"assay", "--rounds=3", "--store=postgresql://u:secret@h/db",
             "source:postgres://h/db?password=secret", "pg://u:secret@h", "host=h password=secret",
             "--source=u:secret@h/db", "--postgres:/u:secret@h", "--", "--out="});
  EXPECT_EQ(words, (std::vector<std::string>{"assay", "--rounds=3", "--store=postgresql://u@h/db",
                                             "source:postgres://h/db", "pg://…", "host=h",
                                             "--source=…", "--postgres:/…", "--", "--out="}));
  EXPECT_EQ(with_password("postgresql://u@h/db"), "postgresql://u:secret@h/db");
  EXPECT_EQ(with_password("postgres://h/db"), "postgres://h/db?password=secret");
  EXPECT_EQ(with_password("postgresql://other/db"), "postgresql://other/db");
}

// "…" is three bytes.
TEST(TypedSources, AreShownInNoMoreBytesThanTheyHave) {
  EXPECT_EQ(taken({"assay", "postgresql://%", "pg:x"}),
            (std::vector<std::string>{"assay", "postgresql://", "pg:"}));
}

TEST(TypedSources, ThatAreShownAlikeStayApart) {
  const auto words = taken({"assay", "postgresql://v:secret@h/db", "postgresql://v:secret2@h/db",
                            "postgresql://v:secret@h/db"});
  EXPECT_EQ(words[2], "postgresql://v@h/db#2");
  EXPECT_EQ(words[3], "postgresql://v@h/db");
  EXPECT_EQ(with_password(words[1]), "postgresql://v:secret@h/db");
  EXPECT_EQ(with_password(words[2]), "postgresql://v:secret2@h/db");
  // Where there is no room for it, neither is taken for the other.
  const auto close = taken({"assay", "postgresql://w:1@h/db", "postgresql://w:@h/db"});
  EXPECT_THROW(with_password(close[1]), UserError);
}

TEST(TypedSources, OfWhatNamesNoSourceAreAsTheyWereTyped) {
  const auto words = taken({"assay", "label:x@secret", "postgresql://x:secret@h/db"});
  EXPECT_EQ(as_typed(words[1]), "label:x@secret");
  EXPECT_EQ(as_typed(words[2]), "postgresql://x@h/db");
  EXPECT_EQ(as_typed("other"), "other");
}

TEST(TypedSources, AreNeitherFilesNorCommandsNorWordsOfOthers) {
  const TemporaryDirectory folder("assay-test");
  const auto file = folder.path() + "/12:30@n1.jsonl";
  write_file_atomically(file, "");
  constexpr auto kOthers = std::to_array<std::string_view>({"einsum"});
  const std::vector<std::string> typed = {"assay", "einsum", file, "a:b@c",
                                          "psql postgresql://u:x@h/db -c 'a=1'"};
  EXPECT_EQ(taken(typed, kOthers), typed);
  EXPECT_EQ(taken({"assay", "einsum", "postgresql://y:secret@h"}, kOthers)[2], "postgresql://y@h");
}

}  // namespace
}  // namespace assay::lab
