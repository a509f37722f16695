// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/llm/block_answers.h"

#include <algorithm>
#include <array>

namespace assay::cases::llm {
namespace {

// Columns of one head.
PlainMatrix head_of(const PlainMatrix& x, std::int64_t head, std::int64_t width) {
  PlainMatrix one(x.rows, width);
  for (std::int64_t i = 0; i < x.rows; ++i) std::copy_n(x.row(i) + head * width, width, one.row(i));
  return one;
}
// Rows `head * keys` … of a cache.
PlainMatrix keys_of(const PlainMatrix& cache, std::int64_t head, std::int64_t keys) {
  PlainMatrix one(keys, cache.columns);
  std::copy_n(cache.row(head * keys), keys * cache.columns, one.row(0));
  return one;
}
void add_to(PlainMatrix& x, const PlainMatrix& y) {
  for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] += y.values[i];
}

PlainMatrix mlp_of(const PlainMatrix& x, const GraphTensors& in) {
  return plain_linear(
      plain_gate(plain_linear(x, in.at("wg").view()), plain_linear(x, in.at("wu").view())),
      in.at("wd").view());
}

// A query at row i of a head sees keys up to its own position.
PlainMatrix seen_from(const PlainMatrix& q, const PlainMatrix& k, const PlainMatrix& v,
                      std::span<const std::int64_t> rows, std::int64_t cached) {
  PlainMatrix y(q.rows, q.columns);
  for (std::int64_t i = 0; i < q.rows; ++i) {
    const auto one =
        plain_attention(q.chosen(std::array{i}), k, v, rows[static_cast<std::size_t>(i)] + cached);
    std::copy_n(one.row(0), q.columns, y.row(i));
  }
  return y;
}

BlockAnswer layer_answer(const BlockPoint& p, const GraphTensors& in,
                         std::span<const std::int64_t> rows) {
  const auto& s = p.size;
  const auto d = s.head_width;
  const PlainMatrix x(in.at("x").view()), cos(in.at("cos").view()), sin(in.at("sin").view());
  BlockAnswer answer{x.chosen(rows), PlainMatrix(in.at("kcache").view()),
                     PlainMatrix(in.at("vcache").view())};
  const auto normed = plain_rms_norm(x, in.at("g1").view(), kNormEpsilon);
  auto k = plain_linear(normed, in.at("wk").view());
  const auto v = plain_linear(normed, in.at("wv").view());
  plain_rotary(k, cos, sin, d);
  for (std::int64_t head = 0; head < s.kv_heads; ++head) {
    for (std::int64_t i = 0; i < p.tokens; ++i) {
      const auto at = head * p.keys() + p.cached + i;
      std::copy_n(k.row(i) + head * d, d, answer.k.row(at));
      std::copy_n(v.row(i) + head * d, d, answer.v.row(at));
    }
  }
  auto q = plain_linear(normed.chosen(rows), in.at("wq").view());
  plain_rotary(q, cos.chosen(rows), sin.chosen(rows), d);
  PlainMatrix seen(q.rows, q.columns);
  for (std::int64_t head = 0; head < s.heads; ++head) {
    const auto group = head / (s.heads / s.kv_heads);
    const auto one = seen_from(head_of(q, head, d), keys_of(answer.k, group, p.keys()),
                               keys_of(answer.v, group, p.keys()), rows, p.cached);
    for (std::int64_t i = 0; i < q.rows; ++i) std::copy_n(one.row(i), d, seen.row(i) + head * d);
  }
  add_to(answer.y, plain_linear(seen, in.at("wo").view()));
  add_to(answer.y, mlp_of(plain_rms_norm(answer.y, in.at("g2").view(), kNormEpsilon), in));
  return answer;
}

PlainMatrix attention_answer(const BlockPoint& p, const GraphTensors& in) {
  const auto& s = p.size;
  const PlainMatrix q(in.at("q").view()), k(in.at("k").view()), v(in.at("v").view());
  PlainMatrix y(q.rows, q.columns);
  for (std::int64_t head = 0; head < s.heads; ++head) {
    const auto group = head / (s.heads / s.kv_heads);
    const auto one = plain_attention(keys_of(q, head, p.tokens), keys_of(k, group, p.keys()),
                                     keys_of(v, group, p.keys()), p.cached);
    std::ranges::copy(one.values, y.row(head * p.tokens));
  }
  return y;
}

}  // namespace

BlockAnswer block_answer(const BlockPoint& p, const GraphTensors& in,
                         std::span<const std::int64_t> rows) {
  if (p.block == "transformer") return layer_answer(p, in, rows);
  if (p.block == "attention") return {attention_answer(p, in)};
  const auto x = PlainMatrix(in.at("x").view()).chosen(rows);
  if (p.block == "norm_matmul")
    return {plain_linear(plain_rms_norm(x, in.at("g1").view(), kNormEpsilon), in.at("w").view())};
  if (p.block == "mlp") return {mlp_of(x, in)};
  return {plain_experts(x, in.at("wr").view(), in.at("wg").view(), in.at("wu").view(),
                        in.at("wd").view(), p.size.top)};
}

}  // namespace assay::cases::llm
