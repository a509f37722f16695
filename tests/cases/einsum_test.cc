// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cases/einsum/cases.h"
#include "cases/einsum/contraction_expectation.h"
#include "cases/einsum/contractions.h"
#include "cases/einsum/decomposition_inputs.h"
#include "cases/einsum/workloads.h"
#include "einsum/einsum.h"
#include "judged_cases.h"
#include "tensor/safetensors.h"

namespace assay::cases::einsum {
namespace {

class EinsumCases : public JudgedCases {
 protected:
  EinsumCases() : JudgedCases(add_cases, add_workloads) {}
};

TEST_F(EinsumCases, AreSound) {
  expect_sound_definitions();
  for (const auto& c : cases_.all()) {
    if (c->name() == "einsum_order") continue;  // a search has no arithmetic of its own
    for (const auto& point : c->all_points()) EXPECT_GT(c->work(point).at("flops"), 0);
  }
}

Json contraction_point(const std::string& contraction, const char* dtype) {
  return {{"contraction", contraction}, {"dtype", dtype}, {"seed", 3}};
}

TEST_F(EinsumCases, NativeProvidersPassTheirOracles) {
  for (const char* dtype : {"f32", "f64"}) {
    for (const char* pair : {"small", "half_transform_8", "tccg_4", "batched_sum",
                             "scaled_transpose", "batched_rows"}) {
      const auto v = verdict("einsum_pair", contraction_point(pair, dtype), "assay-blas");
      EXPECT_EQ(v.status, lab::Status::kOk) << pair << ": " << v.message;
    }
    for (const char* network :
         {"chain_3", "chain_4", "chain_6", "peps", "tetrahedron", "lattice_4x4", "mps_norm_8"}) {
      const auto v = verdict("einsum_network", contraction_point(network, dtype), "assay-blas");
      EXPECT_EQ(v.status, lab::Status::kOk) << network << " " << dtype << ": " << v.message;
    }
  }
  const auto small = contraction_point("small", "f32");
  EXPECT_EQ(verdict("einsum_pair", small, "reference").status, lab::Status::kOk);
  EXPECT_EQ(verdict("einsum_pair", small, "assay-blas", 0).code, "stale");
}

TEST_F(EinsumCases, LargePointsAreJudgedBySampledRows) {
  const auto v = verdict("einsum_pair", contraction_point("batch_16x256", "f32"), "assay-blas");
  EXPECT_EQ(v.status, lab::Status::kOk) << v.message;
  EXPECT_EQ(v.fidelity.oracle, "plain loops in f64");
  EXPECT_TRUE(v.fidelity.checked->sampled);
  EXPECT_GE(v.fidelity.checked->rows, 2);
}

// The oracle cannot afford all of these; a fault in any one row is found all the same, whatever the
// draw, and an interior row and place are among the drawn.
TEST_F(EinsumCases, NoRowGoesUnjudged) {
  for (const auto& [name, table] : {std::pair{"half_transform", &network_contractions()},
                                    std::pair{"transform_4", &network_contractions()},
                                    std::pair{"conv", &network_contractions()},
                                    std::pair{"batch_32x1024", &pair_contractions()},
                                    std::pair{"matmul_2048", &pair_contractions()}}) {
    const ContractionPoint p(contraction_point(name, "f32"), *table);
    const auto output = p.contraction.output();
    for (std::int64_t draw = 0; draw < 20; ++draw) {
      const auto parts = judged_parts(p, draw);
      ASSERT_EQ(parts.size(), 2u) << name;
      const auto& rows = parts[0].at(output[0]);
      EXPECT_EQ(parts[0].size(), 1u);
      EXPECT_GE(rows.size(), 3u);
      EXPECT_EQ(rows.front(), 0);
      EXPECT_EQ(rows.back(), p.output[0] - 1);
      EXPECT_FALSE(parts[1].contains(output[0]));  // every row
      for (std::size_t axis = 1; axis < output.size(); ++axis) {
        const auto& places = parts[1].at(output[axis]);
        EXPECT_GE(places.size(), 3u);
        EXPECT_EQ(places.front(), 0);
        EXPECT_EQ(places.back(), p.output[axis] - 1);
      }
    }
  }
}

TEST_F(EinsumCases, AFaultInAnyRowIsFound) {
  const auto point = contraction_point("half_transform", "f32");
  const auto& c = cases_.find("einsum_network");
  const auto workload = workloads_.make(c.name(), "assay-blas", point, 1);
  workload->load(0, lab::kJudgedSet);
  workload->call(0);
  workload->write_outputs(dir_.path() + "/out");
  const auto expected = c.expect(point, lab::kJudgedSet, 7);
  const auto judged = [&](const std::string& path) {
    return lab::judge(expected, path,
                      [&](int) -> const std::vector<lab::Expectation>& { return expected; });
  };
  const auto right = judged(dir_.path() + "/out");
  EXPECT_EQ(right.status, lab::Status::kOk) << right.message;
  EXPECT_EQ(right.fidelity.checked->rows, 16);
  for (std::int64_t row = 0; row < 16; ++row) {
    Tensor wrong = Tensor::copy(SafetensorsFile(dir_.path() + "/out").view("c"));
    const auto size = static_cast<std::size_t>(wrong.element_count() / 16);
    for (auto& x : wrong.as<float>().subspan(static_cast<std::size_t>(row) * size, size)) x += 1;
    write_safetensors(dir_.path() + "/wrong", {{"c", wrong.view()}});
    EXPECT_EQ(judged(dir_.path() + "/wrong").status, lab::Status::kWrongResult) << row;
  }
}

// The work of a contraction is a number of mathematics: the fewest operations of any order. The
// engine's planner must find it, and the oracle's path must not need many more.
TEST_F(EinsumCases, PlansMadeBeforeAndKernelsThatWereTriedAreRightToo) {
  for (const char* provider : {"assay-planned", "assay-tuned"}) {
    for (const char* pair : {"small", "two_sums", "scaled_transpose", "outer"}) {
      const auto v = verdict("einsum_pair", contraction_point(pair, "f32"), provider);
      EXPECT_EQ(v.status, lab::Status::kOk) << pair << " " << provider << ": " << v.message;
    }
  }
  const auto& expression = cases_.find("einsum_expression");
  for (const auto& point : expression.standard_points()) {
    const auto v = verdict("einsum_expression", point, "assay-blas");
    EXPECT_EQ(v.status, lab::Status::kOk) << canonical_json(point) << ": " << v.message;
  }
  EXPECT_THROW(expression.complete_point({{"expression", "ij,jk->iz"}},
                                         expression.representative_points().front()),
               UserError);
}

TEST_F(EinsumCases, AnOrderIsHeldToTheLeastThatIsKnown) {
  const auto& order = cases_.find("einsum_order");
  const Json chain = {{"network", "chain_3"}, {"seed", 0}};
  for (const char* provider : {"assay", "random-greedy"}) {
    EXPECT_EQ(verdict("einsum_order", chain, provider).status, lab::Status::kOk) << provider;
  }
  EXPECT_EQ(verdict("einsum_order", {{"network", "random_100"}, {"seed", 5}}, "assay").status,
            lab::Status::kOk);
  // The best of the random orders, not the plain one that they begin with.
  const Json random = {{"network", "random_100"}, {"seed", 2}};
  const auto operations = [&](const char* provider) {
    const auto workload = workloads_.make("einsum_order", provider, random, 1);
    workload->call(0);
    return workload->metrics().at("path_flop");
  };
  EXPECT_LT(operations("random-greedy"), 1e19);  // of the plain greedy order: 3.3e19
  EXPECT_LE(operations("assay"), operations("random-greedy"));
  const auto wrong = [&](std::vector<std::int32_t> path) {
    const TemporaryDirectory folder;
    const auto file = folder.path() + "/out";
    const auto steps = static_cast<std::int64_t>(path.size() / 2);
    write_safetensors(file, {{"path", TensorView(DType::kI32, path.data(), Shape({steps, 2}))}});
    return order.certify(chain, 2, "assay", file)->wrong;
  };
  EXPECT_EQ(wrong({0, 1, 3, 2}), "");
  EXPECT_THAT(wrong({1, 2, 0, 3}), testing::HasSubstr("250000 are enough"));
  EXPECT_THAT(wrong({0, 1, 0, 2}), testing::HasSubstr("not there"));
}

TEST_F(EinsumCases, TheTableHasTheFewestOperations) {
  using assay::einsum::Objective, assay::einsum::OperandSpec;
  assay::einsum::Engine engine;
  for (const auto* table : {&pair_contractions(), &network_contractions()}) {
    for (const auto& c : *table) {
      const ContractionPoint p(contraction_point(c.name, "f64"), *table);
      std::vector<OperandSpec> specs;
      for (const auto& shape : p.shapes) specs.push_back(OperandSpec::dense(DType::kF64, shape));
      const auto plan = engine.plan(c.expression, specs, {.objective = Objective::kFlop});
      EXPECT_EQ(plan->flop, c.flop) << c.name;
      EXPECT_EQ(plan->output_shape(), p.output) << c.name;
      EXPECT_EQ(c.path.size() + 1, p.shapes.size()) << c.name;
      const auto kept = kept_labels(c.terms(), c.output(), c.path);
      EXPECT_EQ(kept.back(), c.output()) << c.name;
    }
  }
}

TEST_F(EinsumCases, FactorsThatAreNotThoseOfTheTensorAreRefused) {
  const Json point = {{"n", 14},      {"order", 3},     {"rank", 4},
                      {"sweeps", 20}, {"dtype", "f64"}, {"seed", 1}};
  for (const char* name : {"decompose_cp", "decompose_tucker"}) {
    const auto other = verdict(name, point, "assay", 0);  // of another input set
    EXPECT_EQ(other.status, lab::Status::kWrongResult) << name;
    EXPECT_NE(other.message.find("relative error of the factors"), std::string::npos);
    // A copy of the input is no answer; and neither is an error that is not the true one.
    const auto& definition = cases_.find(name);
    const DecompositionPoint p(point);
    const bool cp = std::string_view(name) == "decompose_cp";
    const Tensor x = cp ? cp_tensor(p, 2) : tucker_tensor(p, 2);
    const auto path = dir_.path() + "/out";
    write_safetensors(path, {{"x", x.view()}});
    EXPECT_NE(definition.certify(point, 2, "copy", path)->wrong.find("no output"),
              std::string::npos);
    const auto workload = workloads_.make(name, "assay", point, 1);
    workload->load(0, 2);
    workload->call(0);
    workload->write_outputs(path);
    EXPECT_EQ(definition.certify(point, 2, "assay", path)->wrong, "");
    std::vector<Tensor> parts;
    parts.reserve(5);  // views into them
    std::vector<std::pair<std::string, TensorView>> changed;
    {
      const SafetensorsFile file(path);
      for (const char* part : {"u0", "u1", "u2", cp ? "weights" : "core", "error"}) {
        parts.push_back(Tensor::copy(file.view(part)));
        changed.emplace_back(part, parts.back().view());
      }
    }
    parts.back().as<double>()[0] *= 0.9;
    write_safetensors(path, changed);
    EXPECT_NE(definition.certify(point, 2, "assay", path)->wrong.find("was reported"),
              std::string::npos);
  }
}

// Where every sweep is made but few are asked for, or the rank is that of the tensor or beyond and
// the error only rounding, a right answer is still right.
TEST_F(EinsumCases, RightDecompositionsPassAtTheEdges) {
  const auto point = [](int n, int rank, int sweeps, const char* dtype) {
    return Json{{"n", n},           {"order", 3},     {"rank", rank},
                {"sweeps", sweeps}, {"dtype", dtype}, {"seed", 0}};
  };
  const auto passes = [&](const char* name, const Json& p) {
    const auto v = verdict(name, p, "assay");
    EXPECT_EQ(v.status, lab::Status::kOk) << name << p << v.message;
  };
  for (const char* dtype : {"f32", "f64"}) {
    passes("decompose_tucker", point(8, 8, 1, dtype));
    passes("decompose_tucker", point(2, 2, 3, dtype));
    for (const int sweeps : {1, 2, 5, 50}) {
      passes("decompose_cp", point(2, 8, sweeps, dtype));
      passes("decompose_cp", point(3, 9, sweeps, dtype));
      passes("decompose_cp", point(4, 4, sweeps, dtype));
      passes("decompose_cp", point(8, 8, sweeps, dtype));
      passes("decompose_cp", point(16, 8, sweeps, dtype));
    }
  }
  const auto& tucker = cases_.find("decompose_tucker");
  EXPECT_THROW(tucker.complete_point(point(8, 9, 1, "f64"), Json::object()), UserError);
  EXPECT_NO_THROW(tucker.complete_point(point(8, 8, 1, "f64"), Json::object()));
}

TEST_F(EinsumCases, TheLimitIsThatOfMultiplyAdds) {
  lab::Ceilings ceilings;
  ceilings.groups.push_back({1, 1e9, {{"fma_f32", 1e10}}});
  const auto limit =
      cases_.find("einsum_pair").limit(contraction_point("matmul_512", "f32"), 1, ceilings);
  ASSERT_TRUE(limit);
  EXPECT_DOUBLE_EQ(limit->seconds, 512.0 * 512 * 512 / 1e10);
}

TEST_F(EinsumCases, DecompositionsAndMp2PassTheirs) {
  for (const char* dtype : {"f32", "f64"}) {
    for (const int order : {3, 4}) {
      const Json cp = {{"n", 14},      {"order", order}, {"rank", 4},
                       {"sweeps", 20}, {"dtype", dtype}, {"seed", 1}};
      const auto v = verdict("decompose_cp", cp, "assay");
      EXPECT_EQ(v.status, lab::Status::kOk) << cp << v.message;
      const auto t = verdict("decompose_tucker", cp, "assay");
      EXPECT_EQ(t.status, lab::Status::kOk) << cp << t.message;
    }
  }
  const Json mp2 = {{"nocc", 5}, {"nvir", 19}, {"naux", 72}, {"seed", 0}};
  for (const char* provider : {"assay-fused", "pairs"})
    EXPECT_EQ(verdict("mp2_energy", mp2, provider).status, lab::Status::kOk);
}

}  // namespace
}  // namespace assay::cases::einsum
