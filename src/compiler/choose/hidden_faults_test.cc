// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Kernels that are wrong where one hardly looks: at sizes that no vector divides, in long inputs,
// beside their buffers, in the second call. And memory that is given away too early.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "compiler/choose/candidate.h"
#include "compiler/choose/test_faulty_runtime.h"
#include "compiler/graph/graph_models.h"
#include "compiler/run/memory_plan.h"
#include "compiler/verify/program_verifier.h"
#include "compiler/verify/rounded_values.h"

namespace assay::compiler {
namespace {

Program default_program(const Graph& graph, const CompileOptions& options = {}) {
  return Candidates(graph, options).program({}, plain_runtime());
}

// Whether the fault is seen; without it the program is right.
bool sees(const Graph& graph, const Fault& fault) {
  const auto program = default_program(graph);
  EXPECT_EQ(ProgramVerifier(graph).mistake_of(program, plain_runtime()), std::nullopt);
  return ProgramVerifier(graph).mistake_of(program, with_fault(fault)).has_value();
}

Graph squares(std::int64_t least) {
  Graph g;
  const auto s = g.symbol("s", least, 4096);
  const auto x = GraphTensor::input(g, "x", DType::kF32, {s, 32});
  (x * x + 1.0).set_output("y");
  return g;
}

Graph one_query() {
  Graph g;
  const auto t = g.symbol("t", 1, 4096);
  const auto heads = [&](const char* name, const Dim& rows) {
    return GraphTensor::input(g, name, DType::kF32, {2, rows, 8});
  };
  attention(heads("q", 1), heads("k", t), heads("v", t), {}).set_output("y");
  return g;
}

TEST(HiddenFaults, SizesThatNoVectorDivides) {
  for (const std::int64_t least : {1, 8}) {
    for (const std::int64_t block : {2, 4, 16}) {
      EXPECT_TRUE(sees(squares(least), last_is_lost([&](const Bindings& symbols) {
                         const auto s = symbols.at("s");
                         return s > 8 && s % block != 0;
                       })))
          << least << " " << block;
    }
  }
}

TEST(HiddenFaults, LongInputs) {
  for (const std::int64_t from : {513, 1025, 2049}) {
    const auto is_long = [&](const char* name) {
      return last_is_lost([&, name](const Bindings& symbols) { return symbols.at(name) >= from; });
    };
    EXPECT_TRUE(sees(squares(1), is_long("s"))) << from;
    EXPECT_TRUE(sees(one_query(), is_long("t"))) << from;
  }
}

Graph one_product(std::int64_t terms, std::int64_t columns) {
  Graph g;
  const auto s = g.symbol("s", 1, 4096);
  matmul(GraphTensor::input(g, "x", DType::kF32, {s, terms}),
         GraphTensor::input(g, "w", DType::kF32, {terms, columns}))
      .set_output("y");
  return g;
}

// Few rows are computed otherwise than one or many; and where blocks fit, nothing is left over.
TEST(HiddenFaults, FewRowsAndSizesThatFit) {
  for (const auto& graph : {squares(1), one_product(48, 40)}) {
    const auto lost_where = [&](bool (*is_there)(std::int64_t)) {
      return last_is_lost([=](const Bindings& symbols) { return is_there(symbols.at("s")); });
    };
    EXPECT_TRUE(sees(graph, lost_where([](std::int64_t s) { return s % 2 == 0; })));
    EXPECT_TRUE(sees(graph, lost_where([](std::int64_t s) { return s >= 2 && s <= 8; })));
    EXPECT_TRUE(sees(graph, lost_where([](std::int64_t s) { return s % 64 == 0; })));
  }
  // Of large products some columns.
  const auto graph = one_product(384, 512);
  const auto lost = with_fault([](const Kernel& kernel, const Bindings& symbols, Operands operands,
                                  const std::function<void()>& right) {
    right();
    const auto bytes = static_cast<std::size_t>(bytes_of(kernel.operands.back(), symbols));
    if (symbols.at("s") == 100) std::memset(operands.back(), 0, bytes);
  });
  VerifyOptions options;
  options.used_at = {{"s", 100}};
  EXPECT_NE(ProgramVerifier(graph, options).mistake_of(default_program(graph), lost), std::nullopt);
}
// A batch norm whose statistics are given, and a product of it.
Graph normalised() {
  Graph g;
  const auto input = [&](const char* name, std::vector<Dim> shape) {
    return GraphTensor::input(g, name, DType::kF32, std::move(shape));
  };
  const auto x = input("x", {g.symbol("s", 1, 64), 32});
  const auto scaled = (x - input("mean", {32})) * recip(sqrt(input("var", {32}) + 1e-5));
  matmul(relu(scaled), input("w", {32, 16})).set_output("y");
  return g;
}

// Doubled results are seen although nearly all numbers would leave NaN; and where nothing but NaN
// can come, an output is held to nothing.
TEST(HiddenFaults, BehindRoots) {
  const Fault doubled = [](const Kernel& kernel, const Bindings& symbols, Operands operands,
                           const std::function<void()>& right) {
    right();
    const auto& out = kernel.operands.back();
    const auto count = product(out.shape).at(symbols);
    auto* const values = reinterpret_cast<float*>(operands.back());
    if (out.shape.size() == 2) std::for_each(values, values + count, [](float& v) { v *= 2; });
  };
  Graph surprise;
  const auto p = GraphTensor::input(surprise, "p", DType::kF32, {surprise.symbol("s", 1, 64), 32});
  matmul(log(p * -1.0 + 1.0), GraphTensor::input(surprise, "w", DType::kF32, {32, 16}))
      .set_output("y");
  for (const auto& graph : {normalised(), surprise}) {
    const auto program = default_program(graph);
    ProgramVerifier verifier(graph);
    EXPECT_EQ(verifier.mistake_of(program, plain_runtime()), std::nullopt);
    EXPECT_TRUE(verifier.coverage(program, plain_runtime()).unheld.empty());
    EXPECT_NE(ProgramVerifier(graph).mistake_of(program, with_fault(doubled)), std::nullopt);
  }
  Graph hopeless;
  sqrt(GraphTensor::input(hopeless, "x", DType::kF32, {8}) * 0.0 + -1.0).set_output("y");
  const auto program = default_program(hopeless);
  ProgramVerifier verifier(hopeless);
  EXPECT_EQ(verifier.mistake_of(program, plain_runtime()), std::nullopt);
  EXPECT_EQ(verifier.coverage(program, plain_runtime()).unheld.size(), 1u);
}

TEST(HiddenFaults, TheSizeThatIsUsed) {
  for (const auto& graph : {squares(1), one_product(48, 40)}) {
    const auto program = default_program(graph);
    for (const std::int64_t used : {16, 17, 100, 128}) {
      const auto fault =
          last_is_lost([&](const Bindings& symbols) { return symbols.at("s") == used; });
      VerifyOptions options;
      options.used_at = {{"s", used}};
      EXPECT_NE(ProgramVerifier(graph, options).mistake_of(program, with_fault(fault)),
                std::nullopt)
          << used;
    }
  }
}

// Rules that hold for numbers around 1 only.
TEST(HiddenFaults, WhatIsOnlyWrongOfStrongNumbers) {
  const auto of_x = [](const std::function<GraphTensor(const GraphTensor&)>& f) {
    Graph g;
    f(GraphTensor::input(g, "x", DType::kF32, {g.symbol("s", 1, 64), 40})).set_output("y");
    return g;
  };
  const auto expect_seen = [](const Graph& right, const Graph& wrong) {
    ProgramVerifier verifier(right);
    EXPECT_EQ(verifier.mistake_of(default_program(right), plain_runtime()), std::nullopt);
    EXPECT_NE(verifier.mistake_of(default_program(wrong), plain_runtime()), std::nullopt);
  };
  expect_seen(of_x([](const GraphTensor& x) { return softmax(x, 1); }),
              of_x([](const GraphTensor& x) {
                const auto up = exp(x);
                return up * recip(up.sum(1, true));
              }));
  expect_seen(of_x([](const GraphTensor& x) { return silu(x); }), of_x([](const GraphTensor& x) {
                return select(less(x, x.like(-10)), x.like(0), silu(x));
              }));
  expect_seen(of_x([](const GraphTensor& x) { return log2(exp2(x)); }),
              of_x([](const GraphTensor& x) { return x * 1.0; }));
}

TEST(HiddenFaults, ZeroTimesWhatLiesBehindAnInput) {
  const Fault fault = [](const Kernel& kernel, const Bindings& symbols, Operands operands,
                         const std::function<void()>& right) {
    right();
    float beyond = 0, first = 0;
    std::memcpy(&beyond, operands.front() + bytes_of(kernel.operands.front(), symbols), 4);
    std::memcpy(&first, operands.back(), 4);
    first += 0 * beyond;
    std::memcpy(operands.back(), &first, 4);
  };
  EXPECT_TRUE(sees(squares(1), fault));
}

// In bf16 each result is a unit off at most, whichever way it is rounded.
TEST(HiddenFaults, CutOffInsteadOfRounded) {
  Graph g;
  const auto s = g.symbol("s", 1, 512);
  const auto x = GraphTensor::input(g, "x", DType::kBF16, {s, 32});
  const auto w = GraphTensor::input(g, "w", DType::kBF16, {32, 32});
  matmul(x, w).set_output("y");
  const Fault cut_off = [](const Kernel& kernel, const Bindings& symbols, Operands operands,
                           const std::function<void()>& right) {
    right();
    if (kernel.operands.back().dtype != DType::kBF16) return;
    const auto count = product(kernel.operands.back().shape).at(symbols);
    // Half of the results would have been rounded up: those, by their last bits, are one less.
    auto* results = reinterpret_cast<std::uint16_t*>(operands.back());
    for (std::int64_t i = 0; i < count; ++i) {
      const bool is_finite = (results[i] & 0x7F80) != 0x7F80 && (results[i] & 0x7FFF) != 0;
      if (is_finite && (i * 7 + results[i]) % 2 == 0) --results[i];
    }
  };
  EXPECT_TRUE(sees(g, cut_off));
}

TEST(HiddenFaults, TheLastAnswerOfTheSameAddresses) {
  std::map<std::vector<std::byte*>, std::vector<std::byte>> known;
  const Fault fault = [&](const Kernel& kernel, const Bindings& symbols, Operands operands,
                          const std::function<void()>& right) {
    right();
    auto& last = known[{operands.begin(), operands.end()}];
    const auto bytes = static_cast<std::size_t>(bytes_of(kernel.operands.back(), symbols));
    if (last.size() == bytes) {
      std::memcpy(operands.back(), last.data(), bytes);
    } else {
      last.assign(operands.back(), operands.back() + bytes);
    }
  };
  EXPECT_TRUE(sees(squares(1), fault));
}

// x + x̂ W in mixed precision, where x̂ is x rounded to bf16: the sum takes x as it is.
TEST(HiddenFaults, WhatIsRoundedForSomebodyElse) {
  const auto residual = [](bool is_wrong) {
    Graph g;
    const auto x = GraphTensor::input(g, "x", DType::kF32, {5, 32});
    const auto narrow = x.cast(DType::kBF16);
    const auto w = GraphTensor::input(g, "w", DType::kBF16, {32, 32});
    const auto y = matmul(narrow, w).cast(DType::kF32);
    ((is_wrong ? narrow.cast(DType::kF32) : x) + y).set_output("y");
    return g;
  };
  const auto right = residual(false);
  EXPECT_EQ(ProgramVerifier(right).mistake_of(default_program(right), plain_runtime()),
            std::nullopt);
  const auto wrong = default_program(residual(true));
  EXPECT_NE(ProgramVerifier(right).mistake_of(wrong, plain_runtime()), std::nullopt);
}

Graph deep_model(bool loses_a_row) {
  Graph g;
  auto x = GraphTensor::input(g, "x", DType::kF32, {9, 32});
  for (int i = 0; i < 12; ++i) {
    const auto linear = [&](const GraphTensor& of, const char* name) {
      return matmul(of, GraphTensor::input(g, name + std::to_string(i), DType::kF32, {32, 32}));
    };
    const auto heads = [](const GraphTensor& of) { return of.split(1, 8).permute({1, 0, 2}); };
    const auto one = GraphTensor::input(g, "norm" + std::to_string(i), DType::kF32, {32});
    const auto h = rms_norm(x, one, 1e-5);
    const auto seen = attention(heads(linear(h, "q")), heads(linear(h, "k")), heads(linear(h, "v")),
                                {.causal = true});
    x = x + linear(silu(linear(seen.permute({1, 0, 2}).reshape({9, 32}), "u")), "d");
  }
  const auto row = GraphTensor::iota(g, 9).reshape({9, 1});
  if (loses_a_row) x = select(less(row, row.like(8)).broadcast_to({9, 32}), x, x.like(0));
  x.set_output("y");
  return g;
}

// Of the last of twelve layers no bound says anything; what it is in f64 does.
TEST(HiddenFaults, AMaskOrARowThatIsMissingInADeepModel) {
  const auto g = deep_model(false);
  const auto program = default_program(g);
  ProgramVerifier verifier(g);
  EXPECT_EQ(verifier.mistake_of(program, plain_runtime()), std::nullopt);
  auto wrong = program;
  int changed = 0;
  for (auto& kernel : wrong.kernels) {
    if (auto* attention = std::get_if<Attention>(&kernel.work)) {
      attention->causal = false;
      ++changed;
    }
  }
  EXPECT_GT(changed, 0);
  EXPECT_NE(verifier.mistake_of(wrong, plain_runtime()), std::nullopt);
  const auto without_a_row = deep_model(true);
  EXPECT_NE(verifier.mistake_of(default_program(without_a_row), plain_runtime()), std::nullopt);
}

// What a rule made that is right up to some length: the same up to there, whatever is compared.
TEST(HiddenFaults, WhatIsOnlyWrongFromSomeLengthOn) {
  const auto causal = [](std::optional<Dim> window) {
    Graph g;
    const auto s = g.symbol("s", 1, 4096), t = g.symbol("t", 0, 4096);
    const auto heads = [&](const char* name, const Dim& rows) {
      return GraphTensor::input(g, name, DType::kF32, {2, rows, 8});
    };
    attention(heads("q", s), heads("k", t + s), heads("v", t + s),
              {.causal = true, .offset = t, .window = std::move(window)})
        .set_output("y");
    return g;
  };
  const auto graph = causal(std::nullopt);
  ProgramVerifier verifier(graph);
  EXPECT_EQ(verifier.mistake_far_out(default_program(graph), plain_runtime()), std::nullopt);
  for (const std::int64_t from : {256, 257, 292, 700, 1000}) {
    const auto wrong = default_program(causal(from));
    EXPECT_NE(verifier.mistake_far_out(wrong, plain_runtime()), std::nullopt) << from;
  }
}

// What rules could make of a choice that is the same for every number: not where there is none.
TEST(HiddenFaults, WhatIsOnlyWrongOfWhatIsNoNumber) {
  const auto graph_of = [](bool is_right, bool chooses) {
    Graph g;
    const auto s = g.symbol("s", 1, 64);
    const auto x = GraphTensor::input(g, "x", DType::kF32, {s, 8}),
               y = GraphTensor::input(g, "y", DType::kF32, {s, 8});
    const auto b = GraphTensor::input(g, "b", DType::kBool, {s, 8});
    const auto chosen = is_right ? select(b, x, x.like(0)) : x * b.cast(DType::kF32);
    const auto greatest = is_right ? max(x, y) : select(less(x, y), y, x);
    (chooses ? chosen : greatest).set_output("z");
    return g;
  };
  for (const bool chooses : {true, false}) {
    const auto graph = graph_of(true, chooses);
    ProgramVerifier verifier(graph);
    const auto wrong = default_program(graph_of(false, chooses));
    EXPECT_EQ(verifier.mistake_of(default_program(graph), plain_runtime()), std::nullopt);
    EXPECT_NE(verifier.mistake_of(wrong, plain_runtime()), std::nullopt) << chooses;
  }
}

TEST(HiddenFaults, RoundedValuesAreKnownByTheirOwnSize) {
  Graph g;
  const auto rounded = GraphTensor::input(g, "x", DType::kF32, {1001}).cast(DType::kBF16);
  rounded.set_output("y");
  const auto id = g.outputs().front().node;
  const auto values = [](double off) {
    Tensor wide(DType::kF64, Shape({1001}));
    for (std::size_t i = 0; i < 1000; ++i) {
      wide.as<double>()[i] = 1e-3 * static_cast<double>(i) + 1e-4 * 3.14159 + off;
    }
    wide.as<double>()[1000] = 1e6 + 0.123;  // by its size all others are the same
    return wide;
  };
  RoundedValues known;
  known.add(g, id, values(0).view());
  known.sort();
  EXPECT_EQ(known.mistake_in(g, id, values(0).view()), std::nullopt);
  EXPECT_EQ(known.mistake_in(g, id, values(1e-15).view()), std::nullopt);
  EXPECT_NE(known.mistake_in(g, id, values(1e-5).view()), std::nullopt);
}

TEST(HiddenFaults, TemporariesOverOneAnother) {
  Graph g;
  const auto x = GraphTensor::input(g, "x", DType::kF32, {8});
  const auto early = exp(x);
  (early * sqrt(early + early.sum(0, true))).set_output("y");
  CompileOptions options;
  options.disabled = {"fusion"};
  const auto program = default_program(g, options);
  const auto plan = plan_memory(program, {});
  EXPECT_EQ(mistake_in_plan(program, plan), "");
  int pairs = 0;
  for (const auto& step : program.steps) {
    for (const auto a : step.buffers) {
      for (const auto b : step.buffers) {
        if (a == b || plan.offsets[a] < 0 || plan.offsets[b] < 0) continue;
        auto wrong = plan;
        wrong.offsets[a] = wrong.offsets[b];
        EXPECT_NE(mistake_in_plan(program, wrong), "") << a << " " << b;
        ++pairs;
      }
    }
  }
  EXPECT_GT(pairs, 2);
  auto small = plan;
  small.arena_bytes -= 64;
  EXPECT_NE(mistake_in_plan(program, small), "");
}

}  // namespace
}  // namespace assay::compiler
