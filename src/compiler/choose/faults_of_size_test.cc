// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Kernels that are wrong for some sizes or addresses only: beyond the least value of a symbol,
// beyond a border of the runtime, at the size that is used, where nothing is aligned, in a second
// call that is large. And where numbers are none.

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "compiler/choose/candidate.h"
#include "compiler/choose/test_faulty_runtime.h"
#include "compiler/graph/graph_models.h"
#include "compiler/verify/program_verifier.h"

namespace assay::compiler {
namespace {

class FaultsOfSize : public testing::Test {
 protected:
  GraphTensor input(const char* name, const std::vector<Dim>& shape) {
    return GraphTensor::input(graph, name, DType::kF32, shape);
  }
  // Whether either look sees the fault; without it both are content.
  bool sees(const Fault& fault) {
    const auto program = Candidates(graph, {}).program({}, plain_runtime());
    auto right = plain_runtime(), wrong = with_fault(fault);
    right.row_borders = wrong.row_borders = row_borders;
    const auto is_seen = [&](const Runtime& runtime) {
      ProgramVerifier verifier(graph, options);
      const auto mistake = verifier.mistake_of(program, runtime);
      return mistake || verifier.mistake_far_out(program, runtime);
    };
    EXPECT_FALSE(is_seen(right));
    return is_seen(wrong);
  }

  Graph graph;
  VerifyOptions options;
  std::vector<std::int64_t> row_borders;
};

// All of the result is 0.
Fault all_is_lost(std::function<bool(const Bindings&, Operands)> where) {
  return [where = std::move(where)](const Kernel& kernel, const Bindings& symbols,
                                    Operands operands, const std::function<void()>& right) {
    right();
    const auto bytes = bytes_of(kernel.operands.back(), symbols);
    if (where(symbols, operands)) std::memset(operands.back(), 0, static_cast<std::size_t>(bytes));
  };
}
Fault lost_at(std::function<bool(std::int64_t)> is_there) {
  return all_is_lost([=](const Bindings& symbols, Operands) { return is_there(symbols.at("s")); });
}

TEST_F(FaultsOfSize, EverywhereButAtTheLeastValueOfASymbol) {
  for (const std::int64_t least : {41, 300, 2048, 20'000}) {
    graph = Graph();
    const auto s = graph.symbol("s", least, 2 * least);
    const auto x = input("x", {s, 16});
    (x * x + 1.0).set_output("y");
    EXPECT_TRUE(sees(lost_at([=](std::int64_t at) { return at > least; }))) << least;
  }
}

TEST_F(FaultsOfSize, BeyondABorderOfTheRuntime) {
  const auto s = graph.symbol("s", 1, 4096);
  matmul(input("x", {s, 128}), input("w", {128, 100})).set_output("y");
  row_borders = {1024};
  EXPECT_TRUE(sees(lost_at([](std::int64_t at) { return at >= 1024; })));
  EXPECT_TRUE(sees(last_is_lost([](const Bindings& b) { return b.at("s") > 1024; })));
}

// The number of rows need not be a symbol, and a symbol need not go far beyond the border.
TEST_F(FaultsOfSize, BeyondABorderThatSeveralSymbolsReach) {
  row_borders = {1024};
  const auto w = [&] { return input("w", {64, 30}); };
  const auto lost_with = [&](const std::function<std::int64_t(const Bindings&)>& rows) {
    return all_is_lost([=](const Bindings& symbols, Operands) { return rows(symbols) >= 1024; });
  };
  matmul(input("x", {graph.symbol("s", 1, 1040), 64}), w()).set_output("y");
  EXPECT_TRUE(sees(lost_with([](const Bindings& b) { return b.at("s"); })));
  graph = Graph();
  matmul(input("x", {2 * graph.symbol("s", 1, 4096), 64}), w()).set_output("y");
  EXPECT_TRUE(sees(lost_with([](const Bindings& b) { return 2 * b.at("s"); })));
  graph = Graph();
  matmul(input("x", {graph.symbol("s", 1, 600) + graph.symbol("p", 0, 600), 64}), w())
      .set_output("y");
  EXPECT_TRUE(sees(lost_with([](const Bindings& b) { return b.at("s") + b.at("p"); })));
  // Symbols that have no part in it stay small, however great they could be; and so do rows.
  graph = Graph();
  const auto s = graph.symbol("s", 1, 1040), a = graph.symbol("a", 1, std::int64_t{1} << 62);
  matmul(input("x", {s, 8}), input("w", {8, a})).set_output("y");
  EXPECT_TRUE(sees(lost_with([](const Bindings& b) { return b.at("s"); })));
  graph = Graph();
  matmul(input("x", {4 * graph.symbol("s", 1, std::int64_t{1} << 60), 64}), w()).set_output("y");
  EXPECT_TRUE(sees(lost_with([](const Bindings& b) { return 4 * b.at("s"); })));
}

// Also where the number of rows is no symbol by itself, and where there are no rows.
TEST_F(FaultsOfSize, AtTheSizeThatIsUsed) {
  const auto at_used = lost_at([](std::int64_t at) { return at == 500; });
  options.most_work = 2e6;
  options.most_kernel_work = 1e7;
  options.used_at = {{"s", 500}};
  const auto begin = [&] {
    graph = Graph();
    return graph.symbol("s", 1, 4096);
  };
  auto s = begin();
  matmul(input("x", {2 * s, 128}), input("w", {128, 200})).set_output("y");
  EXPECT_TRUE(sees(at_used));
  s = begin();
  matmul(input("x", {s, 48}), input("w", {48, s})).set_output("y");
  EXPECT_TRUE(sees(at_used));
  s = begin();
  attention(input("q", {16, s, 2}), input("k", {16, s, 2}), input("v", {16, s, 2}),
            {.causal = true})
      .set_output("y");
  EXPECT_TRUE(sees(at_used));
  s = begin();
  softmax(input("x", {4 * s, 512}), -1).set_output("y");
  EXPECT_TRUE(sees(at_used));
  options.most_work = options.most_kernel_work = 3e5;
  s = begin();  // one axis, all of it one row
  const auto x = input("x", {1000 * s});
  (x * x * x + 1.0).set_output("y");
  EXPECT_TRUE(sees(at_used));
  s = begin();  // more results than may be interpreted
  softmax(input("x", {4 * s, 256}), -1).set_output("y");
  EXPECT_TRUE(sees(at_used));
}

// Where only some of the results are looked at, all else is looked at as everywhere.
TEST_F(FaultsOfSize, WhatIsWrittenElsewhereAtTheSizeThatIsUsed) {
  options.most_work = 3e5;
  options.most_kernel_work = 1e6;
  options.used_at = {{"s", 500}};
  const auto s = graph.symbol("s", 1, 4096);
  matmul(input("x", {s, 40}), input("w", {40, 200})).set_output("y");
  const auto writes = [](std::size_t operand, bool is_beyond) {
    return [=](const Kernel& kernel, const Bindings& symbols, Operands operands,
               const std::function<void()>& right) {
      right();
      if (symbols.at("s") != 500) return;
      const auto bytes = is_beyond ? bytes_of(kernel.operands[operand], symbols) : 20;
      std::memset(operands[operand] + bytes, 1, 4);
    };
  };
  EXPECT_TRUE(sees(writes(0, false)));
  EXPECT_TRUE(sees(writes(1, false)));
  EXPECT_TRUE(sees(writes(2, true)));
}

// There are no inputs of two kinds at each size, but there are two calls.
TEST_F(FaultsOfSize, TheFirstAnswerAtTheSizeThatIsUsed) {
  options.used_at = {{"s", 500}};
  for (const double most_work : {1e8, 2e4}) {  // the whole is looked at, some rows are
    graph = Graph();
    options.most_work = options.most_kernel_work = most_work;
    const auto x = input("x", {graph.symbol("s", 1, 4096), 64});
    (x * x + 1.0).set_output("y");
    std::map<const std::byte*, std::vector<std::byte>> known;
    EXPECT_TRUE(sees([&](const Kernel& kernel, const Bindings& symbols, Operands operands,
                         const std::function<void()>& right) {
      right();
      if (symbols.at("s") != 500) return;
      const auto bytes = static_cast<std::size_t>(bytes_of(kernel.operands.back(), symbols));
      const auto [first, is_new] = known.try_emplace(operands[0]);
      if (is_new) first->second.assign(operands.back(), operands.back() + bytes);
      std::memcpy(operands.back(), first->second.data(), bytes);
    })) << most_work;
  }
}

// A token behind many, of a model that is searched with few; and every head but the first.
TEST_F(FaultsOfSize, AttentionOnManyKeys) {
  options.most_work = options.most_kernel_work = options.cheap_work = 3e5;
  options.used_at = {{"s", 16}};
  const auto s = graph.symbol("s", 1, 4096);
  attention(input("q", {12, 1, 8}), input("k", {12, s, 8}), input("v", {12, s, 8}), {})
      .set_output("y");
  EXPECT_TRUE(sees(lost_at([](std::int64_t at) { return at >= 3000; })));
  EXPECT_TRUE(sees(last_is_lost([](const Bindings& b) { return b.at("s") >= 3000; })));
}

TEST_F(FaultsOfSize, WhatIsTooLargeEvenInPartIsSaid) {
  const auto s = graph.symbol("s", 1, 4096);
  softmax(input("x", {2, 5000 * s}), -1).set_output("y");
  options.most_work = options.most_kernel_work = 1e5;
  for (const std::int64_t used : {1, 500}) {
    options.used_at = {{"s", used}};
    const auto program = Candidates(graph, {}).program({}, plain_runtime());
    ProgramVerifier verifier(graph, options);
    EXPECT_FALSE(verifier.mistake_of(program, plain_runtime()));
    EXPECT_EQ(verifier.coverage(program, plain_runtime()).unseen.empty(), used == 1);
  }
}

TEST_F(FaultsOfSize, WhereOperandsAreNotAligned) {
  const auto s = graph.symbol("s", 1, 4096);
  (input("x", {s, 16}) * input("w", {16})).set_output("y");
  for (const std::uintptr_t unit : {8, 16, 64}) {
    for (const std::size_t operand : {0, 1, 2}) {
      const auto is_at = [=](bool is_multiple) {
        return all_is_lost([=](const Bindings&, Operands operands) {
          const auto address = reinterpret_cast<std::uintptr_t>(operands[operand]);
          return (address % unit == 0) == is_multiple;
        });
      };
      EXPECT_TRUE(sees(is_at(false))) << unit << " " << operand;
      EXPECT_TRUE(sees(is_at(true))) << unit << " " << operand;
    }
  }
}

TEST_F(FaultsOfSize, TheLastAnswerOfTheSameAddressesWhereItIsLarge) {
  const auto s = graph.symbol("s", 1, 4096);
  const auto x = input("x", {s, 7000});
  (x * x + 1.0).set_output("y");
  std::map<const std::byte*, std::vector<std::byte>> known;
  EXPECT_TRUE(sees([&](const Kernel& kernel, const Bindings& symbols, Operands operands,
                       const std::function<void()>& right) {
    right();
    const auto bytes = static_cast<std::size_t>(bytes_of(kernel.operands.back(), symbols));
    if (bytes < (1 << 20)) return;
    auto& last = known[operands[0]];
    if (last.size() == bytes) std::memcpy(operands.back(), last.data(), bytes);
    if (last.empty()) last.assign(operands.back(), operands.back() + bytes);
  }));
}

// Nothing is masked, so that nothing need not be read.
TEST_F(FaultsOfSize, AttentionThatTakesWhatIsNoNumberForOne) {
  const auto s = graph.symbol("s", 1, 4096);
  attention(input("q", {2, s, 8}), input("k", {2, s, 8}), input("v", {2, s, 8}), {})
      .set_output("y");
  for (const bool is_nan : {true, false}) {
    EXPECT_TRUE(sees([=](const Kernel& kernel, const Bindings& symbols, Operands operands,
                         const std::function<void()>& right) {
      std::vector<std::vector<float>> cleaned;
      std::vector<std::byte*> instead(operands.begin(), operands.end());
      for (std::size_t i = 0; i + 1 < operands.size(); ++i) {
        const auto count = static_cast<std::size_t>(bytes_of(kernel.operands[i], symbols)) / 4;
        cleaned.emplace_back(count);
        std::memcpy(cleaned.back().data(), operands[i], 4 * count);
        for (auto& value : cleaned.back()) {
          if (is_nan ? std::isnan(value) : std::isinf(value)) value = 0;
        }
      }
      for (std::size_t i = 0; i < cleaned.size(); ++i) {
        instead[i] = reinterpret_cast<std::byte*>(cleaned[i].data());
      }
      (void)right;
      plain_runtime().prepare(kernel)->run(symbols, instead);
    })) << is_nan;
  }
}

}  // namespace
}  // namespace assay::compiler
