// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "compiler/graph/dtypes.h"
#include "compiler/graph/scalar.h"
#include "compiler/reference/shared_loop.h"
#include "compiler/reference/walk.h"
#include "compiler/verify/element_bound.h"
#include "compiler/verify/product_errors.h"

namespace assay::compiler {
namespace {

// Of a tensor without gaps: no need to look for where an element lies.
double value_at(const TensorView& tensor, std::int64_t i) {
  return visit_graph_dtype(tensor.dtype(), [&]<typename T>(std::type_identity<T>) {
    return static_cast<double>(static_cast<const T*>(tensor.raw_data())[i]);
  });
}

// Of each element of a node; empty where all are exact.
using NodeErrors = std::vector<Error>;

// Elements of an operand one after the other, from one of them on.
class Reader {
 public:
  Reader(const TensorView& values, const NodeErrors& errors, FixedView view, std::int64_t first = 0)
      : values_(values), errors_(errors), view_(std::move(view)), walk_({&view_}, first) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  // The next `count` elements, to[0], to[step], …, and where each of them lies, if that is asked.
  void read(std::size_t count, Number* to, std::size_t step, std::int64_t* positions = nullptr) {
    visit_graph_dtype(values_.dtype(), [&]<typename T>(std::type_identity<T>) {
      const T* values = static_cast<const T*>(values_.raw_data());
      for (std::size_t i = 0; i < count; ++i, walk_.next()) {
        const auto at = walk_[0];
        if (positions != nullptr) positions[i] = at;
        to[i * step] = {static_cast<double>(values[at]),
                        errors_.empty() ? Error{} : errors_[static_cast<std::size_t>(at)]};
      }
    });
  }
  Number next() {
    const auto at = walk_[0];
    walk_.next();
    return {value_at(values_, at),
            errors_.empty() ? Error{} : errors_[static_cast<std::size_t>(at)]};
  }

 private:
  TensorView values_;
  const NodeErrors& errors_;
  FixedView view_;
  Walk<1> walk_;
};

class BoundMaker {
 public:
  BoundMaker(const Graph& graph, const Bindings& symbols,
             const std::map<std::string, const NodeErrors*>& of_inputs)
      : graph_(graph), symbols_(symbols), readers_(reader_counts(graph)) {
    errors_.resize(graph.size());
    for (const auto id : graph.inputs()) {
      const auto given = of_inputs.find(graph.node(id).name);
      if (given != of_inputs.end()) errors_[id] = *given->second;
    }
  }
  void observe(NodeId id, std::span<const TensorView> values) {
    const auto& node = graph_.node(id);
    values_ = values;
    switch (node.op) {
      case Op::kInput:
      case Op::kConst:
      case Op::kIota:
        return;
      case Op::kSum:
      case Op::kMaxReduce:
        return reduce(id, node);
      case Op::kGather:
        return gather(id, node);
      case Op::kScatter:
        return scatter(id, node);
      default:
        return elementwise(id, node);
    }
  }
  const NodeErrors& errors(NodeId id) const { return errors_[id]; }

 private:
  NodeErrors& made(NodeId id) {
    errors_[id].resize(static_cast<std::size_t>(values_[id].element_count()));
    return errors_[id];
  }
  FixedView fixed_view(NodeId node, const View& view) const {
    return fixed(view, symbols_, values_[node].element_count());
  }
  Reader reader(const Operand& operand) const {
    return {values_[operand.node], errors_[operand.node], fixed_view(operand.node, operand.view)};
  }
  bool is_widened_bf16(NodeId id) const {
    const auto& node = graph_.node(id);
    return node.op == Op::kCast && graph_.node(node.operands[0].node).dtype == DType::kBF16;
  }
  bool is_exact(const Node& node) const {
    return std::ranges::all_of(node.operands,
                               [&](const auto& operand) { return errors_[operand.node].empty(); });
  }

  void elementwise(NodeId id, const Node& node) {
    const bool is_integer = !is_floating(node.dtype);  // of such all is exact
    const bool stays_exact = node.op == Op::kCast || node.op == Op::kAdd || node.op == Op::kDiv ||
                             node.op == Op::kMax || node.op == Op::kMod || node.op == Op::kLess ||
                             node.op == Op::kSelect || is_integer;
    if (stays_exact && is_exact(node)) return;
    auto& errors = made(id);
    constexpr std::size_t kTogether = 1024;
    const auto blocks = (errors.size() + kTogether - 1) / kTogether;
    const auto take = [&](std::int64_t block) {
      const auto first = static_cast<std::size_t>(block) * kTogether;
      const auto count = std::min(kTogether, errors.size() - first);
      elementwise_from(id, node, first, std::span(errors).subspan(first, count));
    };
    share_loop(static_cast<std::int64_t>(errors.size()), static_cast<std::int64_t>(blocks), take);
    // Comparisons of what is not exact can all be certain.
    if (is_integer && std::ranges::all_of(errors, [](const Error& e) { return e == Error(); })) {
      errors.clear();
    }
  }
  void elementwise_from(NodeId id, const Node& node, std::size_t first,
                        std::span<Error> errors) const {
    const auto operands = node.operands.size();
    const auto start = static_cast<std::int64_t>(first);
    std::vector<Number> x(operands * errors.size()), results(errors.size());
    std::array<std::vector<std::int64_t>, 3> positions;
    for (std::size_t k = 0; k < operands; ++k) {
      const auto& [of, view] = node.operands[k];
      positions[k].resize(errors.size());
      Reader(values_[of], errors_[of], fixed_view(of, view), start)
          .read(errors.size(), x.data() + k, operands, positions[k].data());
    }
    const NodeErrors none;
    const FixedView flat{{values_[id].element_count()}, {1}};
    Reader(values_[id], none, flat, start).read(errors.size(), results.data(), 1);
    const ElementBound bound(node.dtype);
    const bool is_sum_or_product = node.op == Op::kAdd || node.op == Op::kMul;
    const bool may_meet = (node.op == Op::kLess || is_sum_or_product) &&
                          node.operands[0].node == node.operands[1].node;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      // No element is less than itself, however far off it is.
      const bool is_itself = may_meet && positions[0][i] == positions[1][i];
      const std::span<const Number> of_this(x.data() + i * operands, operands);
      if (!is_itself)
        errors[i] = bound.of(node.op, of_this, results[i].value);
      else if (is_sum_or_product)
        errors[i] = bound.of_twice(node.op, of_this[0], results[i].value);
    }
  }

  void reduce(NodeId id, const Node& node) {
    const auto products = sum_of_products(graph_, id, readers_);
    if (products && is_floating(node.dtype)) {
      visit_graph_dtype(node.dtype, [&]<typename T>(std::type_identity<T>) {
        if constexpr (kIsFloating<T>) sum_products<T>(id, node, *products);
      });
      return;
    }
    if (products ? is_exact(graph_.node(products->product)) : is_exact(node)) {
      if (node.op == Op::kMaxReduce || !is_floating(node.dtype)) return;
    }
    const auto& result = values_[id];
    const auto length = node.operands[0].view.shape.back().at(symbols_);
    const ElementBound bound(node.dtype);
    auto& errors = made(id);
    if (products) {  // of integers: exact, or nothing is asked
      const auto& factors = graph_.node(products->product).operands;
      auto a = reader({factors[0].node, products->a}), b = reader({factors[1].node, products->b});
      for (auto& error : errors) {
        bool is_exact = true;
        for (std::int64_t k = 0; k < length; ++k) {
          const auto x = a.next(), y = b.next();
          is_exact = is_exact && x.is_exact() && y.is_exact();
        }
        if (!is_exact) error = kAnything;
      }
      return;
    }
    auto x = reader(node.operands[0]);
    for (std::size_t i = 0; i < errors.size(); ++i) {
      if (node.op == Op::kSum) {
        TermSums sums;
        for (std::int64_t k = 0; k < length; ++k) sums.add(x.next());
        errors[i] = bound.of_sum(length, sums, value_at(result, static_cast<std::int64_t>(i)));
        continue;
      }
      bool has_nan = false;  // for certain: then the greatest is none either
      for (std::int64_t k = 0; k < length; ++k) {
        const auto term = x.next();
        has_nan = has_nan || term.is_nan();
        errors[i] = {std::max(errors[i].bound, term.error.bound),
                     std::max(errors[i].deviation, term.error.deviation)};
      }
      if (has_nan) errors[i] = {};
    }
  }
  template <typename T>
  void sum_products(NodeId id, const Node& node, const SumOfProducts& products) {
    const auto& product = graph_.node(products.product);
    const auto factor = [&](NodeId of, const View& view) {
      const Error* errors = errors_[of].empty() ? nullptr : errors_[of].data();
      return FactorRows<T>(values_[of], errors, fixed_view(of, view));
    };
    const NodeId a = product.operands[0].node, b = product.operands[1].node;
    const bool is_paired = node.dtype == DType::kF32 && is_widened_bf16(a) && is_widened_bf16(b);
    product_errors<T>(factor(a, products.a), factor(b, products.b),
                      ElementBound(node.dtype, is_paired ? SumsOf::kBf16Products : SumsOf::kTerms),
                      std::span(values_[id].data<T>(), made(id).size()), made(id));
  }

  template <typename Do>
  void for_each_index(const Operand& operand, std::size_t count, Do&& act) const {
    auto indices = reader(operand);
    for (std::size_t i = 0; i < count; ++i) act(i, indices.next());
  }
  NodeErrors elements(const Operand& operand) const {
    auto from = reader(operand);
    const auto count = fixed_view(operand.node, operand.view).element_count();
    NodeErrors all(static_cast<std::size_t>(count));
    for (auto& error : all) error = from.next().error;
    return all;
  }
  void gather(NodeId id, const Node& node) {
    if (is_exact(node)) return;
    auto& errors = made(id);
    const auto& [of, view] = node.operands[0];
    // Tables are large, and mostly exact.
    const bool is_table_exact = errors_[of].empty();
    const auto data = is_table_exact ? NodeErrors() : elements(node.operands[0]);
    const auto last = static_cast<double>(fixed_view(of, view).element_count()) - 1;
    for_each_index(node.operands[1], errors.size(), [&](std::size_t i, const Number& index) {
      if (index.is_open()) {
        errors[i] = kAnything;
      } else if (!is_table_exact) {
        errors[i] = data[static_cast<std::size_t>(std::clamp(index.value, 0.0, last))];
      }
    });
  }
  void scatter(NodeId id, const Node& node) {
    if (is_exact(node)) return;
    auto& errors = errors_[id];
    const auto values = elements(node.operands[2]);
    errors = elements(node.operands[0]);
    bool is_open = false;
    for_each_index(node.operands[1], values.size(), [&](std::size_t i, const Number& index) {
      is_open = is_open || index.is_open();
      if (index.value < 0 || index.value >= static_cast<double>(errors.size())) return;
      errors[static_cast<std::size_t>(index.value)] = values[i];
    });
    if (is_open) std::ranges::fill(errors, kAnything);
  }

  const Graph& graph_;
  const Bindings& symbols_;
  std::vector<std::uint32_t> readers_;
  std::span<const TensorView> values_;
  std::vector<NodeErrors> errors_;
};

}  // namespace

std::map<std::string, TensorWithErrors> interpret_with_errors(
    const Graph& graph, const InputViews& inputs, const Bindings& symbols,
    const std::map<std::string, const std::vector<Error>*>& of_inputs,
    const NodeObserver& observer) {
  BoundMaker maker(graph, symbols, of_inputs);
  auto outputs =
      interpret(graph, inputs, symbols, [&](NodeId id, std::span<const TensorView> values) {
        maker.observe(id, values);
        if (observer) observer(id, values);
      });
  std::map<std::string, TensorWithErrors> all;
  for (const auto& output : graph.outputs()) {
    all.emplace(output.name,
                TensorWithErrors{std::move(outputs.at(output.name)), maker.errors(output.node)});
  }
  return all;
}

std::map<std::string, BoundedTensor> bounded(std::map<std::string, TensorWithErrors> outputs) {
  std::map<std::string, BoundedTensor> all;
  for (auto& [name, tensor] : outputs) {
    std::vector<double> bounds(static_cast<std::size_t>(tensor.value.element_count()));
    std::ranges::transform(tensor.errors, bounds.begin(), &Error::bound);
    all.emplace(name, BoundedTensor{std::move(tensor.value), std::move(bounds)});
  }
  return all;
}

std::map<std::string, BoundedTensor> interpret_with_bounds(const Graph& graph,
                                                           const InputViews& inputs,
                                                           const Bindings& symbols,
                                                           const NodeObserver& observer) {
  return bounded(interpret_with_errors(graph, inputs, symbols, {}, observer));
}

std::string difference_in_the_open(const BoundedTensor& expected, const TensorView& got) {
  const auto want = expected.value.view();
  if (!is_floating(want.dtype())) return {};
  std::vector<std::int64_t> open;
  double squares = 0;
  for (std::int64_t i = 0; i < want.element_count(); ++i) {
    const double x = value_at(want, i);
    if (!std::isinf(expected.bounds[static_cast<std::size_t>(i)]) || !std::isfinite(x)) continue;
    open.push_back(i);
    squares += x * x;
  }
  const double far = 1e-6 * std::sqrt(squares / static_cast<double>(open.size()));
  // Rows are along the last axis; of a few elements most are soon off.
  constexpr std::size_t kLeastRow = 8;
  const auto& extents = want.shape().extents();
  const std::int64_t width =
      extents.empty() ? 1 : std::max<std::int64_t>(extents[extents.size() - 1], 1);
  std::size_t count = 0, in_row = 0, of_row = 0;
  for (std::size_t k = 0; k < open.size(); ++k) {
    const auto i = open[k];
    const bool is_off = !(std::abs(value_at(want, i) - value_at(got, i)) <= far);
    const bool begins = k == 0 || i / width != open[k - 1] / width;
    in_row = (begins ? 0 : in_row) + 1;
    of_row = (begins ? 0 : of_row) + (is_off ? 1 : 0);
    count += is_off ? 1 : 0;
    const bool ends = k + 1 == open.size() || open[k + 1] / width != i / width;
    if (ends && in_row >= kLeastRow && 2 * of_row > in_row) {
      return fmt::format("{} of {} elements of row {} that no bound holds are something else",
                         of_row, in_row, i / width);
    }
  }
  if (count * 10 <= open.size()) return {};
  return fmt::format("{} of {} elements that no bound holds are something else", count,
                     open.size());
}

std::string difference(const BoundedTensor& expected, const TensorView& got) {
  const auto want = expected.value.view();
  if (got.dtype() != want.dtype() || !(got.shape() == want.shape())) {
    return fmt::format("{} {}, expected {} {}", name_of(got.dtype()), got.shape().to_string(),
                       name_of(want.dtype()), want.shape().to_string());
  }
  check(got.is_contiguous(), "what is compared lies without gaps");
  for (std::int64_t i = 0; i < want.element_count(); ++i) {
    const double bound = expected.bounds[static_cast<std::size_t>(i)];
    if (std::isinf(bound)) continue;
    if (want.dtype() == DType::kI64) {  // f64 has not all of them
      const auto x = static_cast<const std::int64_t*>(want.raw_data())[i],
                 y = static_cast<const std::int64_t*>(got.raw_data())[i];
      if (x == y) continue;
      return fmt::format("element {} is {}, expected {}", i, y, x);
    }
    const double x = value_at(want, i), y = value_at(got, i);
    const bool is_same = x == y || (std::isnan(x) && std::isnan(y));
    if (is_same || std::abs(x - y) <= bound) continue;
    return fmt::format("element {} is {}, expected {} ± {:.3g}", i, y, x, bound);
  }
  return {};
}

}  // namespace assay::compiler
