// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// graph_fusion and graph_blocks: the reference passes the oracle that shares nothing with it, and
// layers that go wrong in the usual ways do not.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "cases/llm/block_answers.h"
#include "cases/llm/cases.h"
#include "cases/llm/point_graphs.h"
#include "compiler/reference/interpret.h"
#include "judged_cases.h"
#include "tensor/safetensors.h"

namespace assay::cases::llm {
namespace {

class GraphCases : public JudgedCases {
 protected:
  GraphCases() : JudgedCases(add_cases, add_workloads) {}

  static Json block(const char* name, const char* dtype, int tokens, int cached) {
    return {{"block", name},    {"size", "tiny"}, {"tokens", tokens},
            {"cached", cached}, {"dtype", dtype}, {"seed", 0}};
  }
  static Json fusion(const char* name, const char* dtype, int n, int width) {
    return {{"graph", name}, {"n", n}, {"width", width}, {"dtype", dtype}, {"seed", 0}};
  }

  // The judge's word on what the reference makes of inputs that somebody changed.
  lab::Judgement verdict_on(const Json& point, const std::function<void(GraphTensors&)>& change) {
    const BlockPoint p(point);
    GraphTensors in;
    fill_graph_inputs(p, lab::kJudgedSet, false, in);
    fill_graph_inputs(p, lab::kJudgedSet, true, in);
    change(in);
    compiler::InputViews views;
    for (const auto& [name, tensor] : in) views.emplace(name, tensor.view());
    const auto outputs = compiler::interpret(block_graph(p), views, {});
    std::vector<std::pair<std::string, TensorView>> all;
    for (const auto& [name, tensor] : outputs) all.emplace_back(name, tensor.view());
    return judged(point, all);
  }
  lab::Judgement judged(const Json& point,
                        const std::vector<std::pair<std::string, TensorView>>& outputs) {
    write_safetensors(dir_.path() + "/out", outputs);
    const auto& c = cases_.find("graph_blocks");
    const auto others = c.expect(point, 0, 0);
    return lab::judge(c.expect(point, lab::kJudgedSet, 0), dir_.path() + "/out",
                      [&](int) -> const std::vector<lab::Expectation>& { return others; });
  }
};

TEST_F(GraphCases, AreSound) { expect_sound_definitions(); }

TEST_F(GraphCases, OursPassEveryGraph) {
  for (const char* graph : {"affine", "chain", "gate", "diamond", "chain_sum", "norm", "softmax"}) {
    for (const char* dtype : {"f32", "bf16", "f16"}) {
      for (const auto& [n, width] : {std::pair{1, 1}, {7 * 131, 131}, {4 * 64, 64}}) {
        for (const char* provider : {"assay-reference", "assay"}) {
          const auto got = verdict("graph_fusion", fusion(graph, dtype, n, width), provider);
          EXPECT_EQ(got.status, lab::Status::kOk)
              << provider << " " << graph << " " << dtype << " " << n << ": " << got.message;
        }
      }
    }
  }
}

TEST_F(GraphCases, OursPassEveryBlock) {
  for (const char* name : {"norm_matmul", "mlp", "attention", "moe", "transformer"}) {
    for (const char* dtype : {"f32", "bf16", "f16"}) {
      for (const auto& [tokens, cached] : {std::pair{1, 0}, {1, 9}, {5, 0}, {7, 12}}) {
        const bool looks_back = name[0] == 'a' || name[0] == 't';
        if (cached > 0 && !looks_back) continue;
        for (const char* provider : {"assay-reference", "assay"}) {
          const auto got = verdict("graph_blocks", block(name, dtype, tokens, cached), provider);
          EXPECT_EQ(got.status, lab::Status::kOk) << provider << " " << name << " " << dtype << " "
                                                  << tokens << "+" << cached << ": " << got.message;
        }
      }
    }
  }
}

TEST_F(GraphCases, WhatASearchFindsPasses) {
  for (const auto& got :
       {verdict("graph_blocks", block("mlp", "bf16", 3, 0), "assay-searched"),
        verdict("graph_fusion", fusion("norm", "f32", 6 * 64, 64), "assay-searched")}) {
    EXPECT_EQ(got.status, lab::Status::kOk) << got.message;
  }
}

TEST_F(GraphCases, AnotherSetIsRefused) {
  const auto stale = verdict("graph_blocks", block("mlp", "f32", 3, 0), "assay-reference", 0);
  EXPECT_EQ(stale.status, lab::Status::kWrongResult);
  EXPECT_EQ(stale.code, "stale");
}

// What goes wrong in such layers, in f32 and in the narrowest type.
TEST_F(GraphCases, FaultsAreRefused) {
  const auto swapped = [](const char* a, const char* b) {
    return [a, b](GraphTensors& in) { std::swap(in.at(a), in.at(b)); };
  };
  const auto turned = [](std::int64_t from) {
    return [from](GraphTensors& in) {
      auto other = BlockPoint(block("transformer", "f32", 6, 11));
      other.dtype = in.at("cos").dtype();
      for (auto& input : other.inputs) {
        if (input.kind == GraphInput::Kind::kCos || input.kind == GraphInput::Kind::kSin)
          input.first = from;
      }
      GraphTensors tables;
      fill_graph_inputs(other, 0, true, tables);
      in.at("cos") = std::move(tables.at("cos"));
      in.at("sin") = std::move(tables.at("sin"));
    };
  };
  const auto straight = [](GraphTensors& in) {
    std::ranges::fill(in.at("sin").bytes(), std::byte{0});
    auto ones = Tensor(DType::kF32, in.at("cos").shape());
    std::ranges::fill(ones.as<float>(), 1.0F);
    in.at("cos") = Tensor::converted(ones.view(), in.at("cos").dtype());
  };
  for (const char* dtype : {"f32", "bf16"}) {
    const auto layer = block("transformer", dtype, 6, 11);
    const auto is_refused = [&](const Json& point, const std::function<void(GraphTensors&)>& fault,
                                const char* what) {
      EXPECT_EQ(verdict_on(point, fault).status, lab::Status::kWrongResult) << what << " " << dtype;
    };
    EXPECT_EQ(verdict_on(layer, [](GraphTensors&) {}).status, lab::Status::kOk);
    is_refused(block("mlp", dtype, 3, 0), swapped("wg", "wu"), "gate and value swapped");
    is_refused(layer, swapped("wg", "wu"), "gate and value swapped in a layer");
    is_refused(layer, swapped("wk", "wv"), "keys and values swapped");
    is_refused(layer, swapped("g1", "g2"), "norms swapped");
    is_refused(layer, straight, "no rotary");
    is_refused(layer, turned(12), "positions one too far");
    is_refused(layer, turned(0), "positions from the beginning");
    is_refused(block("moe", dtype, 9, 0), swapped("wg", "wu"), "experts' gate and value swapped");
  }
}

// A mask that shows one key too many or one too few: attention by the oracle's own loop, whose
// offset says what a query sees.
TEST_F(GraphCases, WrongMasksAreRefused) {
  for (const char* dtype : {"f32", "bf16"}) {
    const auto point = block("attention", dtype, 6, 5);
    const BlockPoint p(point);
    GraphTensors in;
    fill_graph_inputs(p, lab::kJudgedSet, false, in);
    const auto part = [&](const char* name, std::int64_t head, std::int64_t rows) {
      std::vector<std::int64_t> which(static_cast<std::size_t>(rows));
      std::iota(which.begin(), which.end(), head * rows);
      return PlainMatrix(in.at(name).view()).chosen(which);
    };
    for (const int wrong : {-1, 0, 1, 6}) {
      Tensor y(DType::kF32, Shape(p.output_shape()));
      auto next = y.as<float>().begin();
      for (std::int64_t head = 0; head < p.size.heads; ++head) {
        const auto group = head / (p.size.heads / p.size.kv_heads);
        const auto out = plain_attention(part("q", head, p.tokens), part("k", group, p.keys()),
                                         part("v", group, p.keys()), p.cached + wrong);
        next = std::ranges::transform(out.values, next, [](double value) {
                 return static_cast<float>(value);
               }).out;
      }
      const auto narrow = Tensor::converted(y.view(), p.dtype);
      EXPECT_EQ(judged(point, {{"y", narrow.view()}}).status,
                wrong == 0 ? lab::Status::kOk : lab::Status::kWrongResult)
          << wrong << " " << dtype;
    }
  }
}

}  // namespace
}  // namespace assay::cases::llm
