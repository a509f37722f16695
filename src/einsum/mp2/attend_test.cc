// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Long work ends when it is wanted no more (base/attend.h), and what is kept for later still works.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/test_attention.h"
#include "einsum/decompose/cp.h"
#include "einsum/decompose/tensor_train.h"
#include "einsum/decompose/tucker.h"
#include "einsum/einsum.h"
#include "einsum/mp2/mp2.h"
#include "einsum/testing/example_operands.h"
#include "einsum/testing/example_tensors.h"

namespace assay::einsum {
namespace {

TEST(AttendEinsum, Contractions) {
  const auto a = filled(DType::kF64, Shape({40, 50, 60}), 1),
             b = filled(DType::kF64, Shape({60, 50, 40}), 2);
  const std::vector<TensorView> operands = {a.view(), b.view()};
  for (const Backend backend : {Backend::kBlas, Backend::kReference}) {
    for (const int threads : {1, 2}) {
      // A product, one that walks strides, a batch of them, loops.
      for (const char* expression : {"ijk,kjl->il", "ijk,kjl->jil", "ijk,kji->", "ijk,kji->ijk"}) {
        Engine engine({.backend = backend, .threads = threads});
        const auto expected = engine.einsum(expression, operands);
        {
          const Unwanted unwanted;
          EXPECT_THROW(engine.einsum(expression, operands), Unwanted::Ended) << expression;
        }
        const auto again = engine.einsum(expression, operands);
        EXPECT_TRUE(std::ranges::equal(again.bytes(), expected.bytes())) << expression;
      }
    }
  }
}

TEST(AttendEinsum, SearchesForOrders) {
  std::vector<OperandSpec> chain(30, OperandSpec::dense(DType::kF64, Shape({4, 4})));
  std::string expression;
  for (int i = 0; i < 30; ++i)
    expression += fmt::format("{}{{{}}}{{{}}}", i > 0 ? "," : "", i, i + 1);
  Engine engine;
  {
    const Unwanted unwanted;
    EXPECT_THROW(engine.plan(expression, chain, {}), Unwanted::Ended);
  }
  EXPECT_EQ(engine.plan(expression, chain, {})->path.tree.merges.size(), 29u);
}

TEST(AttendEinsum, Decompositions) {
  const auto x = hilbert(12);
  const Unwanted unwanted;
  EXPECT_THROW(cp(x.view(), {.rank = 2}), Unwanted::Ended);
  EXPECT_THROW(cp(x.view(), {.rank = 2, .init = CpInit::kRandom}), Unwanted::Ended);
  for (const auto finder : {RangeFinder::kGram, RangeFinder::kSvd, RangeFinder::kRandomized}) {
    EXPECT_THROW(tucker(x.view(), {.ranks = {2, 2, 2}, .finder = finder}), Unwanted::Ended);
  }
  EXPECT_THROW(tensor_train(x.view(), {.ranks = {2, 2}}), Unwanted::Ended);
}

TEST(AttendEinsum, EnergiesOfElectrons) {
  const auto b = filled(DType::kF64, Shape({3, 4, 5}), 1);
  const std::vector<double> occupied(3, -1), virtuals(4, 1);
  const auto expected = mp2_energy(b.view(), occupied, virtuals, {.threads = 2}).total;
  {
    const Unwanted unwanted;
    EXPECT_THROW(mp2_energy(b.view(), occupied, virtuals, {.threads = 2}), Unwanted::Ended);
  }
  EXPECT_EQ(mp2_energy(b.view(), occupied, virtuals, {.threads = 2}).total, expected);
}

}  // namespace
}  // namespace assay::einsum
