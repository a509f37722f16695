// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// assay::einsum: contract tensors, see which order was chosen and why, and let several contractions
// share what they have in common.
#include <cstdio>
#include <vector>

#include "einsum/einsum.h"
#include "einsum/plan/explain.h"

namespace es = assay::einsum;
using assay::DType;
using assay::Tensor;

namespace {

// 1/(1 + row + column): a Hilbert matrix, of whatever shape.
Tensor hilbert(std::int64_t rows, std::int64_t columns) {
  Tensor out(DType::kF64, {rows, columns});
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      out.mutable_view().at<double>(r, c) = 1.0 / static_cast<double>(1 + r + c);
    }
  }
  return out;
}

}  // namespace

int main() {
  const Tensor a = hilbert(200, 10), b = hilbert(10, 200), c = hilbert(200, 5);
  const std::vector<assay::TensorView> operands = {a.view(), b.view(), c.view()};
  es::Engine engine;

  // (a·b)·c takes 600 000 multiply-adds, a·(b·c) takes 20 000.
  const auto plan = engine.plan("ij,jk,kl->il", operands);
  std::fputs(es::explain_text(*plan).c_str(), stdout);
  const Tensor product = engine.einsum("ij,jk,kl->il", operands);
  std::printf("first element: %.6f\n", product.view().at<double>(0, 0));

  // Both need b·c; planned together, it is made once.
  es::MultiReport report;
  const std::vector<es::SharedExpression> both = {{"ij,jk,kl->il", {0, 1, 2}},
                                                  {"jk,kl->jl", {1, 2}}};
  const auto results = engine.multi_einsum(both, operands, &report);
  std::printf("%zu results, %zu shared, %d contractions saved\n", results.size(), report.shared,
              report.saved);
}
