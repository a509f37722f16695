// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "compiler/graph/dtypes.h"

namespace assay::compiler {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct Rounding {
  double unit = 0;      // half the distance of neighbours, relative
  double greatest = 0;  // finite
  double least = 0;     // normal
};
Rounding rounding_of(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return {0x1p-53, std::numeric_limits<double>::max(), 0x1p-1022};
    case DType::kF32:
      return {0x1p-24, std::numeric_limits<float>::max(), 0x1p-126};
    case DType::kBF16:
      return {0x1p-9, 0x1.FEp127, 0x1p-126};
    case DType::kF16:
      return {0x1p-11, 65504, 0x1p-14};
    default:
      return {};
  }
}

// A value and how far off it may be.
struct Number {
  double value = 0, bound = 0;
  bool is_exact() const { return bound == 0; }
  bool is_open() const { return std::isinf(bound); }
};

// Elements of an operand one after the other.
class Reader {
 public:
  Reader(const Tensor& values, const std::vector<double>& bounds, const FixedView& view)
      : view_(values.view()), bounds_(bounds), fixed_(view), at_(view.shape.size()) {
    offset_ = view.offset;
  }
  Number next() {
    const Number number = at(offset_);
    for (std::size_t axis = fixed_.shape.size(); axis-- > 0;) {
      offset_ += fixed_.strides[axis];
      if (++at_[axis] < fixed_.shape[axis]) return number;
      offset_ -= fixed_.strides[axis] * fixed_.shape[axis];
      at_[axis] = 0;
    }
    return number;
  }
  Number at(std::int64_t element) const {
    return {value_as_double(view_, element), bounds_[static_cast<std::size_t>(element)]};
  }

 private:
  TensorView view_;
  const std::vector<double>& bounds_;
  FixedView fixed_;
  std::vector<std::int64_t> at_;
  std::int64_t offset_ = 0;
};

class BoundMaker {
 public:
  BoundMaker(const Graph& graph, const Bindings& symbols)
      : graph_(graph), symbols_(symbols), readers_(reader_counts(graph)) {
    bounds_.resize(graph.size());
  }
  void observe(NodeId id, std::span<const Tensor> values) {
    const auto& node = graph_.node(id);
    values_ = values;
    rounding_ = rounding_of(node.dtype);
    auto& bounds = bounds_[id];
    bounds.resize(static_cast<std::size_t>(values[id].element_count()));
    switch (node.op) {
      case Op::kInput:
      case Op::kConst:
      case Op::kIota:
        return;
      case Op::kSum:
      case Op::kMaxReduce:
        return reduce(id, node, bounds);
      case Op::kGather:
        return gather(node, bounds);
      case Op::kScatter:
        return scatter(node, bounds);
      default:
        return elementwise(id, node, bounds);
    }
  }
  std::vector<double> take(NodeId id) { return bounds_[id]; }

 private:
  FixedView fixed_view(const Operand& operand, const View& view) const {
    return fixed(view, symbols_, values_[operand.node].element_count());
  }
  Reader reader(const Operand& operand) const { return reader(operand, operand.view); }
  Reader reader(const Operand& operand, const View& view) const {
    return {values_[operand.node], bounds_[operand.node], fixed_view(operand, view)};
  }

  void elementwise(NodeId id, const Node& node, std::vector<double>& bounds) const {
    std::vector<Reader> readers;
    for (const auto& operand : node.operands) readers.push_back(reader(operand));
    const auto result = values_[id].view();
    std::vector<Number> x(readers.size());
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      for (std::size_t k = 0; k < x.size(); ++k) x[k] = readers[k].next();
      bounds[i] = bound_of(node, x, value_as_double(result, static_cast<std::int64_t>(i)));
    }
  }

  // Rounded once more, unless it was exact all the way; near an overflow anything may happen.
  double rounded(double bound, double result, double units = 2) const {
    if (std::isnan(bound)) return kInfinite;
    if (bound == 0 || !std::isfinite(result)) return bound;
    const double total =
        bound + units * rounding_.unit * std::abs(result) + rounding_.least * 0x1p-8;
    return std::abs(result) + total >= rounding_.greatest ? kInfinite : total;
  }

  double bound_of(const Node& node, const std::vector<Number>& x, double result) const {
    for (const auto& number : x) {
      if (number.is_open() && node.op != Op::kSelect) return kInfinite;
    }
    const bool is_exact =
        std::ranges::all_of(x, [](const Number& number) { return number.is_exact(); });
    switch (node.op) {
      case Op::kCast:
        return is_exact ? 0 : cast_bound(node, x[0], result);
      case Op::kAdd:
        if (is_exact) return 0;
        return rounded(x[0].bound + x[1].bound, result);
      case Op::kMul:
        // A product that is summed in a wider type does not overflow.
        if (std::isinf(result) && std::isfinite(x[0].value) && std::isfinite(x[1].value) &&
            is_floating(node.dtype)) {
          return kInfinite;
        }
        return is_exact ? 0 : product_bound(x[0], x[1], result);
      case Op::kMax:
        return std::max(x[0].bound, x[1].bound);
      case Op::kMod:
        return is_exact ? 0 : kInfinite;
      case Op::kLess:
        return is_exact || std::abs(x[0].value - x[1].value) > x[0].bound + x[1].bound ? 0
                                                                                       : kInfinite;
      case Op::kSelect:
        return x[0].is_open() ? kInfinite : x[x[0].value != 0 ? 1 : 2].bound;
      default:
        return function_bound(node.op, x[0], result);
    }
  }

  double cast_bound(const Node& node, const Number& x, double result) const {
    if (is_floating(node.dtype)) return rounded(x.bound, result);
    if (node.dtype == DType::kBool) return std::abs(x.value) > x.bound ? 0 : kInfinite;
    return std::trunc(x.value - x.bound) == std::trunc(x.value + x.bound) ? 0 : kInfinite;
  }
  double product_bound(const Number& a, const Number& b, double result) const {
    // Infinity times what may be 0, or of either sign.
    for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)}) {
      if (std::isinf(x.value)) return std::abs(y.value) > y.bound ? 0 : kInfinite;
      if (std::isnan(x.value)) return 0;
    }
    return rounded(std::abs(a.value) * b.bound + std::abs(b.value) * a.bound + a.bound * b.bound,
                   result);
  }
  // Monotone where they are defined: the ends say how far.
  double function_bound(Op op, const Number& x, double result) const {
    constexpr double kUnits = 8;  // what a function may be off by itself
    if (std::isnan(result)) {
      // sqrt and log2 of what may be 0 or above.
      return x.is_exact() || x.value + x.bound < 0 ? 0 : kInfinite;
    }
    const double own =
        kUnits * std::max(rounding_.unit, 0x1p-53) * std::abs(result) + 2 * rounding_.least;
    if (op == Op::kSin) {
      return rounded(std::min(x.bound, 2.0) + own + 8 * rounding_.unit * 0x1p-3, result);
    }
    const auto f = [op](double v) {
      switch (op) {
        case Op::kExp2:
          return std::exp2(v);
        case Op::kLog2:
          return std::log2(v);
        case Op::kSqrt:
          return std::sqrt(v);
        default:
          return 1 / v;
      }
    };
    const double low = x.value - x.bound, high = x.value + x.bound;
    if (op == Op::kRecip && low <= 0 && high >= 0 && !x.is_exact()) return kInfinite;
    if ((op == Op::kSqrt || op == Op::kLog2) && low < 0 && !x.is_exact()) return kInfinite;
    if (!std::isfinite(result)) return x.is_exact() || !std::isfinite(x.value) ? 0 : kInfinite;
    if (std::isinf(x.value)) return 0;  // exp2(−∞), 1 / ∞
    const double spread = std::max(std::abs(f(low) - f(x.value)), std::abs(f(high) - f(x.value)));
    return rounded(spread + own, result);
  }

  void reduce(NodeId id, const Node& node, std::vector<double>& bounds) const {
    const auto result = values_[id].view();
    const auto products = sum_of_products(graph_, id, readers_);
    const auto length = node.operands[0].view.shape.back().at(symbols_);
    if (products) {
      const auto& product = graph_.node(products->product);
      auto a = reader(product.operands[0], products->a),
           b = reader(product.operands[1], products->b);
      const auto next = [&] {
        const auto x = a.next(), y = b.next();
        const double value = x.value * y.value;
        // A product that overflows does not where it is fused with the addition.
        const bool overflows =
            std::isinf(value) && std::isfinite(x.value) && std::isfinite(y.value);
        double bound = x.is_open() || y.is_open() || overflows ? kInfinite : 0;
        if (bound == 0 && !(x.is_exact() && y.is_exact())) bound = product_bound(x, y, value);
        return Number{value, bound};
      };
      for (std::size_t i = 0; i < bounds.size(); ++i) {
        bounds[i] = sum_bound(length, next, value_as_double(result, static_cast<std::int64_t>(i)));
      }
      return;
    }
    auto x = reader(node.operands[0]);
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      if (node.op == Op::kSum) {
        bounds[i] = sum_bound(
            length, [&] { return x.next(); },
            value_as_double(result, static_cast<std::int64_t>(i)));
      } else {
        double bound = 0;
        for (std::int64_t k = 0; k < length; ++k) bound = std::max(bound, x.next().bound);
        bounds[i] = bound;
      }
    }
  }
  // In any order: each of n additions is off by a unit of what has come together by then.
  template <typename Next>
  double sum_bound(std::int64_t length, Next&& next, double result) const {
    double bound = 0, size = 0;
    for (std::int64_t k = 0; k < length; ++k) {
      const Number x = next();
      bound += x.bound;
      if (std::isfinite(x.value)) size += std::abs(x.value);
    }
    if (rounding_.unit == 0) return bound == 0 ? 0 : kInfinite;
    const double unit = std::min(rounding_.unit, 0x1p-24);
    // In another order it may overflow, or not.
    const double most =
        rounding_.unit == 0x1p-53 ? rounding_.greatest : std::min(rounding_.greatest, 3.4e38);
    if (!(size < most)) return kInfinite;
    // What is summed may have been rounded to nothing.
    const double lost = size > 0 ? rounding_.least * unit : 0;
    return rounded(bound + static_cast<double>(length + 1) * (unit * size + lost), result);
  }

  template <typename Do>
  void for_each_index(const Operand& operand, std::size_t count, Do&& act) const {
    auto indices = reader(operand);
    for (std::size_t i = 0; i < count; ++i) act(i, indices.next());
  }
  std::vector<double> elements(const Operand& operand) const {
    auto from = reader(operand);
    const auto count = fixed_view(operand, operand.view).element_count();
    std::vector<double> all(static_cast<std::size_t>(count));
    for (auto& bound : all) bound = from.next().bound;
    return all;
  }
  void gather(const Node& node, std::vector<double>& bounds) const {
    const auto data = elements(node.operands[0]);
    const auto last = static_cast<double>(data.size()) - 1;
    for_each_index(node.operands[1], bounds.size(), [&](std::size_t i, const Number& index) {
      bounds[i] = index.is_open()
                      ? kInfinite
                      : data[static_cast<std::size_t>(std::clamp(index.value, 0.0, last))];
    });
  }
  void scatter(const Node& node, std::vector<double>& bounds) const {
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
  Rounding rounding_;
  std::vector<std::vector<double>> bounds_;
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
    bounded.emplace(output.name,
                    BoundedTensor{std::move(outputs.at(output.name)), maker.take(output.node)});
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
