// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/source/attention_code.h"

#include <fmt/format.h>

#include <bit>
#include <numbers>

namespace assay::compiler::cuda {

AttentionCode::AttentionCode(const SourceMaker& maker, const Attention& work)
    : maker_(maker), work_(work) {
  accumulate_ =
      maker.kernel().operands[work.q.operand].dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  const auto& shape = work.q.view.shape;
  batch_.assign(shape.begin(), shape.end() - 2);
}

std::string AttentionCode::scale() const {
  return fmt::format("f64_of(0x{:x}ull)", std::bit_cast<std::uint64_t>(work_.scale));
}

std::string AttentionCode::scale_of_two() const {
  const auto scale = static_cast<float>(work_.scale * std::numbers::log2e);
  return fmt::format("f32_of(0x{:x}u)", std::bit_cast<std::uint32_t>(scale));
}

Dim AttentionCode::query_count() const {
  return product(batch_) * work_.q.view.shape[work_.q.view.rank() - 2];
}

std::string AttentionCode::extents() const {
  const auto c = [&](const Access& access, std::size_t from_the_end) {
    return maker_.names().code(access.view.shape[access.view.rank() - from_the_end]);
  };
  return fmt::format(
      "const i64 batches = {}, queries = {}, keys = {}, width = {}, columns = {};\n"
      "(void)batches; (void)keys; (void)width; (void)columns;\nconst {} INFINITE = {};\n",
      maker_.names().code(product(batch_)), c(work_.q, 2), c(work_.k, 2), c(work_.q, 1),
      c(work_.v, 1), sums(),
      accumulate_ == DType::kF64 ? "f64_of(0x7ff0000000000000ull)" : "f32_of(0x7f800000u)");
}

std::string AttentionCode::batch() const {
  return unflattened(maker_.names(), batch_, "batch", "b");
}

std::string AttentionCode::seen(const std::string& query) const {
  const auto offset = maker_.names().code(work_.offset);
  auto text = std::string("begin = 0; end = keys;\n");
  if (work_.causal) text += fmt::format("end = min_of(end, {} + {} + 1);\n", query, offset);
  if (work_.window) {
    text += fmt::format("begin = max_of(0, {} + {} - {} + 1);\n", query, offset,
                        maker_.names().code(*work_.window));
  }
  return text;
}

std::string AttentionCode::at(const Access& access, const std::string& row,
                              const std::string& column) const {
  auto indices = numbered("b", batch_.size());
  indices.push_back(row);
  indices.push_back(column);
  return place(maker_.names(), access.view, indices);
}
std::string AttentionCode::element(const Access& access, const std::string& row,
                                   const std::string& column) const {
  return fmt::format("o{}[{}]", access.operand, at(access, row, column));
}

std::string AttentionCode::masked(const std::string& query, const std::string& key,
                                  const std::string& score) const {
  if (!work_.mask) return {};
  const auto value = fmt::format("wide({})", element(*work_.mask, query, key));
  if (maker_.kernel().operands[work_.mask->operand].dtype == DType::kBool)
    return fmt::format("if (!{}) {} = -INFINITE;\n", value, score);
  return fmt::format("{0} = {0} + ({1}){2};\n", score, sums(), value);
}

std::string AttentionCode::stored(const std::string& query, const std::string& column) const {
  auto indices = numbered("b", batch_.size());
  indices.push_back(query);
  indices.push_back(column);
  return stored_sum(maker_, work_.out, accumulate_, indices);
}

}  // namespace assay::compiler::cuda
