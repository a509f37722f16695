// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "compiler/graph/dtypes.h"
#include "compiler/graph/scalar.h"
#include "compiler/reference/walk.h"
#include "compiler/verify/element_bound.h"

namespace assay::compiler {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Of each element of a node; empty where all are exact.
using NodeBounds = std::vector<double>;

// Elements of an operand one after the other.
class Reader {
 public:
  Reader(const Tensor& values, const NodeBounds& bounds, FixedView view)
      : values_(values.view()), bounds_(bounds), view_(std::move(view)), walk_({&view_}) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  Number next() {
    const auto at = walk_[0];
    walk_.next();
    return {value_as_double(values_, at),
            bounds_.empty() ? 0 : bounds_[static_cast<std::size_t>(at)]};
  }

 private:
  TensorView values_;
  const NodeBounds& bounds_;
  FixedView view_;
  Walk<1> walk_;
};

// What comes of products of finite elements: Σ |x y| and Σ |x| Δy + |y| Δx + Δx Δy. Not finite
// where one of them is not.
struct ProductSums {
  double size = 0, bound = 0;
};
template <typename T>
ProductSums product_sums(const T* x, const double* dx, const T* y, const double* dy,
                         std::int64_t length) {
  constexpr std::int64_t kParts = 8;
  double size[kParts] = {}, bound[kParts] = {};
  const auto add = [&](std::int64_t part, std::int64_t k) {
    const double a = std::abs(static_cast<double>(x[k])), b = std::abs(static_cast<double>(y[k]));
    size[part] += a * b;
    if (dx != nullptr) bound[part] += b * dx[k];
    if (dy != nullptr) bound[part] += (a + (dx != nullptr ? dx[k] : 0)) * dy[k];
  };
  std::int64_t k = 0;
  for (; k + kParts <= length; k += kParts) {
    for (std::int64_t part = 0; part < kParts; ++part) add(part, k + part);
  }
  for (std::int64_t part = 0; k < length; ++k, ++part) add(part, k);
  ProductSums sums;
  for (std::int64_t part = 0; part < kParts; ++part) {
    sums.size += size[part];
    sums.bound += bound[part];
  }
  return sums;
}

class BoundMaker {
 public:
  BoundMaker(const Graph& graph, const Bindings& symbols)
      : graph_(graph), symbols_(symbols), readers_(reader_counts(graph)) {
    bounds_.resize(graph.size());
  }
  void observe(NodeId id, std::span<const Tensor> values) {
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
  std::vector<double> take(NodeId id, std::int64_t count) {
    return bounds_[id].empty() ? NodeBounds(static_cast<std::size_t>(count)) : bounds_[id];
  }

 private:
  NodeBounds& made(NodeId id) {
    bounds_[id].resize(static_cast<std::size_t>(values_[id].element_count()));
    return bounds_[id];
  }
  FixedView fixed_view(NodeId node, const View& view) const {
    return fixed(view, symbols_, values_[node].element_count());
  }
  Reader reader(const Operand& operand) const { return reader(operand.node, operand.view); }
  Reader reader(NodeId node, const View& view) const {
    return {values_[node], bounds_[node], fixed_view(node, view)};
  }
  bool is_exact(const Node& node) const {
    return std::ranges::all_of(node.operands,
                               [&](const auto& operand) { return bounds_[operand.node].empty(); });
  }

  void elementwise(NodeId id, const Node& node) {
    const bool stays_exact = node.op == Op::kCast || node.op == Op::kAdd || node.op == Op::kMax ||
                             node.op == Op::kMod || node.op == Op::kLess || node.op == Op::kSelect;
    if (stays_exact && is_exact(node)) return;
    auto& bounds = made(id);
    const ElementBound bound(node.dtype);
    std::array<std::optional<Reader>, 3> readers;
    for (std::size_t k = 0; k < node.operands.size(); ++k) {
      const auto& operand = node.operands[k];
      readers[k].emplace(values_[operand.node], bounds_[operand.node],
                         fixed_view(operand.node, operand.view));
    }
    const auto result = values_[id].view();
    std::vector<Number> x(node.operands.size());
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      for (std::size_t k = 0; k < x.size(); ++k) x[k] = readers[k]->next();
      bounds[i] = bound.of(node.op, x, value_as_double(result, static_cast<std::int64_t>(i)));
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
    const auto result = values_[id].view();
    const auto length = node.operands[0].view.shape.back().at(symbols_);
    const ElementBound bound(node.dtype);
    auto& bounds = made(id);
    if (products) {  // of integers: exact, or nothing is asked
      std::ranges::fill(bounds, kInfinite);
      return;
    }
    auto x = reader(node.operands[0]);
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      if (node.op == Op::kSum) {
        bounds[i] = sum_bound(
            bound, length, [&] { return x.next(); },
            value_as_double(result, static_cast<std::int64_t>(i)));
        continue;
      }
      for (std::int64_t k = 0; k < length; ++k) bounds[i] = std::max(bounds[i], x.next().bound);
    }
  }
  template <typename Next>
  static double sum_bound(const ElementBound& bound, std::int64_t length, Next&& next,
                          double result) {
    double total = 0, size = 0;
    for (std::int64_t k = 0; k < length; ++k) {
      const Number x = next();
      total += x.bound;
      if (std::isfinite(x.value)) size += std::abs(x.value);
    }
    return bound.of_sum(length, size, total, result);
  }

  template <typename T>
  void sum_products(NodeId id, const Node& node, const SumOfProducts& products) {
    const auto& product = graph_.node(products.product);
    const NodeId a = product.operands[0].node, b = product.operands[1].node;
    const auto view_a = fixed_view(a, products.a), view_b = fixed_view(b, products.b);
    const Rows<T> x(values_[a].as<T>().data(), view_a), y(values_[b].as<T>().data(), view_b);
    const Rows<double> dx(bounds_[a].data(), bounds_[a].empty() ? FixedView{{0}, {1}} : view_a);
    const Rows<double> dy(bounds_[b].data(), bounds_[b].empty() ? FixedView{{0}, {1}} : view_b);
    const ElementBound bound(node.dtype);
    const auto result = values_[id].as<T>();
    auto& bounds = made(id);
    const auto length = x.length();
    // Bounds lie as their elements do: a row of them is found where its elements are.
    Walk<2> walk({&x.view(), &y.view()});
    for (std::size_t i = 0; i < bounds.size(); ++i, walk.next()) {
      const T *of_x = x.at(walk[0]), *of_y = y.at(walk[1]);
      const double* off_x = bounds_[a].empty() ? nullptr : dx.at(walk[0]);
      const double* off_y = bounds_[b].empty() ? nullptr : dy.at(walk[1]);
      const auto sums = product_sums(of_x, off_x, of_y, off_y, length);
      const double sum = static_cast<double>(result[i]);
      if (std::isfinite(sums.size) && std::isfinite(sums.bound)) {
        bounds[i] = bound.of_sum_of_products(length, sums.size, sums.bound, sum);
        continue;
      }
      // Infinities and NaN, one by one.
      std::int64_t k = 0;
      const auto next = [&] {
        const Number p{static_cast<double>(of_x[k]), off_x != nullptr ? off_x[k] : 0};
        const Number q{static_cast<double>(of_y[k]), off_y != nullptr ? off_y[k] : 0};
        ++k;
        const double value = p.value * q.value;
        // A product that overflows does not where it is fused with the addition.
        const bool overflows =
            std::isinf(value) && std::isfinite(p.value) && std::isfinite(q.value);
        double off = p.is_open() || q.is_open() || overflows ? kInfinite : 0;
        if (off == 0 && !(p.is_exact() && q.is_exact())) off = bound.of_product(p, q, value);
        return Number{value, off};
      };
      bounds[i] = sum_bound(bound, length, next, sum);
    }
  }

  template <typename Do>
  void for_each_index(const Operand& operand, std::size_t count, Do&& act) const {
    auto indices = reader(operand);
    for (std::size_t i = 0; i < count; ++i) act(i, indices.next());
  }
  NodeBounds elements(const Operand& operand) const {
    auto from = reader(operand);
    const auto count = fixed_view(operand.node, operand.view).element_count();
    NodeBounds all(static_cast<std::size_t>(count));
    for (auto& bound : all) bound = from.next().bound;
    return all;
  }
  void gather(NodeId id, const Node& node) {
    if (is_exact(node)) return;
    auto& bounds = made(id);
    const auto data = elements(node.operands[0]);
    const auto last = static_cast<double>(data.size()) - 1;
    for_each_index(node.operands[1], bounds.size(), [&](std::size_t i, const Number& index) {
      bounds[i] = index.is_open()
                      ? kInfinite
                      : data[static_cast<std::size_t>(std::clamp(index.value, 0.0, last))];
    });
  }
  void scatter(NodeId id, const Node& node) {
    if (is_exact(node)) return;
    auto& bounds = bounds_[id];
    const auto values = elements(node.operands[2]);
    bounds = elements(node.operands[0]);
    bool is_open = false;
    for_each_index(node.operands[1], values.size(), [&](std::size_t i, const Number& index) {
      is_open = is_open || index.is_open();
      if (index.value < 0 || index.value >= static_cast<double>(bounds.size())) return;
      bounds[static_cast<std::size_t>(index.value)] = values[i];
    });
    if (is_open) std::ranges::fill(bounds, kInfinite);
  }

  const Graph& graph_;
  const Bindings& symbols_;
  std::vector<std::uint32_t> readers_;
  std::span<const Tensor> values_;
  std::vector<NodeBounds> bounds_;
};

}  // namespace

std::map<std::string, BoundedTensor> interpret_with_bounds(const Graph& graph,
                                                           const InputViews& inputs,
                                                           const Bindings& symbols) {
  BoundMaker maker(graph, symbols);
  auto outputs = interpret(graph, inputs, symbols, [&](NodeId id, std::span<const Tensor> values) {
    maker.observe(id, values);
  });
  std::map<std::string, BoundedTensor> bounded;
  for (const auto& output : graph.outputs()) {
    auto& value = outputs.at(output.name);
    const auto count = value.element_count();
    bounded.emplace(output.name, BoundedTensor{std::move(value), maker.take(output.node, count)});
  }
  return bounded;
}

std::string difference(const BoundedTensor& expected, const TensorView& got) {
  const auto want = expected.value.view();
  if (got.dtype() != want.dtype() || !(got.shape() == want.shape())) {
    return fmt::format("{} {}, expected {} {}", name_of(got.dtype()), got.shape().to_string(),
                       name_of(want.dtype()), want.shape().to_string());
  }
  for (std::int64_t i = 0; i < want.element_count(); ++i) {
    const double bound = expected.bounds[static_cast<std::size_t>(i)];
    const double x = value_as_double(want, i), y = value_as_double(got, i);
    const bool is_same = x == y || (std::isnan(x) && std::isnan(y));
    if (is_same || std::isinf(bound) || std::abs(x - y) <= bound) continue;
    return fmt::format("element {} is {}, expected {} ± {:.3g}", i, y, x, bound);
  }
  return {};
}

}  // namespace assay::compiler
