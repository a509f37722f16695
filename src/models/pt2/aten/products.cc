// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums of products. f16 and bf16 are summed in f32 and rounded once.
#include <algorithm>
#include <array>
#include <string>

#include "base/error.h"
#include "compiler/graph/graph_models.h"
#include "models/pt2/aten/forms.h"
#include "models/pt2/operators.h"

namespace assay::models::pt2 {
namespace {

using namespace assay::compiler;  // NOLINT: the front end's words are this file's

Result product_of_two(Call& c) {
  for (const auto* name : {"other", "mat2", "vec", "vec2", "tensor"}) {
    if (c.has(name)) return matmul(c.tensor("self"), c.tensor(name));
  }
  fail("a product of one");
}
Result outer(Call& c) { return c.tensor("self").unsqueeze(1) * c.tensor("vec2").unsqueeze(0); }
Result linear(Call& c) {
  const auto weight = c.tensor("weight");
  const auto bias = c.tensor_or_none("bias");
  if (weight.rank() == 1) {
    const auto product = matmul(c.tensor("input"), weight);
    return bias ? product + *bias : product;
  }
  return linear_of(c.tensor("input"), weight, bias);
}
// beta · self + alpha · a b
Result added_product(Call& c, std::string_view left, std::string_view right) {
  const auto self = c.tensor("self");
  auto product = matmul(widened(c.tensor(left)), widened(c.tensor(right)));
  if (c.number("alpha", 1) != 1) product = product * c.number("alpha");
  auto result = product;
  const double beta = c.number("beta", 1);
  if (beta == 1) {
    result = result + widened(self);
  } else if (beta != 0) {
    result = result + widened(self) * beta;
  }
  return result.cast(self.dtype());
}

// One term of an einsum: its letters, '.' for each axis of an ellipsis.
struct Lettered {
  GraphTensor tensor;
  std::string letters;
};

// Letters of `wanted` in that order, as axes; what a term has and nobody wants is summed.
GraphTensor arranged(const Lettered& term, const std::string& wanted) {
  std::vector<std::size_t> order;
  for (const char letter : wanted) {
    const auto at = term.letters.find(letter);
    if (at != std::string::npos) order.push_back(at);
  }
  return term.tensor.permute(order);
}
void sum_alone(Lettered& term, const std::string& wanted) {
  for (std::size_t i = term.letters.size(); i-- > 0;) {
    if (wanted.find(term.letters[i]) != std::string::npos) continue;
    term.tensor = term.tensor.sum(signed_axis(i));
    term.letters.erase(i, 1);
  }
}
// "ii": the diagonal.
void take_diagonals(Lettered& term) {
  for (std::size_t i = 0; i < term.letters.size(); ++i) {
    const auto again = term.letters.find(term.letters[i], i + 1);
    if (again == std::string::npos) continue;
    auto view = term.tensor.view();
    view.strides[i] += view.strides[again];
    const auto at = static_cast<std::ptrdiff_t>(again);
    view.shape.erase(view.shape.begin() + at);
    view.strides.erase(view.strides.begin() + at);
    term.letters.erase(again, 1);
    term.tensor = GraphTensor::of_node(term.tensor.graph(), term.tensor.node(), view);
    --i;
  }
}
// Two terms as one: a batched product of matrices.
Lettered contracted(Lettered a, Lettered b, const std::string& wanted) {
  const auto is_in = [](const std::string& text, char c) {
    return text.find(c) != std::string::npos;
  };
  sum_alone(a, wanted + b.letters);
  sum_alone(b, wanted + a.letters);
  std::string batch, left, right, summed;
  std::vector<Dim> shape, of_batch;
  Dim rows = 1, columns = 1, terms = 1;
  const auto extent = [](const Lettered& term, char c) {
    return term.tensor.shape()[term.letters.find(c)];
  };
  for (const char c : a.letters) {
    if (!is_in(b.letters, c)) {
      left += c;
      rows *= extent(a, c);
    } else if (is_in(wanted, c)) {
      batch += c;
      const auto e = extent(a, c);
      of_batch.push_back(e.is(1) ? extent(b, c) : e);
    } else {
      summed += c;
      terms *= extent(a, c);
    }
  }
  for (const char c : b.letters) {
    if (is_in(a.letters, c)) continue;
    right += c;
    columns *= extent(b, c);
  }
  const auto matrices = [&](const Lettered& term, const std::string& own, const Dim& count) {
    auto x = arranged(term, batch + own + summed);
    std::vector<Dim> to(x.shape().begin(),
                        x.shape().begin() + static_cast<std::ptrdiff_t>(batch.size()));
    to.push_back(count);
    to.push_back(terms);
    return x.reshape(to);
  };
  shape = of_batch;
  for (const char c : left) shape.push_back(extent(a, c));
  for (const char c : right) shape.push_back(extent(b, c));
  const auto product = matmul(matrices(a, left, rows), matrices(b, right, columns).transpose());
  return {product.reshape(shape), batch + left + right};
}

Result einsum(Call& c) {
  std::string equation;
  for (const char letter : c.text("equation", "")) {
    if (letter != ' ') equation += letter;
  }
  const auto tensors = c.tensors("tensors");
  const auto arrow = equation.find("->");
  auto inputs = equation.substr(0, arrow);
  std::vector<Lettered> terms;
  // Axes of an ellipsis get letters that nobody types, aligned at the end.
  const auto ellipsis_letter = [](std::size_t from_end) { return static_cast<char>(1 + from_end); };
  std::size_t most = 0;
  for (const auto& tensor : tensors) {
    const auto comma = inputs.find(',');
    auto letters = inputs.substr(0, comma);
    inputs = comma == std::string::npos ? "" : inputs.substr(comma + 1);
    if (const auto dots = letters.find("..."); dots != std::string::npos) {
      if (tensor.rank() + 3 < letters.size())
        fail("'{}' of {}", letters, to_string(tensor.shape()));
      const auto axes = tensor.rank() + 3 - letters.size();
      std::string own;
      for (std::size_t i = axes; i-- > 0;) own += ellipsis_letter(i);
      letters = letters.substr(0, dots) + own + letters.substr(dots + 3);
      most = std::max(most, axes);
    }
    if (letters.size() != tensor.rank()) fail("'{}' of {}", equation, to_string(tensor.shape()));
    terms.push_back({widened(tensor), letters});
    take_diagonals(terms.back());
  }
  if (terms.empty()) fail("einsum of nothing");
  std::string wanted, dots;
  for (std::size_t i = most; i-- > 0;) dots += ellipsis_letter(i);
  if (arrow != std::string::npos) {
    wanted = equation.substr(arrow + 2);
    if (const auto at = wanted.find("..."); at != std::string::npos) wanted.replace(at, 3, dots);
  } else {
    std::string once;
    for (char letter = 'A'; letter <= 'z'; ++letter) {
      if (std::ranges::count(equation, letter) == 1) once += letter;
    }
    wanted = dots + once;
  }
  auto result = terms[0];
  for (std::size_t i = 1; i < terms.size(); ++i) {
    auto still = wanted;
    for (auto k = i + 1; k < terms.size(); ++k) still += terms[k].letters;
    result = contracted(result, terms[i], still);
  }
  sum_alone(result, wanted);
  if (result.letters.size() != wanted.size()) fail("'{}'", equation);
  return arranged(result, wanted).cast(tensors[0].dtype());
}

// Which group a row belongs to: how many groups end at or before it.
GraphTensor group_of(Graph& graph, const Dim& count, const GraphTensor& ends) {
  const auto row = GraphTensor::iota(graph, count, DType::kI32).unsqueeze(1);
  return less_equal(ends.cast(DType::kI32), row).cast(DType::kI32).sum(1);
}
// Rows in groups, each with a matrix of its own; or products whose sums run over groups.
Result grouped_mm(Call& c) {
  const auto a = c.tensor("self"), b = c.tensor("mat2");
  const auto ends = c.tensor_or_none("offs");
  const auto add_bias = [&](const GraphTensor& product) {
    const auto bias = c.tensor_or_none("bias");
    const auto result = bias ? product + *bias : product;
    return result.cast(c.dtype("out_dtype").value_or(a.dtype()));
  };
  if (a.rank() == 3 && b.rank() == 3) return add_bias(matmul(a, b));
  if (!ends) fail("groups without ends");
  if (a.rank() == 2 && b.rank() == 3) {
    return add_bias(expert_matmul(a, b, group_of(c.graph(), a.shape()[0], *ends)));
  }
  const auto count = ends->shape().at(0);
  const auto each = GraphTensor::iota(c.graph(), count, DType::kI32);
  if (a.rank() == 2 && b.rank() == 2) {  // [m, k] × [k, n], k in groups: [g, m, n]
    const auto group = group_of(c.graph(), a.shape()[1], *ends);
    const auto is_own = equal(each.unsqueeze(1), group.unsqueeze(0));
    // Both factors: 0 · ∞ of another group would count.
    return add_bias(matmul(select(is_own.unsqueeze(1), a.unsqueeze(0), a.like(0)),
                           select(is_own.unsqueeze(2), b.unsqueeze(0), b.like(0))));
  }
  if (a.rank() == 3 && b.rank() == 2) {  // [g, m, k] × [k, n], n in groups: [m, n]
    const auto group = group_of(c.graph(), b.shape()[1], *ends);
    const auto is_own = equal(each.unsqueeze(1), group.unsqueeze(0)).unsqueeze(1);
    return add_bias(select(is_own, matmul(a, b), a.like(0)).sum(0));
  }
  fail("products of {} and {}", to_string(a.shape()), to_string(b.shape()));
}

// What transformers calls instead for dtypes that torch's own does not have everywhere.
Result grouped_rows(Call& c) {
  const auto x = c.tensor("input");
  const auto group = group_of(c.graph(), x.shape().at(0), c.tensor("offs"));
  return expert_matmul(x, c.tensor("weight"), group);
}

// Gates of nn.GRUCell and nn.LSTMCell.
std::vector<GraphTensor> gates(Call& c, const GraphTensor& state, int count, bool is_joined) {
  const auto x = linear_of(c.tensor("input"), c.tensor("w_ih"), c.tensor_or_none("b_ih"));
  const auto h = linear_of(state, c.tensor("w_hh"), c.tensor_or_none("b_hh"));
  const auto width = state.shape()[axis_in(-1, state.rank())];
  std::vector<GraphTensor> parts;
  for (const auto& from : is_joined ? std::vector{x + h} : std::vector{x, h}) {
    for (int i = 0; i < count; ++i) parts.push_back(from.slice(-1, width * i, width * (i + 1)));
  }
  return parts;
}
Result gru_cell(Call& c) {
  const auto h = c.tensor("hx");
  const auto g = gates(c, h, 3, false);
  const auto reset = sigmoid(g[0] + g[3]), update = sigmoid(g[1] + g[4]);
  const auto fresh = tanh(g[2] + reset * g[5]);
  return (h - fresh) * update + fresh;
}
Result lstm_cell(Call& c) {
  const auto state = c.tensors("hx");
  if (state.size() != 2) fail("a state of {}", state.size());
  const auto g = gates(c, state[0], 4, true);
  const auto cell = sigmoid(g[1]) * state[1] + sigmoid(g[0]) * tanh(g[2]);
  return std::vector{sigmoid(g[3]) * tanh(cell), cell};
}

constexpr auto kProducts = std::to_array<Operator>({
    {"aten._grouped_mm.default", grouped_mm, "rows behind the last group count to it"},
    {"aten.addmm.default", [](Call& c) { return added_product(c, "mat1", "mat2"); }},
    {"aten.addmv.default", [](Call& c) { return added_product(c, "mat", "vec"); }},
    {"aten.baddbmm.default", [](Call& c) { return added_product(c, "batch1", "batch2"); }},
    {"aten.bmm.default", product_of_two},
    {"aten.dot.default", product_of_two},
    {"aten.einsum.default", einsum},
    {"aten.gru_cell.default", gru_cell},
    {"aten.linear.default", linear},
    {"aten.lstm_cell.default", lstm_cell},
    {"aten.matmul.default", product_of_two},
    {"aten.mm.default", product_of_two},
    {"aten.mv.default", product_of_two},
    {"aten.outer.default", outer},
    {"transformers.grouped_mm_fallback.default", grouped_rows,
     "rows behind the last group count to it"},
});

}  // namespace

std::span<const Operator> product_operators() { return kProducts; }

}  // namespace assay::models::pt2
