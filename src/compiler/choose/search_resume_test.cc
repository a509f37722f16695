// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// What a search keeps, and what it makes of what was kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/checked_line.h"
#include "base/error.h"
#include "base/file.h"
#include "compiler/choose/test_search.h"
#include "compiler/program/program_json.h"

namespace assay::compiler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Search, FindsItsWayVerifiesAndGoesOnWhereItWas) {
  const auto g = layers(1);
  const auto runtime = plain_runtime();
  SearchOptions options;
  options.folder = fresh_folder("search");
  options.candidates = 6;
  options.seconds = kAllTheTime;
  options.symbols = {{"s", 3}};
  options.verify.most = 3;
  const auto first = search(g, runtime, options);
  EXPECT_EQ(first.tried, 6);
  EXPECT_GE(first.speedup, 1.0);
  const auto file = search_file(g, runtime, options);
  const auto text = read_file(file);
  EXPECT_EQ(std::ranges::count(text, '\n'), 7);  // the default program's, too

  // Nothing is tried again, and the winner is the same.
  const auto again = search(g, runtime, options);
  EXPECT_EQ(again.tried, 0);
  EXPECT_EQ(program_hash(again.program), program_hash(first.program));
  options.candidates = 0;
  EXPECT_EQ(program_hash(search(g, runtime, options).program), program_hash(first.program));

  // Killed in the middle of a line, and what others wrote is no line of ours.
  const auto lines = lines_of(file);
  const auto foreign = "[1,2]\nnull\n\n" + checked_line({{"seed", "0"}, {"program", 7}}) +
                       "not json\n" + checked_line({1, 2}) + canonical_json(lines[1]) + "\n";
  write_file_atomically(file, foreign + text.substr(0, text.size() - 10));
  std::vector<std::string> warnings;
  options.warn = [&](const std::string& what) { warnings.push_back(what); };
  options.candidates = 6;
  const auto resumed = search(g, runtime, options);
  EXPECT_EQ(resumed.from_before, 5);
  EXPECT_EQ(resumed.tried, 1);
  EXPECT_THAT(warnings, ElementsAre(file + ": line 1 (and 7 lines after it) was torn or changed "
                                           "and counts for nothing"));
  // What it proposes is what it proposed then, and what counts for nothing is gone.
  const auto programs = proposed(file, 0);
  EXPECT_EQ(std::ranges::count(read_file(file), '\n'), 7);
  write_file_atomically(file, text);
  EXPECT_EQ(programs, proposed(file, 0));
  std::filesystem::remove_all(options.folder);
}

TEST(Search, ASeedHasItsCandidatesWhateverTheClockSaysOfThoseThatAreNoFaster) {
  const auto g = layers(1);
  const auto runtime = plain_runtime();
  const auto first = counted(0, fresh_folder("seed0"), 1);
  const auto again = counted(0, fresh_folder("seed0again"), 2);
  const auto other = counted(1, fresh_folder("seed1"));
  const auto found = search(g, runtime, first);
  EXPECT_GT(found.speedup, 1) << "something wins, or this says little";
  EXPECT_EQ(program_hash(found.program), program_hash(search(g, runtime, again).program));
  search(g, runtime, other);
  const auto programs = proposed(search_file(g, runtime, first), 0);
  EXPECT_EQ(programs.size(), 12U);
  EXPECT_EQ(programs, proposed(search_file(g, runtime, again), 0));
  const auto others = proposed(search_file(g, runtime, other), 1);
  EXPECT_NE(programs, others);

  // Beside what another seed left, it proposes the same; in the end the fastest of both is used.
  auto beside = counted(1, first.folder);
  const auto of_both = search(g, runtime, beside);
  EXPECT_EQ(proposed(search_file(g, runtime, beside), 1), others);
  EXPECT_GE(of_both.speedup, found.speedup);
  for (const auto* options : {&first, &again, &other}) {
    std::filesystem::remove_all(options->folder);
  }
}

TEST(Search, KilledAfterAnyByteItEndsAsItWouldHave) {
  const auto g = layers(1);
  const auto runtime = plain_runtime();
  const auto options = counted(0, fresh_folder("killed"));
  const auto whole = search(g, runtime, options);
  const auto file = search_file(g, runtime, options);
  const auto text = read_file(file);
  const Philox stream(7, 0);
  for (std::uint64_t i = 0; i < 6; ++i) {
    write_file_atomically(file, text.substr(0, uniform_below(stream[i], text.size())));
    const auto resumed = search(g, runtime, options);
    EXPECT_EQ(resumed.from_before + resumed.tried, 12);
    EXPECT_EQ(program_hash(resumed.program), program_hash(whole.program));
    EXPECT_EQ(proposed(file, 0).size(), 12U);
  }
  std::filesystem::remove_all(options.folder);
}

// The lines of a journal with one of them changed, and its checksum made right again.
void rewrite(const std::string& file, std::vector<Json> lines, std::size_t at, const char* key,
             const Json& value) {
  lines.at(at)[key] = value;
  std::string text;
  for (const auto& line : lines) text += checked_line(line);
  write_file_atomically(file, text);
}

TEST(Search, WhatALineCannotHaveSaidIsNotBelievedAndItsCandidateIsTriedAgain) {
  const auto g = layers(1);
  const auto runtime = plain_runtime();
  auto options = counted(0, fresh_folder("forged"));
  const auto found = search(g, runtime, options);
  const auto file = search_file(g, runtime, options);
  const auto text = read_file(file);
  const auto lines = lines_of(file);
  std::size_t winner = 0;
  while (!lines.at(winner).value("faster", false)) ++winner;
  std::string warning;
  options.warn = [&](const std::string& what) { warning += what; };
  const auto is_tried_again = [&] {
    warning.clear();
    const auto again = search(g, runtime, options);
    EXPECT_THAT(warning, HasSubstr(fmt::format("{}: line {} was torn", file, winner + 1)));
    EXPECT_EQ(again.tried, 1);
    EXPECT_EQ(program_hash(again.program), program_hash(found.program));
    EXPECT_DOUBLE_EQ(again.speedup, found.speedup);
    warning.clear();
    EXPECT_EQ(search(g, runtime, options).tried, 0);
    EXPECT_EQ(warning, "");
  };
  const std::vector<std::pair<const char*, Json>> changes = {
      {"relative", 0.1},  // not between what it is between
      {"relative", -1},
      {"relative", 0},
      {"relative", "nan"},
      {"between", {0.01, 0.02}},
      {"between", {0, 1}},
      {"between", {1e-3, "inf"}},
      {"between", {"nan", "nan"}},
      {"program", "0123456789abcdef"},
      {"search", "0123456789abcdef"}};  // a line of another graph's journal
  for (const auto& [key, value] : changes) {
    SCOPED_TRACE(fmt::format("{} {}", key, value.dump()));
    rewrite(file, lines, winner, key, value);
    is_tried_again();
  }
  // And a digit that is another one.
  auto changed = text;
  std::size_t at = 0;
  for (std::size_t i = 0; i < winner; ++i) at = changed.find('\n', at) + 1;
  at = changed.find("\"relative\":0.", at) + 13;
  changed[at] = changed[at] == '1' ? '2' : '1';
  write_file_atomically(file, changed);
  is_tried_again();
  std::filesystem::remove_all(options.folder);
}

// Counts what is run: programs that nobody verifies or times run nothing.
Runtime counting_runtime(std::shared_ptr<int> prepared) {
  auto runtime = plain_runtime();
  runtime.prepare = [prepared](const Kernel& kernel) {
    ++*prepared;
    return plain_runtime().prepare(kernel);
  };
  return runtime;
}

TEST(Search, TheDefaultProgramIsVerifiedOnceWhateverIsTried) {
  Graph g;
  sin(GraphTensor::input(g, "x", DType::kF32, {4})).set_output("y");
  const auto prepared = std::make_shared<int>(0);
  const auto runtime = counting_runtime(prepared);
  SearchOptions options;
  options.candidates = 100;
  for (const double seconds : {0.0, kAllTheTime}) {
    options.folder = fresh_folder("one");
    options.seconds = seconds;
    const auto first = search(g, runtime, options);
    EXPECT_EQ(first.tried, 0);
    ASSERT_TRUE(first.verified);
    EXPECT_GT(first.verified->runs.bounded, 0);
    *prepared = 0;
    EXPECT_FALSE(search(g, runtime, options).verified);
    EXPECT_EQ(*prepared, 0);
    options.verifies_result = true;
    EXPECT_TRUE(search(g, runtime, options).verified);
    options.verifies_result = false;
    std::filesystem::remove_all(options.folder);
  }
}

TEST(Search, KilledBeforeItsFirstCandidateItNeedNotVerifyTheDefaultAgain) {
  const auto g = layers(1);
  auto options = counted(0, fresh_folder("early"));
  options.referee = [](const RefereeContext&) -> std::unique_ptr<Referee> {
    throw EnvironmentError("killed");
  };
  EXPECT_THROW(search(g, plain_runtime(), options), EnvironmentError);
  const auto prepared = std::make_shared<int>(0);
  EXPECT_THROW(search(g, counting_runtime(prepared), options), EnvironmentError);
  EXPECT_EQ(*prepared, 0);
  std::filesystem::remove_all(options.folder);
}

TEST(Search, WhereNothingCanBeKeptItGoesOn) {
  const auto g = layers(1);
  const auto runtime = plain_runtime();
  auto kept = counted(0, fresh_folder("kept"));
  // A folder that cannot be made: what should hold it is a file.
  const auto file = fresh_folder("file");
  write_file_atomically(file, "");
  auto options = counted(0, file + "/folder");
  std::vector<std::string> warnings;
  options.warn = [&](const std::string& what) { warnings.push_back(what); };
  const auto found = search(g, runtime, options);
  EXPECT_EQ(found.tried, 12);
  EXPECT_EQ(program_hash(found.program), program_hash(search(g, runtime, kept).program));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("nothing of this search is kept")));
  std::filesystem::remove_all(kept.folder);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace assay::compiler
