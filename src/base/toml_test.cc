// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/toml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace assay {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kText =
    "name = \"x\"\n"
    "count = 3\n"
    "\n"
    "[memory]\n"
    "rate = 2.5\n"
    "whole = 7\n"
    "fast = true\n"
    "ports = [[0, 1], [2, 3]]\n";

// The message of the UserError that `action` throws.
template <typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const UserError& e) {
    return e.what();
  }
  return "nothing thrown";
}

TEST(TomlTable, AnyValueAsJson) {
  const auto t = TomlTable::parse(
      "[a]\nlist = [{n = 8, name = \"x\"}, {n = 9.5}]\none = {deep = {er = [true, [1]]}}\nother = "
      "1\n",
      "t");
  const auto a = t.table("a");
  EXPECT_EQ(a.json("list"), Json::parse(R"([{"n":8,"name":"x"},{"n":9.5}])"));
  EXPECT_EQ(a.json("one"), Json::parse(R"({"deep":{"er":[true,[1]]}})"));
  EXPECT_THROW(t.refuse_unread_keys(), UserError) << "nobody has asked for `other`";
  EXPECT_EQ(a.json("other"), 1);
  t.refuse_unread_keys();
}

TEST(Toml, ReadsEveryType) {
  const auto root = TomlTable::parse(kText, "t.toml");
  EXPECT_EQ(root.text("name"), "x");
  EXPECT_EQ(root.integer("count"), 3);
  const auto memory = root.table("memory");
  EXPECT_EQ(memory.number("rate"), 2.5);
  EXPECT_EQ(memory.number("whole"), 7);
  EXPECT_TRUE(memory.flag("fast"));
  EXPECT_THAT(memory.integer_rows("ports"), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_TRUE(memory.has("rate"));
  EXPECT_FALSE(memory.has("slow"));
  EXPECT_NO_THROW(root.refuse_unread_keys());
}

TEST(Toml, IntegersThatNoDoubleEqualsAreRounded) {
  const auto root = TomlTable::parse(
      "big = 5000000000000000000\nodd = 9007199254740993\nlist = [1, 9223372036854775807]\n",
      "t.toml");
  EXPECT_EQ(root.number("big"), 5e18);
  EXPECT_EQ(root.number("odd"), 9007199254740992.0);
  EXPECT_THAT(root.numbers("list"), ElementsAre(1.0, 0x1p63));
}

TEST(Toml, ErrorsNameFileLineAndKey) {
  const auto root = TomlTable::parse(kText, "t.toml");
  const auto memory = root.table("memory");
  EXPECT_EQ(message_of([&] { memory.number("latency"); }),
            "t.toml:4: memory.latency: missing key, expected a number");
  EXPECT_EQ(message_of([&] { memory.integer("rate"); }),
            "t.toml:5: memory.rate: expected an integer, got a number");
  EXPECT_EQ(message_of([&] { root.table("name"); }),
            "t.toml:1: name: expected a table, got a string");
  EXPECT_EQ(message_of([&] { memory.flag("whole"); }),
            "t.toml:6: memory.whole: expected true or false, got an integer");
  EXPECT_EQ(message_of([&] { memory.text("ports"); }),
            "t.toml:8: memory.ports: expected a string, got an array");
  EXPECT_EQ(message_of([&] { memory.reject("rate", "must exceed {}", 9); }),
            "t.toml:5: memory.rate: must exceed 9");
}

TEST(Toml, RefusesKeysThatNobodyAskedFor) {
  const auto root = TomlTable::parse("a = 1\n[b]\nc = 2\nd = 3\n", "t.toml");
  root.integer("a");
  root.table("b").integer("c");
  EXPECT_EQ(message_of([&] { root.refuse_unread_keys(); }), "t.toml:4: b.d: unknown key");
}

TEST(Toml, RefusesHostileText) {
  EXPECT_THAT(message_of([] { TomlTable::parse("a = 1\nb = = 2\n", "t.toml"); }),
              ::testing::StartsWith("t.toml:2: not valid TOML: "));
  EXPECT_THROW(TomlTable::parse("a = 1\na = 2\n", "t"), UserError);
  EXPECT_THROW(TomlTable::parse("\xff\xfe", "t"), UserError);
  const auto odd = TomlTable::parse("x = nan\ny = inf\nz = [1, 2]\nw = [[1.5]]\n", "t");
  EXPECT_THROW(odd.number("x"), UserError);
  EXPECT_THROW(odd.number("y"), UserError);
  EXPECT_THROW(odd.integer_rows("z"), UserError);
  EXPECT_THROW(odd.integer_rows("w"), UserError);
  // Each message is one line.
  const auto message = message_of([] { TomlTable::parse("a = \"\n\"", "t.toml"); });
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST(Toml, ReadsAFile) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/a.toml";
  write_file_atomically(path, "k = 5\n");
  EXPECT_EQ(TomlTable::read(path).integer("k"), 5);
  EXPECT_THAT(message_of([&] { TomlTable::read(folder.path() + "/none.toml"); }),
              ::testing::HasSubstr("none.toml"));
}

TEST(Toml, NumbersAreOneOrSeveral) {
  const auto t = TomlTable::parse("a = 2\nb = [1e-3, 2]\nc = []\nd = ['x']\ne = [nan]\n", "f");
  EXPECT_EQ(t.numbers("a"), std::vector<double>{2});
  EXPECT_EQ(t.numbers("b"), (std::vector<double>{1e-3, 2}));
  for (const char* bad : {"c", "d", "e", "missing"}) {
    EXPECT_THROW(t.numbers(bad), UserError) << bad;
  }
}

TEST(Toml, QuotedTextIsReadBack) {
  const std::string texts[] = {"", "a \"b\" \\ \n\t", std::string("\x01\x00\x7f", 3), "ü…𝄞"};
  for (const auto& text : texts) {
    EXPECT_EQ(TomlTable::parse("k = " + toml_quoted(text), "f").text("k"), text);
  }
  EXPECT_THROW(toml_quoted("\xff"), UserError);
}

TEST(Toml, KeysAsTheyWereWritten) {
  const auto t = TomlTable::parse("z = 1\n[m]\nb = 1\na = 2\n[c]\n", "f");
  EXPECT_EQ(t.keys_as_written(), (std::vector<std::string>{"z", "m", "c"}));
  EXPECT_EQ(t.table("m").keys_as_written(), (std::vector<std::string>{"b", "a"}));
  EXPECT_TRUE(t.is_table("m"));
  EXPECT_FALSE(t.is_table("z"));
  EXPECT_FALSE(t.is_table("missing"));
}

}  // namespace
}  // namespace assay
