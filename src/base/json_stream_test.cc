// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/json_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// Pieces of so many bytes: what stands across a boundary is read like anything else.
TextPieces torn(std::string_view text, std::size_t size) {
  return [=](std::size_t offset) { return text.substr(offset, size); };
}

template <typename Call>
std::string refused(Call call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.what();
  }
  return "not refused";
}

using Elements = std::vector<std::pair<std::size_t, std::string>>;

struct Read {
  Json rest;
  Elements elements;
};

Read read_by(std::string_view text, std::vector<std::string_view> path, std::size_t size = 3) {
  Read read;
  read.rest =
      for_each_element(torn(text, size), "f", path, [&](std::size_t index, const Json& element) {
        read.elements.emplace_back(index, canonical_json(element));
      });
  return read;
}

constexpr std::string_view kStream = R"( {"a": [1, {"b\\\"\u00e4": [true, null, -2.5e-3]}, "]"],
  "c": {"a": [3]}, "d": 18446744073709551615, "e": [], "f": [[], [1, 2]]} )";

TEST(JsonStream, IsTheValueHoweverTheTextIsTorn) {
  const Json whole = Json::parse(kStream);
  for (std::size_t size = 1; size <= kStream.size(); ++size) {
    EXPECT_EQ(read_json(torn(kStream, size), "f"), whole) << size;
  }
}

TEST(JsonStream, HandsOutTheElementsAndReturnsTheRest) {
  const auto read = read_by(kStream, {"a"});
  EXPECT_THAT(read.elements, ElementsAre(Pair(0, "1"), Pair(1, R"({"b\\\"ä":[true,null,-0.0025]})"),
                                         Pair(2, "\"]\"")));
  Json rest = Json::parse(kStream);
  rest["a"] = Json::array();
  EXPECT_EQ(read.rest, rest);
}

TEST(JsonStream, KnowsInWhichElementOfTheFirstArrayAnElementLies) {
  const auto read = read_by(
      R"({"x": [{"y": [1, 2], "z": 1}, {"z": 2}, 3, [{"y": [4]}], {"y": 5}, {"y": []},
          {"z": 6, "y": [[7], {"y": [8]}]}], "y": [9]})",
      {"x", "y"});
  EXPECT_THAT(read.elements,
              ElementsAre(Pair(0, "1"), Pair(0, "2"), Pair(6, "[7]"), Pair(6, R"({"y":[8]})")));
  EXPECT_EQ(read.rest, Json::parse(R"({"x": [{"y": [], "z": 1}, {"z": 2}, 3, [{"y": [4]}], {"y": 5},
                                       {"y": []}, {"z": 6, "y": []}], "y": [9]})"));
}

TEST(JsonStream, LeavesWhatIsNoSuchArray) {
  for (const auto text : {R"({"a":{"a":[1]}})", R"({"a":3})", R"([{"a":[1]}])", R"([["a",[1]]])",
                          R"("a")", R"({"b":[1]})", "[]"}) {
    const auto read = read_by(text, {"a"});
    EXPECT_THAT(read.elements, IsEmpty()) << text;
    EXPECT_EQ(canonical_json(read.rest), text);
  }
}

TEST(JsonStream, ASketchHasTheFirstElementOfEveryArray) {
  EXPECT_EQ(sketch_json(torn(kStream, 2), "f"),
            Json::parse(R"({"a": [1], "c": {"a": [3]}, "d": 18446744073709551615, "e": [],
                            "f": [[]]})"));
  EXPECT_EQ(sketch_json(pieces_of("[[[1, 2], 3], 4]"), "f"), Json::parse("[[[1]]]"));
}

TEST(JsonStream, RefusesWhatParsingRefusesInTheSameWords) {
  const std::string deep = std::string(150, '[') + std::string(100, '{');
  const std::string text(kStream);
  std::vector<std::string> bad = {"",
                                  " ",
                                  "[1,]",
                                  "{} {}",
                                  "1e999",
                                  "[\"\xff\"]",
                                  deep,
                                  R"({"a": [{"n": 1, "n": 2}]})",
                                  R"({"a": [1], "a": [2]})",
                                  R"({"a": 1, "a)",
                                  "[1] " + deep,
                                  R"(["\)" + deep};
  for (std::size_t size = 1; size + 2 < text.size(); size += 5) bad.push_back(text.substr(0, size));
  for (const auto& one : bad) {
    const auto says = refused([&] { parse_json(one, "f"); });
    EXPECT_THAT(says, ::testing::StartsWith("f: ")) << one;
    for (const std::size_t size : {1, 7, 1000}) {
      const auto pieces = torn(one, size);
      EXPECT_EQ(refused([&] { sketch_json(pieces, "f"); }), says);
      EXPECT_EQ(refused([&] { read_by(one, {"a"}, size); }), says);
    }
  }
  EXPECT_EQ(refused([&] { parse_json(deep, "f"); }), "f: nested deeper than 200 levels");
  EXPECT_EQ(refused([&] { parse_json("{\"a\"", "f"); }),
            "f: not valid JSON: parse error at line 1, column 5: syntax error while parsing object "
            "separator - unexpected end of input; expected ':'");
  EXPECT_THAT(refused([&] { sketch_json(pieces_of(R"([1, {"n": 1, "n": 2}])"), "f"); }),
              HasSubstr("repeated key \"n\""));
}

// What the caller throws is his own: it is not taken for a fault of the text.
TEST(JsonStream, LetsTheCallersErrorsPass) {
  const std::array<std::string_view, 1> path = {"a"};
  const auto read = [&] {
    for_each_element(pieces_of(kStream), "f", path, [](std::size_t, const Json& e) { e.at("x"); });
  };
  EXPECT_THROW(read(), Json::exception);
}

}  // namespace
}  // namespace assay
