// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/source/product_code.h"

#include <fmt/format.h>

#include "compiler/cuda/source/element_code.h"

namespace assay::compiler::cuda {

ProductAxes::ProductAxes(const Matmul& work) {
  const auto& a = work.a.view.shape;
  const auto& b = work.b.view.shape;
  batch.assign(a.begin(), a.end() - 2);
  m = a[a.size() - 2];
  k = a.back();
  n = b.back();
}

std::vector<std::string> numbered(const std::string& name, std::size_t count) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(fmt::format("{}{}", name, i));
  return all;
}

std::string accumulator(DType accumulate) {
  return accumulate == DType::kI32 ? "i64" : wide_type(accumulate);
}

std::string multiplied(DType accumulate, const std::string& x, const std::string& y,
                       const std::string& sum) {
  if (accumulate == DType::kF64) return fmt::format("fma({}, {}, {})", x, y, sum);
  if (is_floating(accumulate)) return fmt::format("fmaf({}, {}, {})", x, y, sum);
  if (accumulate == DType::kBool) return fmt::format("({} || ({} && {}))", sum, x, y);
  return fmt::format("add_wrapped({}, mul_wrapped({}, {}))", sum, x, y);
}

std::string stored_sum(const SourceMaker& maker, const Access& out, DType accumulate,
                       const std::vector<std::string>& indices, int lanes) {
  const auto dtype = maker.kernel().operands[out.operand].dtype;
  // A region of one value and one cast says how.
  Region cast;
  cast.shape = out.view.shape;
  Region::Value sum, narrow;
  sum.dtype = accumulate;
  narrow.op = Op::kCast;
  narrow.dtype = dtype;
  narrow.values = {0};
  cast.values = {sum, narrow};
  cast.stores = {{1, out}};
  const ElementCode code(maker.kernel(), cast, maker.names(), lanes == 1 ? "total" : "total[e]");
  At at{indices, indices.back(), lanes};
  at.row.pop_back();
  return code.elements(code.stored_elements(), at) + code.stores(false, at);
}

std::string end_of_sum(const SourceMaker& maker, const Matmul& work, int lanes) {
  auto indices = numbered("b", work.a.view.rank() - 2);
  indices.emplace_back("i");
  if (!work.epilogue) {
    indices.emplace_back("j");
    return stored_sum(maker, work.out, work.accumulate, indices, lanes);
  }
  const ElementCode code(maker.kernel(), *work.epilogue, maker.names(),
                         lanes == 1 ? "total" : "total[e]");
  const At at{indices, "j", lanes};
  auto text =
      code.row_values(0, at) + code.elements(code.stored_elements(), at) + code.stores(false, at);
  const auto of_rows = code.stores(true, at);
  if (!of_rows.empty()) text += "if (j == 0) {\n" + of_rows + "}\n";
  return text;
}

}  // namespace assay::compiler::cuda
