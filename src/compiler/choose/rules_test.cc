// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Every rule on instances of what it matches, in all dtypes, on ordinary and adversarial inputs:
// what it puts there is run by plain kernels and held to what was there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/philox.h"
#include "compiler/choose/compile.h"
#include "compiler/graph/graph_models.h"
#include "compiler/rules/tensor_rules.h"
#include "compiler/verify/wrong_program.h"

namespace assay::compiler {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : stream_(seed, 0x7275) {}
  std::uint64_t below(std::uint64_t bound) { return uniform_below(stream_[next_++], bound); }
  bool coin() { return below(2) == 1; }

 private:
  Philox stream_;
  std::uint64_t next_ = 0;
};

const std::vector<DType> kFloating = {DType::kF32, DType::kF64, DType::kBF16, DType::kF16};
// Those that a rule's primitives have: exp2 and its like are of floating point only.
std::vector<DType> dtypes_of(const std::string& rule) {
  auto dtypes = kFloating;
  if (rule.ends_with("-commutes"))  // div is of floating point
    dtypes.insert(dtypes.end(), {DType::kI32, DType::kI64, DType::kBool});
  return dtypes;
}

// An input of a shape that lies in memory in another way.
GraphTensor laid_out(Graph& g, const char* name, DType dtype, const std::vector<Dim>& shape,
                     Chance& chance) {
  const auto input = [&](std::vector<Dim> own) {
    return GraphTensor::input(g, name, dtype, std::move(own));
  };
  switch (chance.below(4)) {
    case 0: {  // the last two exchanged
      if (shape.size() < 2) return input(shape);
      auto own = shape;
      std::swap(own[own.size() - 1], own[own.size() - 2]);
      return input(own).transpose();
    }
    case 1: {  // the first axis last but one
      if (shape.size() < 3) return input(shape);
      auto own = shape;
      std::rotate(own.begin(), own.begin() + 1, own.end() - 1);
      std::vector<std::size_t> order(shape.size());
      for (std::size_t i = 0; i + 1 < order.size(); ++i)
        order[i] = (i + order.size() - 2) % (order.size() - 1);
      order.back() = order.size() - 1;
      return input(own).permute(order);
    }
    case 2: {  // a part of something
      auto own = shape;
      own.back() += 3;
      return input(own).slice(-1, 2, shape.back() + 2);
    }
    default:
      return input(shape);
  }
}

// Instances of what rules match, by the rule's name.
GraphTensor instance(const std::string& rule, Graph& g, DType dtype, Chance& chance) {
  const Dim s = g.symbol("s", 1, 7), t = g.symbol("t", 1, 9);
  const Dim rows = chance.coin() ? s : Dim(5);
  std::vector<Dim> shape = {2, rows, 6};
  if (chance.coin()) shape = {rows, 4};
  const auto x = [&](const char* name) { return laid_out(g, name, dtype, shape, chance); };
  const auto row = [&](const char* name) {
    return GraphTensor::input(g, name, dtype, {shape.back()});
  };
  if (rule == "softmax") return softmax(x("x"), static_cast<int>(chance.below(shape.size())));
  if (rule == "rms-norm") return rms_norm(x("x"), row("w"), 1e-5);
  if (rule == "layer-norm") return layer_norm(x("x"), row("w"), row("b"), 1e-5);
  if (rule == "silu-gate") return swiglu(x("a"), x("b"));
  const auto wide = [](const GraphTensor& y) {
    return size_of(y.dtype()) < 4 ? y.cast(DType::kF32) : y;
  };
  if (rule == "softmax-by-division") {
    const auto axis = static_cast<int>(chance.below(shape.size()));
    const auto y = wide(x("x")), e = exp(y - y.max(axis, true));
    return (e / e.sum(axis, true)).cast(dtype);
  }
  if (rule == "rms-norm-by-division") {
    const auto y = wide(x("x"));
    return (y / sqrt((y * y).mean(-1, true) + 1e-5) * wide(row("w"))).cast(dtype);
  }
  if (rule == "layer-norm-by-division") {
    const auto y = wide(x("x")), centred = y - y.mean(-1, true);
    const auto spread = sqrt((centred * centred).mean(-1, true) + 1e-5);
    return (centred / spread * wide(row("w")) + wide(row("b"))).cast(dtype);
  }
  if (rule == "silu-gate-by-division") {
    const auto a = wide(x("a"));
    return (a / (exp(-a) + 1.0) * wide(x("b"))).cast(dtype);
  }
  if (rule == "div-by-power-of-two") return x("a") / (chance.coin() ? -0.25 : 64.0);
  if (rule == "div-of-one") {
    const auto a = x("a");
    return a.like(1) / a;
  }
  if (rule == "gelu-gate") return geglu(x("a"), x("b"));
  if (rule == "rotary") {
    const auto angle = [&](const char* name) {
      return GraphTensor::input(g, name, dtype, {rows, floor_div(shape.back(), 2)});
    };
    return rotary(x("x"), angle("cosine"), angle("sine"));
  }
  if (rule == "add-commutes") return x("a") + x("b");
  if (rule == "mul-commutes") return x("a") * x("b");
  if (rule == "max-commutes") return max(x("a"), x("b"));
  if (rule == "matmul") {
    std::vector<Dim> batch;
    if (chance.coin()) batch = {3};
    if (!batch.empty() && chance.coin()) batch.insert(batch.begin(), Dim(2));
    auto a = batch, b = chance.coin() ? batch : std::vector<Dim>{};
    if (!b.empty() && chance.coin()) b[0] = 1;
    const Dim k = chance.coin() ? t : Dim(5);
    for (const auto& dim : {chance.below(3) == 0 ? Dim(1) : rows, k}) a.push_back(dim);
    for (const auto& dim : {k, chance.below(3) == 0 ? Dim(1) : Dim(4)}) b.push_back(dim);
    return matmul(laid_out(g, "a", dtype, a, chance), laid_out(g, "b", dtype, b, chance));
  }
  if (rule == "expert-matmul") {
    const auto expert =
        GraphTensor::input(g, "expert", chance.coin() ? DType::kI32 : DType::kI64, {rows});
    return expert_matmul(laid_out(g, "x", dtype, {rows, 5}, chance),
                         laid_out(g, "w", dtype, {3, 5, 4}, chance), expert);
  }
  if (rule == "attention") {
    const std::int64_t heads = 4, shared = chance.coin() ? 4 : 2;
    AttentionOptions options;
    options.causal = chance.coin();
    if (options.causal && chance.coin()) options.offset = chance.coin() ? t - 1 : Dim(2);
    if (options.causal && chance.coin()) options.window = 3;
    if (chance.coin()) {
      const auto kind = chance.coin() ? DType::kBool : dtype;
      options.mask = GraphTensor::input(g, "mask", kind, {rows, t});
    }
    if (chance.coin()) options.scale = 0.7;
    const Dim width = 6;
    return attention(laid_out(g, "q", dtype, {heads, rows, width}, chance),
                     laid_out(g, "k", dtype, {shared, t, width}, chance),
                     laid_out(g, "v", dtype, {shared, t, Dim(5)}, chance), options);
  }
  ADD_FAILURE() << "no instances of " << rule;
  return x("x");
}

std::vector<std::string> rules_in(const Program& program) {
  std::vector<std::string> rules;
  for (const auto& kernel : program.kernels) {
    rules.insert(rules.end(), kernel.rules.begin(), kernel.rules.end());
  }
  return rules;
}

TEST(Rules, EachHoldsOnWhatItMatches) {
  Graph none;
  TensorEGraph empty(none);
  for (const auto& rule : tensor_rules(empty, {})) {
    EXPECT_FALSE(rule.note.empty()) << rule.name;
    int fired = 0, tried = 0;
    const auto dtypes = dtypes_of(rule.name);
    for (std::uint64_t seed = 0; seed < 10 * dtypes.size(); ++seed) {
      Graph g;
      Chance chance(seed);
      const auto dtype = dtypes[seed % dtypes.size()];
      ++tried;
      instance(rule.name, g, dtype, chance).set_output("y");
      const auto program = compile_default(g);
      const auto made = rules_in(program);
      const bool has_fired = std::ranges::find(made, rule.name) != made.end();
      fired += has_fired ? 1 : 0;
      VerifyOptions options;
      options.seed = seed;
      options.most = options.most_in_kernels = 5;
      options.styles = {InputStyle::kOrdinary, InputStyle::kMasking, InputStyle::kHuge};
      // Where keys are hidden, values are finite (the rule's note).
      if (rule.name != "attention") options.styles.push_back(InputStyle::kAdversarial);
      const auto wrong = ProgramVerifier(g, options).mistake_of(program, plain_runtime());
      ASSERT_FALSE(wrong) << rule.name << ", seed " << seed << ": " << *wrong;
    }
    if (!rule.name.ends_with("-commutes") && !rule.name.starts_with("div-")) {
      EXPECT_GE(fired, tried * 3 / 4) << rule.name;
    }
  }
}

// How often each primitive is in the regions of a program.
std::map<Op, int> operations_in(const Program& program) {
  std::map<Op, int> counts;
  for (const auto& kernel : program.kernels) {
    if (const auto* region = std::get_if<Region>(&kernel.work)) {
      for (const auto& value : region->values) ++counts[value.op];
    }
  }
  return counts;
}

TEST(Rules, QuotientsStayUnlessSomethingCheaperHasTheirBits) {
  const auto operations_of = [](auto make) {
    Graph g;
    make(GraphTensor::input(g, "x", DType::kF32, {9})).set_output("y");
    return operations_in(compile_default(g));
  };
  for (const double power : {8.0, 0.5, -2.0, 1.0, 16384.0}) {
    auto of = operations_of([&](const GraphTensor& x) { return x / power; });
    EXPECT_EQ(std::pair(of[Op::kDiv], of[Op::kMul]), std::pair(0, 1)) << power;
  }
  // Of what is none, and of those whose inverse may be below the normal numbers.
  for (const double divisor : {3.0, 0.1, 49.0, 0.0, 0x1p127, HUGE_VAL}) {
    auto of = operations_of([&](const GraphTensor& x) { return x / divisor; });
    EXPECT_EQ(std::pair(of[Op::kDiv], of[Op::kMul]), std::pair(1, 0)) << divisor;
  }
  auto of_one = operations_of([](const GraphTensor& x) { return x.like(1) / x; });
  EXPECT_EQ(std::pair(of_one[Op::kDiv], of_one[Op::kRecip]), std::pair(0, 1));
  auto of_two = operations_of([](const GraphTensor& x) { return x.like(2) / x; });
  EXPECT_EQ(std::pair(of_two[Op::kDiv], of_two[Op::kRecip]), std::pair(1, 0));
}

// As people write it: scores divided by the root of their width, weights by their sum. A root that
// is no power of two has no inverse to multiply by.
TEST(Rules, AttentionIsFoundWhereItDivides) {
  for (const int width : {16, 64, 48}) {
    Graph g;
    const auto input = [&](const char* name) {
      return GraphTensor::input(g, name, DType::kF32, {4, 7, width});
    };
    const auto scores =
        matmul(input("q"), input("k").transpose()) / std::sqrt(static_cast<double>(width));
    const auto e = exp(scores - scores.max(-1, true));
    matmul(e / e.sum(-1, true), input("v")).set_output("y");
    const auto program = compile_default(g);
    const bool is_found = std::ranges::count(rules_in(program), "attention") == 1;
    EXPECT_EQ(is_found, width != 48) << width;
    EXPECT_THAT(rules_in(program), Contains(is_found ? "softmax" : "softmax-by-division")) << width;
    EXPECT_EQ(ProgramVerifier(g).mistake_of(program, plain_runtime()), std::nullopt) << width;
  }
}

TEST(Rules, FamiliesAreSwitchedOff) {
  Graph g;
  Chance chance(3);
  instance("attention", g, DType::kF32, chance).set_output("y");
  EXPECT_THAT(rules_in(compile_default(g)), Contains("attention"));
  CompileOptions options;
  options.disabled = disabled_families("attention,rotary");
  EXPECT_THAT(rules_in(compile_default(g, options)), Not(Contains("attention")));
  EXPECT_THROW(disabled_families("attention,magic"), UserError);
}

// A rule that somebody got wrong, and instances on which it matters.
struct WrongRule {
  std::string name;      // of the rule
  std::string instance;  // of what it is tried on
  std::function<std::vector<TensorRule>(TensorEGraph&)> make;
};

TensorRule wrong_body(TensorEGraph& terms, const std::string& name, BodyMaker result) {
  for (auto rule : body_rules()) {
    if (rule.name != name) continue;
    rule.result = std::move(result);
    return tensor_rule(terms, rule);
  }
  throw InternalError("a rule of that name");
}

std::vector<WrongRule> wrong_rules() {
  using Leaves = std::vector<GraphTensor>;
  using Numbers = std::vector<double>;
  const auto body = [](const std::string& name, BodyMaker result) {
    return WrongRule{name, name, [=](TensorEGraph& terms) {
                       return std::vector<TensorRule>{wrong_body(terms, name, result)};
                     }};
  };
  const auto attention = [](Mistakes mistakes) {
    return WrongRule{"attention", "attention", [=](TensorEGraph& terms) {
                       auto rules = attention_rules(terms, mistakes);
                       rules.push_back(product_rule(terms));
                       for (const auto& rule : body_rules()) {
                         if (rule.name == "softmax") rules.push_back(tensor_rule(terms, rule));
                       }
                       return rules;
                     }};
  };
  const auto with = [](auto set) {
    Mistakes mistakes;
    set(mistakes);
    return mistakes;
  };
  return {
      body("softmax",
           [](const Leaves& x, int axis, const Numbers&) {  // another axis
             return softmax(x[0], axis == 0 ? 1 : 0);
           }),
      body("rms-norm",
           [](const Leaves& x, int, const Numbers&) {  // another ε
             return rms_norm(x[0], x[1], 0.1);
           }),
      body("layer-norm",
           [](const Leaves& x, int, const Numbers& n) {  // weight and bias exchanged
             return layer_norm(x[0], x[2], x[1], n[0]);
           }),
      body("rotary",
           [](const Leaves& x, int, const Numbers&) {  // turned the other way
             return turned_pairs(x[0], x[1], -x[2]);
           }),
      body("silu-gate",
           [](const Leaves& x, int, const Numbers&) {  // the gate exchanged
             return swiglu(x[1], x[0]);
           }),
      {"matmul", "matmul",
       [=](TensorEGraph& terms) {
         return std::vector<TensorRule>{
             product_rule(terms, with([](Mistakes& m) { m.swaps_product = true; }))};
       }},
      {"expert-matmul", "expert-matmul",
       [=](TensorEGraph& terms) {
         return std::vector<TensorRule>{
             product_rule(terms),
             grouped_rule(terms, with([](Mistakes& m) { m.expert_stride = 1; }))};
       }},
      attention(with([](Mistakes& m) { m.scale = 1.25; })),
      attention(with([](Mistakes& m) { m.offset = 1; })),
      attention(with([](Mistakes& m) { m.window = 1; })),
      attention(with([](Mistakes& m) { m.drops_mask = true; })),
      attention(with([](Mistakes& m) { m.drops_causal = true; })),
  };
}

TEST(Rules, WrongOnesAreCaughtAndNamed) {
  const auto all = wrong_rules();
  ASSERT_EQ(all.size(), 12U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& wrong = all[i];
    const auto compile = [&](const Graph& graph) {
      TensorEGraph terms(graph);
      std::vector<egraph::Rule> rules;
      for (auto& rule : wrong.make(terms)) rules.push_back(std::move(rule.rule));
      recognise(terms, rules);
      return lower(chosen_graph(terms).work);
    };
    bool is_caught = false;
    for (std::uint64_t seed = 0; seed < 30 && !is_caught; ++seed) {
      Graph g;
      Chance chance(seed);
      instance(wrong.instance, g, DType::kF32, chance).set_output("y");
      VerifyOptions options;
      options.most = options.most_in_kernels = 5;
      if (!ProgramVerifier(g, options).mistake_of(compile(g), plain_runtime())) continue;
      is_caught = true;
      const WrongProgram error(minimised(g, compile, plain_runtime(), options));
      EXPECT_THAT(error.rules(), Contains(wrong.name)) << i << ": " << error.what();
    }
    EXPECT_TRUE(is_caught) << i << ": " << wrong.name;
  }
}

// A scatter that overwrites what is still to be read: what the proof of exclusivity is there for.
TEST(Rules, AScatterInPlaceOfWhatIsReadLaterIsCaught) {
  Graph g;
  const auto x = GraphTensor::input(g, "x", DType::kF32, {8});
  const auto data = exp(x);
  const auto next = scatter(data, GraphTensor::input(g, "at", DType::kI64, {2}),
                            GraphTensor::input(g, "values", DType::kF32, {2}));
  next.set_output("next");
  (next + data).set_output("y");
  FuseChoices choices;
  choices.regions = false;
  auto program = lower(work_graph_of(g), choices);
  ASSERT_FALSE(ProgramVerifier(g).mistake_of(program, plain_runtime()));
  int scatters = 0;
  for (auto& step : program.steps) {
    auto& kernel = program.kernels[step.kernel];
    auto* scatter = std::get_if<ScatterInto>(&kernel.work);
    if (scatter == nullptr) continue;
    ++scatters;
    ASSERT_FALSE(scatter->in_place);
    ASSERT_EQ(scatter->out.operand, 3U);
    // What it reads lies from the first where it writes.
    const auto from = step.buffers[0], to = step.buffers[3];
    for (auto& other : program.steps) std::ranges::replace(other.buffers, from, to);
    step.buffers.pop_back();
    kernel.operands.pop_back();
    kernel.operands[0].is_written = true;
    scatter->in_place = true;
    scatter->out.operand = 0;
  }
  ASSERT_EQ(scatters, 1);
  EXPECT_TRUE(ProgramVerifier(g).mistake_of(program, plain_runtime()));
}

}  // namespace
}  // namespace assay::compiler
