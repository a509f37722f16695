// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/case_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "cases/own/definition.h"

namespace assay::cases::own {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kWhole = R"(case = "softmax"
[parameters]
rows = [4, 8]
columns = [16, 32, 64]
dtype = ["f32"]
quick = { rows = 2 }
[inputs.x]
shape = ["rows", "columns * 2"]
dtype = "dtype"
low = -1
[outputs.y]
shape = ["rows"]
[oracle]
python = "f.py:right"
reduction = "columns"
[work]
flops = "2.5 * rows"
[providers.second]
library = "./lib.so"
[providers.first]
command = ["./program", "{rows}", "{x}", "--out={y}"]
)";

class CaseFileTest : public testing::Test {
 protected:
  CaseFileTest() { write_file_atomically(folder_.path() + "/f.py", "def right(): pass\n"); }

  CaseFile read(const std::string& text) {
    write_file_atomically(path_, text);
    return read_case_file(path_);
  }
  // The error of the whole file with one piece replaced.
  std::string error_with(const std::string& piece, const std::string& other) {
    std::string text = kWhole;
    const auto at = text.find(piece);
    check(at != std::string::npos, "the piece is there");
    text.replace(at, piece.size(), other);
    try {
      read(text);
    } catch (const UserError& e) {
      return e.what();
    }
    return "no error";
  }

  TemporaryDirectory folder_;
  std::string path_ = folder_.path() + "/bench.toml";
};

TEST_F(CaseFileTest, ReadsAllOfIt) {
  const auto file = read(kWhole);
  EXPECT_EQ(file.name, "softmax");
  EXPECT_EQ(file.suite, "own");
  EXPECT_EQ(file.baseline, "second");  // the first one written
  EXPECT_EQ(file.points.size(), 6u);
  EXPECT_EQ(file.points[1], (Json{{"rows", 4}, {"columns", 32}, {"dtype", "f32"}, {"seed", 0}}));
  EXPECT_THAT(file.quick_points,
              ElementsAre(Json{{"rows", 2}, {"columns", 16}, {"dtype", "f32"}, {"seed", 0}}));
  EXPECT_EQ(file.problem.inputs[0].shape_at(file.points[1]), Shape({4, 64}));
  EXPECT_EQ(file.problem.outputs[0].dtype_at(file.points[1]), DType::kF32);
  EXPECT_EQ(file.oracle.python.file, folder_.path() + "/f.py");
  EXPECT_EQ(file.provider("second").library, folder_.path() + "/lib.so");
  EXPECT_EQ(file.provider("first").command[0], folder_.path() + "/program");
  EXPECT_EQ(file.work.at("flops").real(file.points[0]), 10);
}

TEST_F(CaseFileTest, PointsCanBeListed) {
  const auto file = read(R"(case = "c"
oracle = "none"
outputs.y = { shape = ["n"], dtype = "f64" }
providers.p.command = ["true", "{y}"]
[[points]]
n = 3
[[points]]
n = 5
quick = true
)");
  EXPECT_EQ(file.points.size(), 2u);
  EXPECT_THAT(file.quick_points, ElementsAre(Json{{"n", 5}}));
  EXPECT_EQ(file.oracle.kind, OracleSpec::Kind::kNone);
}

TEST_F(CaseFileTest, ErrorsNameFileLineAndKey) {
  EXPECT_THAT(
      error_with("columns * 2", "columns - 16"),
      AllOf(HasSubstr("bench.toml:8: inputs.x.shape: at "), HasSubstr("at least 1, got 0")));
  EXPECT_THAT(error_with("columns * 2", "columns ** 2"), HasSubstr("inputs.x.shape"));
  EXPECT_THAT(error_with("columns * 2", "height"), HasSubstr("no parameter 'height'"));
  EXPECT_THAT(error_with("columns * 2", "columns * 1000000000000000000"), HasSubstr("63 bits"));
  EXPECT_THAT(error_with("columns * 2", "dtype"), HasSubstr("is no number"));
  EXPECT_THAT(error_with("low = -1", "low = 2"), HasSubstr("inputs.x.low: low must be below high"));
  EXPECT_THAT(error_with("low = -1", "low = -1\nconstant = 1"),
              HasSubstr("inputs.x.constant: 'low' says already"));
  EXPECT_THAT(error_with("low = -1", "lo = -1"),
              HasSubstr("bench.toml:10: inputs.x.lo: unknown key"));
  EXPECT_THAT(error_with("low = -1", "below = 3"), HasSubstr("below is for integers"));
  EXPECT_THAT(error_with("low = -1", "file = \"x.npy\""), HasSubstr("no such file"));
  EXPECT_THAT(error_with("[\"f32\"]", "[\"f31\"]"), HasSubstr("f31"));
  EXPECT_THAT(error_with("[\"f32\"]", "[\"c64\"]"), HasSubstr("c64"));
  EXPECT_THAT(error_with("[4, 8]", "[]"), HasSubstr("parameters.rows"));
  EXPECT_THAT(error_with("[4, 8]", "[4, \"8\"]"), HasSubstr("all words"));
  EXPECT_THAT(error_with("[4, 8]", "[4.5]"), HasSubstr("an integer or a word"));
  EXPECT_THAT(error_with("quick = { rows = 2 }", "quick = { row = 2 }"), HasSubstr("'row'"));
  EXPECT_THAT(error_with("python = \"f.py:right\"", "python = \"f.py\""),
              HasSubstr("FILE.py:FUNCTION"));
  EXPECT_THAT(error_with("python = \"f.py:right\"", "python = \"g.py:right\""), HasSubstr("g.py"));
  EXPECT_THAT(error_with("python = \"f.py:right\"", "provider = \"third\""), HasSubstr("'third'"));
  EXPECT_THAT(error_with("python = \"f.py:right\"", "file = \"f.py\""), HasSubstr("'x' is drawn"));
  EXPECT_THAT(error_with("reduction = \"columns\"", "reduction = \"rows - 8\""),
              HasSubstr("oracle.reduction"));
  EXPECT_THAT(error_with("library = \"./lib.so\"", "libary = \"./lib.so\""), HasSubstr("second"));
  EXPECT_THAT(error_with("{rows}", "{row}"), HasSubstr("nothing is called {row}"));
  EXPECT_THAT(error_with("--out={y}", "--out=y"), HasSubstr("output 'y'"));
  EXPECT_THAT(error_with("case = \"softmax\"", "case = \"soft max\""), HasSubstr("soft max"));
  EXPECT_THAT(error_with("2.5 * rows", "0 - rows"), HasSubstr("work.flops"));
}

TEST_F(CaseFileTest, GridsAreBounded) {
  std::string grid = "case = \"c\"\n[parameters]\n";
  for (int p = 0; p < 8; ++p) grid += fmt::format("p{} = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n", p);
  try {
    read(grid);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_THAT(e.what(), HasSubstr("more than 10000 points"));
  }
}

TEST_F(CaseFileTest, DefinitionsTravel) {
  const auto file = read(kWhole);
  const auto json = definition_json(file, "abc");
  const auto back = definition_from_json(json, "it");
  EXPECT_EQ(back.path, file.path);
  EXPECT_EQ(back.provider("first").command, file.provider("first").command);
  EXPECT_EQ(problem_to_json(back.problem), problem_to_json(file.problem));
}

TEST_F(CaseFileTest, IdentityIsOfTheProblemAlone) {
  const auto hash = problem_hash(read(kWhole));
  std::string text = kWhole;
  text.replace(text.find("./lib.so"), 8, "./new.so");
  EXPECT_EQ(problem_hash(read(text)), hash);
  text.replace(text.find("low = -1"), 8, "low = -2");
  EXPECT_NE(problem_hash(read(text)), hash);
  write_file_atomically(folder_.path() + "/f.py", "def right(): return 1\n");
  EXPECT_EQ(problem_hash(read(kWhole)), hash);  // providers may stand in the same file
}

}  // namespace
}  // namespace assay::cases::own
