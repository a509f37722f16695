// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/philox.h"
#include "compiler/reference/interpret.h"
#include "models/pt2/operators.h"
#include "models/pt2/test_archive.h"

namespace assay::models::pt2 {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class ImportTest : public testing::Test {
 protected:
  using P = TestProgram;
  std::string path() const { return folder_.path() + "/m.pt2"; }

  // x [n, 2] · w [2], with a row of x and then w written in place.
  static P writing_program() {
    P p;
    p.input("x", {-1, 2});
    p.weight("w", {2}, {10, 100});
    p.program()["range_constraints"]["n"] = {{"min_val", 2}, {"max_val", 8}};
    p.node("aten.mul.Tensor", "product", {{"self", P::tensor("x")}, {"other", P::tensor("w")}});
    p.node("aten.select.int", "row",
           {{"self", P::tensor("x")}, {"dim", P::integer(0)}, {"index", P::integer(1)}});
    p.node("aten.slice.Tensor", "last",
           {{"self", P::tensor("row")}, {"dim", P::integer(0)}, {"start", P::integer(1)}});
    p.node("aten.add_.Tensor", "written", {{"self", P::tensor("last")}, {"other", P::real(0.5)}});
    p.node("aten.mul_.Scalar", "doubled", {{"self", P::tensor("w")}, {"other", P::integer(2)}});
    p.node("aten.add.Tensor", "sum", {{"self", P::tensor("row")}, {"other", P::tensor("doubled")}});
    p.output("product");
    p.output("sum");
    return p;
  }
  std::string refusal(const P& p) const {
    p.write(path());
    return refusal_text([&] { import_archive(Archive(path())); });
  }

 private:
  TemporaryDirectory folder_;
};

std::vector<float> values_of(const compiler::OutputTensors& outputs, const std::string& name) {
  const auto span = outputs.at(name).as<float>();
  return {span.begin(), span.end()};
}

TEST_F(ImportTest, WritesAreSeenThroughEveryView) {
  writing_program().write(path());
  const Archive archive(path());
  const auto imported = import_archive(archive);
  EXPECT_EQ(imported.graph.symbols().at("n"), (compiler::Interval{2, 8}));
  Tensor x(DType::kF32, Shape({3, 2}));
  for (std::size_t i = 0; i < 6; ++i) x.as<float>()[i] = static_cast<float>(i);
  const auto outputs = compiler::interpret(
      imported.graph, {{"x", x.view()}, {"w", imported.stored.at("w")}}, {{"n", 3}});
  EXPECT_THAT(values_of(outputs, "output.0"), ElementsAre(0, 100, 20, 300, 40, 500));
  EXPECT_THAT(values_of(outputs, "output.1"), ElementsAre(22, 203.5F));
  // Written inputs have their next values, by their own names.
  EXPECT_THAT(values_of(outputs, "x"), ElementsAre(0, 1, 2, 3.5F, 4, 5));
  EXPECT_THAT(values_of(outputs, "w"), ElementsAre(20, 200));
  const auto& all = imported.graph.outputs();
  EXPECT_EQ(all[2].replaces, "x");
  EXPECT_EQ(all[3].replaces, "w");
}

TEST_F(ImportTest, LeavesAreToldInOrder) {
  P p;
  const auto symbol = [](const char* name) { return Json{{"as_sym_int", {{"as_name", name}}}}; };
  const auto give = [&](const Json& leaf) {
    p.specs("output_specs").push_back({{"user_output", {{"arg", leaf}}}});
  };
  p.weight("w", {2}, {1, 2});
  p.program()["range_constraints"]["n"] = {{"min_val", 2}, {"max_val", 8}};
  p.graph()["sym_int_values"]["length"] = {
      {"as_expr", {{"expr_str", "Symbol('n', integer=True)"}}}};
  p.specs("input_specs").push_back({{"user_input", {{"arg", symbol("length")}}}});
  p.specs("input_specs")
      .push_back({{"constant_input", {{"name", "k"}, {"value", {{"as_int", 3}}}}}});
  p.input("x", {-1, 2});
  p.specs("input_specs").push_back({{"user_input", {{"arg", {{"as_none", true}}}}}});
  p.node("aten.mul.Tensor", "product", {{"self", P::tensor("x")}, {"other", P::tensor("w")}});
  give({{"as_none", true}});
  give(P::tensor("product"));
  give(symbol("length"));
  give({{"as_bool", true}});
  p.write(path());
  const auto imported = import_archive(Archive(path()));
  using Kind = TakenLeaf::Kind;
  std::vector<Kind> kinds;
  std::vector<std::string> names, outputs;
  std::vector<bool> numbers;
  for (const auto& leaf : imported.arguments) {
    kinds.push_back(leaf.kind);
    names.push_back(leaf.name);
  }
  for (const auto& leaf : imported.results) {
    outputs.push_back(leaf.output);
    numbers.push_back(leaf.is_number);
  }
  EXPECT_THAT(kinds, ElementsAre(Kind::kSize, Kind::kConstant, Kind::kTensor, Kind::kConstant));
  EXPECT_THAT(names, ElementsAre("length", "k", "x", ""));
  EXPECT_EQ(imported.arguments[0].size, Dim::symbol("n"));
  EXPECT_EQ(imported.arguments[1].value, R"({"as_int":3})");
  EXPECT_EQ(imported.arguments[3].value, R"({"as_none":true})");
  EXPECT_THAT(outputs, ElementsAre("", "output.1", "output.2", "output.3"));
  EXPECT_THAT(numbers, ElementsAre(false, false, true, true));
}

// What never was in a file has a name in what is refused, and its tensors from who asks.
TEST_F(ImportTest, ProgramsWithoutFile) {
  auto p = writing_program();
  const Tensor w(DType::kF32, Shape({2}));
  const TensorView view = w.view();
  const auto import = [&](const FindTensor& find) {
    return import_program(JsonField(p.program(), "here"), "here", find);
  };
  const auto imported =
      import([&](const std::string& name) { return name == "w" ? &view : nullptr; });
  EXPECT_EQ(imported.stored.at("w").raw_data(), view.raw_data());
  EXPECT_EQ(refusal_text([&] { import([](const std::string&) { return nullptr; });
}),
            "here: tensor 'w' is not stored");
}

TEST_F(ImportTest, LeastSizesAsTorchRuns) {
  auto p = writing_program();
  const auto least = [&](bool from_one) {
    p.write(path());
    return import_archive(Archive(path()), from_one).graph.symbols().at("n").low;
  };
  EXPECT_EQ(least(false), 2);
  EXPECT_EQ(least(true), 1);
  p.program()["range_constraints"]["n"]["min_val"] = 3;  // somebody said so
  EXPECT_EQ(least(true), 3);
}

// Numbers that can be negative are what two symbols are apart, in whatever is made of them.
TEST_F(ImportTest, NumbersBelowZero) {
  P p;
  const auto symbol = [](const char* name) { return Json{{"as_sym_int", {{"as_name", name}}}}; };
  p.program()["range_constraints"]["n"] = {{"min_val", -100}, {"max_val", 50}};
  p.graph()["sym_int_values"]["count"] = {{"as_expr", {{"expr_str", "n"}}}};
  p.specs("input_specs").push_back({{"user_input", {{"arg", symbol("count")}}}});
  p.input("x", {2});
  p.node("aten.mul.Tensor", "product", {{"self", P::tensor("x")}, {"other", symbol("count")}});
  p.output("product");
  p.write(path());
  const auto imported = import_archive(Archive(path()));
  EXPECT_EQ(imported.graph.symbols().at("n"), (compiler::Interval{0, 50}));
  EXPECT_EQ(imported.graph.symbols().at("n_below"), (compiler::Interval{0, 100}));
  Tensor x(DType::kF32, Shape({2}));
  x.as<float>()[0] = 1, x.as<float>()[1] = 3;
  const compiler::GivenSizes sizes(imported.graph);
  const auto bound = [&](std::int64_t value) {
    compiler::Bindings symbols;
    bind_size(imported.arguments[0], value, sizes, symbols);
    return symbols;
  };
  for (const std::int64_t value : {-100, -1, 0, 1, 50}) {
    const auto outputs = compiler::interpret(imported.graph, {{"x", x.view()}}, bound(value));
    const auto n = static_cast<float>(value);
    EXPECT_THAT(values_of(outputs, "output"), ElementsAre(n, 3 * n));
  }
  EXPECT_THAT(refusal_text([&] { bound(-101); }),
              HasSubstr("'count' is from -100 to 50, got -101"));
  EXPECT_THAT(refusal_text([&] { bound(51); }), HasSubstr("'count' is from -100 to 50, got 51"));
  const auto least = std::numeric_limits<std::int64_t>::min();
  EXPECT_NE(refusal_text([&] { bound(least); }), "");
}

// What torch refuses when it runs, a program says by outputs of its own, each once.
TEST_F(ImportTest, WhatRunsMustLookAt) {
  P p;
  p.input("x", {4, 2});
  p.input("i", {3});
  p.graph()["tensor_values"]["i"]["dtype"] = 5;
  p.node("aten.embedding.default", "rows",
         {{"weight", P::tensor("x")}, {"indices", P::tensor("i")}});
  p.node("aten.index_select.default", "same",
         {{"self", P::tensor("x")}, {"dim", P::integer(0)}, {"index", P::tensor("i")}});
  p.node("aten.index.Tensor", "wrapped",
         {{"self", P::tensor("x")}, {"indices", {{"as_tensors", {{{"name", "i"}}}}}}});
  p.node("aten._unsafe_index.Tensor", "promised",
         {{"self", P::tensor("x")}, {"indices", {{"as_tensors", {{{"name", "i"}}}}}}});
  p.node("aten.remainder.Tensor", "left", {{"self", P::tensor("i")}, {"other", P::tensor("i")}});
  p.node("aten.remainder.Scalar", "known", {{"self", P::tensor("i")}, {"other", P::integer(3)}});
  for (const auto* name : {"rows", "same", "wrapped", "promised", "left", "known"}) p.output(name);
  p.write(path());
  const auto imported = import_archive(Archive(path()));
  ASSERT_EQ(imported.checks.size(), 3);
  const auto wrong = [&](std::vector<std::int64_t> indices) {
    Tensor x(DType::kF32, Shape({4, 2})), i(DType::kI64, Shape({3}));
    std::ranges::copy(indices, i.as<std::int64_t>().begin());
    const auto outputs =
        compiler::interpret(imported.graph, {{"x", x.view()}, {"i", i.view()}}, {});
    const auto value = [&](const std::string& name) {
      return name.empty() ? 0 : outputs.at(name).as<std::int64_t>()[0];
    };
    std::vector<std::string> texts;
    for (const auto& check : imported.checks) {
      texts.push_back(violation(check, value(check.least), value(check.greatest), {}));
    }
    return texts;
  };
  EXPECT_THAT(wrong({1, 2, 3}), ElementsAre("", "", ""));
  EXPECT_THAT(
      wrong({1, 2, 4}),
      ElementsAre("'rows' (aten.embedding.default): index 4 is outside of an axis of size 4",
                  "'wrapped' (aten.index.Tensor): index 4 is outside of an axis of size 4", ""));
  EXPECT_THAT(
      wrong({1, -4, 3}),
      ElementsAre("'rows' (aten.embedding.default): index -4 is outside of an axis of size 4", "",
                  ""));
  EXPECT_THAT(
      wrong({1, 0, 3}),
      ElementsAre("", "", "'left' (aten.remainder.Tensor): a whole number is divided by 0"));
}

TEST_F(ImportTest, NamesAllUnknownOperatorsAtOnce) {
  auto p = writing_program();
  for (const auto* target : {"aten.lgamma.default", "aten.lgamma.default", "aten.nonzero.default",
                             "aten.squeeze_.dim"}) {
    p.node(target, "unknown", {{"self", P::tensor("x")}});
  }
  const auto text = refusal(p);
  EXPECT_THAT(text, StartsWith(path()));
  EXPECT_THAT(text, HasSubstr("aten.lgamma.default (2 times)"));
  EXPECT_THAT(text,
              HasSubstr("aten.nonzero.default (1 time; a shape or a number that depends on data)"));
  EXPECT_THAT(text, HasSubstr("aten.squeeze_.dim (1 time)"));
}

TEST_F(ImportTest, RefusesByName) {
  auto p = writing_program();
  p.graph()["tensor_values"]["sum"] = P::meta({7});
  EXPECT_THAT(refusal(p), HasSubstr("'sum' (aten.add.Tensor): torch says f32 [7], it is f32 [2]"));
  p = writing_program();
  p.graph()["tensor_values"]["w"]["dtype"] = 1;
  EXPECT_THAT(refusal(p), HasSubstr("uint8"));
  p = writing_program();
  p.weights()["config"]["w"]["tensor_meta"]["sizes"][0]["as_int"] = 3;
  EXPECT_THAT(refusal(p), HasSubstr("config.w"));
  p = writing_program();
  p.weights()["config"]["w"]["use_pickle"] = true;
  EXPECT_THAT(refusal(p), HasSubstr("pickled"));
  p = writing_program();
  p.weights()["config"].erase("w");
  EXPECT_THAT(refusal(p), HasSubstr("'w' is not stored"));
  p = writing_program();
  p.program()["schema_version"]["major"] = 5;
  EXPECT_THAT(refusal(p), HasSubstr("version 8"));
}

// Values of the program, one at a time, that are others: imported, or refused in one line.
TEST_F(ImportTest, AnyChangeIsImportedOrRefused) {
  const Philox stream(7);
  std::uint64_t drawn = 0;
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(uniform_below(stream[drawn++], n));
  };
  const std::vector<Json> others{0,
                                 -1,
                                 2,
                                 1LL << 62,
                                 1.5,
                                 true,
                                 nullptr,
                                 "",
                                 "x",
                                 "n",
                                 Json::array(),
                                 Json::object(),
                                 P::tensor("w"),
                                 P::integer(1)};
  int imported = 0, refused = 0;
  for (int i = 0; i < 2000; ++i) {
    auto p = writing_program();
    auto flat = p.program().flatten();
    auto at = flat.begin();
    std::advance(at, below(flat.size()));
    const Json::json_pointer place(at.key());
    if (below(3) == 0) {
      p.program().at(place.parent_pointer()) = others[below(others.size())];
    } else {
      p.program().at(place) = others[below(others.size())];
    }
    const auto text = refusal(p);
    ++(text.empty() ? imported : refused);
    if (!text.empty()) {
      EXPECT_THAT(text, StartsWith(path())) << place.to_string();
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    }
  }
  EXPECT_GT(imported, 20);
  EXPECT_GT(refused, 200);
}

TEST(Operators, AreKnownByNameOnce) {
  const auto& all = covered_operators();
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_LT(all[i - 1].name, all[i].name);
  EXPECT_TRUE(find_operator("torch.ops.aten.add_.Tensor").writes_self);
  EXPECT_FALSE(find_operator("torch.ops.aten.add.Tensor").writes_self);
  EXPECT_EQ(find_operator("torch.ops.aten.transpose_.int").op, nullptr);
  for (const auto& refused : refused_operators())
    EXPECT_EQ(find_operator(refused.name).op, nullptr);
}

}  // namespace
}  // namespace assay::models::pt2
