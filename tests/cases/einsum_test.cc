// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cases/einsum/cases.h"
#include "cases/einsum/workloads.h"
#include "judged_cases.h"

namespace assay::cases::einsum {
namespace {

class EinsumCases : public JudgedCases {
 protected:
  EinsumCases() : JudgedCases(add_cases, add_workloads) {}
};

TEST_F(EinsumCases, AreSound) {
  expect_sound_definitions();
  for (const auto& c : cases_.all()) {
    for (const auto& point : c->all_points()) EXPECT_GT(c->work(point).at("flops"), 0);
  }
}

TEST_F(EinsumCases, NativeProvidersPassTheirOracles) {
  const auto point = [](const char* contraction, const char* dtype) {
    return Json{{"contraction", contraction}, {"dtype", dtype}, {"seed", 3}};
  };
  for (const char* dtype : {"f32", "f64"}) {
    for (const char* pair : {"small", "half_transform_8", "batch_16x256", "tccg_4"}) {
      for (const char* provider : {"assay-blas", "gemm-limit"}) {
        const auto v = verdict("einsum_pair", point(pair, dtype), provider);
        EXPECT_EQ(v.status, lab::Status::kOk) << pair << " " << provider << ": " << v.message;
      }
    }
    for (const char* network :
         {"chain_3", "chain_4", "chain_6", "peps", "tetrahedron", "lattice_4x4", "mps_norm_8"}) {
      const auto v = verdict("einsum_network", point(network, dtype), "assay-blas");
      EXPECT_EQ(v.status, lab::Status::kOk)
          << network << " " << dtype << ": " << v.message << " " << v.fidelity;
    }
  }
  EXPECT_EQ(verdict("einsum_pair", point("small", "f32"), "reference").status, lab::Status::kOk);
  EXPECT_EQ(verdict("einsum_pair", point("small", "f32"), "assay-blas", 0).code, "stale");
}

TEST_F(EinsumCases, DecompositionsAndMp2PassTheirs) {
  for (const char* dtype : {"f32", "f64"}) {
    for (const int order : {3, 4}) {
      const Json cp = {{"n", 14},      {"order", order}, {"rank", 4},
                       {"sweeps", 20}, {"dtype", dtype}, {"seed", 1}};
      const auto v = verdict("decompose_cp", cp, "assay");
      EXPECT_EQ(v.status, lab::Status::kOk) << cp << v.message << " " << v.fidelity;
      const auto t = verdict("decompose_tucker", cp, "assay");
      EXPECT_EQ(t.status, lab::Status::kOk) << cp << t.message << " " << t.fidelity;
    }
  }
  const Json mp2 = {{"nocc", 5}, {"nvir", 19}, {"naux", 72}, {"seed", 0}};
  for (const char* provider : {"assay-fused", "pairs"})
    EXPECT_EQ(verdict("mp2_energy", mp2, provider).status, lab::Status::kOk);
}

}  // namespace
}  // namespace assay::cases::einsum
