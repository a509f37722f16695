// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/reference/interpret.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "compiler/graph/compose.h"
#include "compiler/graph/dtypes.h"
#include "compiler/graph/scalar.h"
#include "compiler/reference/exact_sum.h"
#include "compiler/reference/matrix_of_sums.h"
#include "compiler/reference/reads_through.h"
#include "compiler/reference/shared_loop.h"
#include "compiler/reference/walk.h"

namespace assay::compiler {
namespace {

// Of a matrix of sums a thread takes so many of its longer axis at a time, with so many of the
// shorter one before the next: rows of a few thousand terms, both of them, are in a cache of 1 MiB
// then.
constexpr std::int64_t kLongAtOnce = 16, kShortAtOnce = 32;

// Rows of which the same one is asked for again and again.
template <typename T>
class RepeatedRows {
 public:
  explicit RepeatedRows(const Rows<T>& rows) : rows_(rows) {}
  const T* at(std::int64_t offset) {
    if (row_ == nullptr || offset != offset_) row_ = rows_.at(offset, 0, rows_.length(), room_);
    offset_ = offset;
    return row_;
  }

 private:
  const Rows<T>& rows_;
  std::vector<T> room_;
  std::int64_t offset_ = 0;
  const T* row_ = nullptr;
};

class Interpreter {
 public:
  Interpreter(const Graph& graph, const InputViews& inputs, const Bindings& symbols)
      : graph_(graph), inputs_(inputs), symbols_(symbols) {
    for (const auto& [name, interval] : graph.symbols()) {
      const auto found = symbols.find(name);
      if (found == symbols.end()) fail("symbol '{}' has no value", name);
      if (found->second < interval.low || found->second > interval.high) {
        fail("symbol '{}' is from {} to {}, got {}", name, interval.low, interval.high,
             found->second);
      }
    }
    for (const auto& input : inputs) {
      const auto is_it = [&](NodeId id) { return graph.node(id).name == input.first; };
      if (std::ranges::none_of(graph.inputs(), is_it)) {
        fail("the graph has no input '{}'", input.first);
      }
    }
  }

  OutputTensors run(const NodeObserver& observer) {
    auto readers = reader_counts(graph_);
    products_.resize(graph_.size());
    std::vector<bool> is_skipped(graph_.size());
    for (NodeId id = 0; id < graph_.size(); ++id) {
      products_[id] = sum_of_products(graph_, id, readers);
      if (products_[id]) is_skipped[products_[id]->product] = true;
    }
    const auto is_read_through = casts_read_through(graph_, is_skipped);
    const auto let_go = [&](NodeId id) {
      if (--readers[id] != 0) return;
      made_[id] = nothing();
      values_[id] = made_[id].view();
    };
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (is_skipped[id]) {
        add(nothing());
        continue;
      }
      const auto& node = graph_.node(id);
      if (node.op == Op::kInput) {
        add_input(node);
      } else if (is_read_through[id] && made_[node.operands[0].node].element_count() == 0) {
        made_.push_back(nothing());
        values_.push_back(TensorView(values_[node.operands[0].node]));
      } else {
        add(products_[id] ? summed_products(node, *products_[id]) : computed(node));
      }
      if (observer) observer(id, values_);
      const auto& read = products_[id] ? graph_.node(products_[id]->product) : node;
      for (const auto& operand : read.operands) let_go(operand.node);
    }
    OutputTensors outputs;
    for (const auto& output : graph_.outputs()) {
      outputs.emplace(output.name, Tensor::copy(values_[output.node]));
    }
    return outputs;
  }

 private:
  static Tensor nothing() { return {DType::kBool, Shape({0})}; }
  void add(Tensor value) {
    made_.push_back(std::move(value));
    values_.push_back(made_.back().view());
  }
  std::vector<std::int64_t> extents(const std::vector<Dim>& shape) const {
    std::vector<std::int64_t> values;
    for (const auto& dim : shape) values.push_back(dim.at(symbols_));
    return values;
  }
  FixedView view_of(const Operand& operand) const {
    return fixed(operand.view, symbols_, values_[operand.node].element_count());
  }
  template <typename T>
  const T* data_of(const Operand& operand) const {
    return values_[operand.node].data<T>();
  }

  Tensor computed(const Node& node) {
    Tensor out(node.dtype, Shape(extents(node.shape)));
    switch (node.op) {
      case Op::kConst:
        std::memcpy(out.bytes().data(), &node.bits, out.bytes().size());
        break;
      case Op::kCast:
        visit_graph_dtype(graph_.node(node.operands[0].node).dtype,
                          [&]<typename From>(std::type_identity<From>) {
                            visit_graph_dtype(node.dtype, [&]<typename To>(std::type_identity<To>) {
                              unary<From, To>(node, out, converted_to<From, To>);
                            });
                          });
        break;
      case Op::kLess:
        visit_graph_dtype(graph_.node(node.operands[0].node).dtype,
                          [&]<typename T>(std::type_identity<T>) {
                            binary<T, bool>(node, out, [](Wide<T> a, Wide<T> b) { return a < b; });
                          });
        break;
      default:
        visit_graph_dtype(node.dtype,
                          [&]<typename T>(std::type_identity<T>) { compute_as<T>(node, out); });
    }
    return out;
  }

  // What a sum reads of one factor of its terms.
  FixedView factor_of(const Node& sum, const Node& product, std::size_t which,
                      const View& composed) const {
    const auto elements = Shape(extents(product.shape)).element_count();
    const auto outer = fixed(sum.operands[0].view, symbols_, elements);
    const auto inner = view_of(product.operands[which]);
    auto all = view_of({product.operands[which].node, composed});
    if (!reads_through(all, outer, inner)) {
      throw InternalError(fmt::format("{} through {} is not {}", sum.operands[0].view.to_string(),
                                      product.operands[which].view.to_string(),
                                      composed.to_string()));
    }
    return all;
  }
  Tensor summed_products(const Node& node, const SumOfProducts& products) const {
    Tensor out(node.dtype, Shape(extents(node.shape)));
    const auto& product = graph_.node(products.product);
    const auto a = factor_of(node, product, 0, products.a),
               b = factor_of(node, product, 1, products.b);
    visit_graph_dtype(node.dtype, [&]<typename T>(std::type_identity<T>) {
      const Rows<T> x(values_[product.operands[0].node], a),
          y(values_[product.operands[1].node], b);
      const auto sums = out.as<T>();
      if (sums.empty()) return;
      const MatrixOfSums matrix(x.view(), y.view());
      const auto outer_x = without_matrix(x.view()), outer_y = without_matrix(y.view());
      const bool has_more_rows = matrix.rows > matrix.columns;
      const auto many = has_more_rows ? matrix.rows : matrix.columns;
      const auto few = has_more_rows ? matrix.columns : matrix.rows;
      const auto slices = (many + kLongAtOnce - 1) / kLongAtOnce;
      const auto size = matrix.rows * matrix.columns;
      const auto sum_piece = [&](std::int64_t piece) {
        const Walk<2> at({&outer_x, &outer_y}, piece / slices);
        RepeatedRows<T> of_x(x), of_y(y);
        T* to = sums.data() + piece / slices * size;
        const auto sum_at = [&](std::int64_t i, std::int64_t j) {
          to[i * matrix.columns + j] =
              dot(of_x.at(at[0] + i * matrix.x.row + j * matrix.x.column),
                  of_y.at(at[1] + i * matrix.y.row + j * matrix.y.column), x.length());
        };
        const auto begin = piece % slices * kLongAtOnce;
        const auto end = std::min(many, begin + kLongAtOnce);
        for (std::int64_t first = 0; first < few; first += kShortAtOnce) {
          const auto last = std::min(few, first + kShortAtOnce);
          for (auto l = begin; l < end; ++l) {
            for (auto s = first; s < last; ++s) {
              if (has_more_rows)
                sum_at(l, s);
              else
                sum_at(s, l);
            }
          }
        }
      };
      const auto count = static_cast<std::int64_t>(sums.size());
      share_loop(count * x.length(), count / size * slices, sum_piece);
    });
    return out;
  }

  // Read where it lies, if that is possible: weights are large.
  void add_input(const Node& node) {
    const auto found = inputs_.find(node.name);
    if (found == inputs_.end()) fail("input '{}' is missing", node.name);
    const auto& given = found->second;
    const Shape shape(extents(node.shape));
    if (given.dtype() != node.dtype || !(given.shape() == shape)) {
      fail("input '{}' is {} {}, expected {} {}", node.name, name_of(given.dtype()),
           given.shape().to_string(), name_of(node.dtype), shape.to_string());
    }
    const bool is_aligned =
        reinterpret_cast<std::uintptr_t>(given.raw_data()) % size_of(node.dtype) == 0;
    if (!given.is_contiguous() || !is_aligned) return add(Tensor::copy(given));
    made_.push_back(nothing());
    values_.push_back(given);
  }

  template <typename From, typename To, typename F>
  void unary(const Node& node, Tensor& out, F&& f) const {
    auto view = view_of(node.operands[0]);
    const From* in = data_of<From>(node.operands[0]);
    // Of a matrix that is turned, elements one after the other are far from each other.
    std::unique_ptr<From[]> rows;
    if (has_gaps(view)) {
      rows = packed_rows<From>(in, view);
      in = rows.get();
    }
    Walk<1> walk({&view});
    for (To& to : out.as<To>()) {
      to = f(in[walk[0]]);
      walk.next();
    }
  }
  template <typename From, typename To, typename F>
  void binary(const Node& node, Tensor& out, F&& f) const {
    const auto a = view_of(node.operands[0]), b = view_of(node.operands[1]);
    const From *x = data_of<From>(node.operands[0]), *y = data_of<From>(node.operands[1]);
    Walk<2> walk({&a, &b});
    for (To& to : out.as<To>()) {
      to = narrowed<To>(f(widened(x[walk[0]]), widened(y[walk[1]])));
      walk.next();
    }
  }

  template <typename T>
  void compute_as(const Node& node, Tensor& out) const {
    using W = Wide<T>;
    const auto of_floating = [&](double (*f)(double)) {
      if constexpr (kIsFloating<T>) {
        unary<T, T>(node, out, [&](T value) { return narrowed<T>(f(widened(value))); });
      }
    };
    switch (node.op) {
      case Op::kIota:
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
          std::int64_t i = 0;
          for (T& to : out.as<T>()) to = static_cast<T>(i++);
        }
        return;
      case Op::kExp2:
        return of_floating([](double x) { return std::exp2(x); });
      case Op::kLog2:
        return of_floating([](double x) { return std::log2(x); });
      case Op::kSin:
        return of_floating([](double x) { return std::sin(x); });
      case Op::kSqrt:
        return of_floating([](double x) { return std::sqrt(x); });
      case Op::kRecip:
        return of_floating([](double x) { return 1 / x; });
      case Op::kAdd:
        return binary<T, T>(node, out, sum_of<W>);
      case Op::kMul:
        return binary<T, T>(node, out, product_of<W>);
      case Op::kDiv:
        // Of what is narrower than f64 the quotient may be rounded twice: f64 has more than twice
        // its digits, and two besides.
        if constexpr (kIsFloating<T>) {
          binary<T, T>(node, out, [](double a, double b) { return a / b; });
        }
        return;
      case Op::kMod:
        if constexpr (!std::is_same_v<T, bool>) {
          binary<T, T>(node, out, [](W a, W b) { return remainder_of(a, b); });
        }
        return;
      case Op::kMax:
        return binary<T, T>(node, out, greatest_of<W>);
      case Op::kSelect:
        return select<T>(node, out);
      case Op::kSum:
        return sum<T>(node, out);
      case Op::kMaxReduce:
        return reduce<T>(node, out, std::nullopt, greatest_of<W>);
      case Op::kGather:
        return gather<T>(node, out);
      case Op::kScatter:
        return scatter<T>(node, out);
      default:
        throw InternalError("an operation is one of those");
    }
  }

  template <typename T>
  void select(const Node& node, Tensor& out) const {
    const auto c = view_of(node.operands[0]), a = view_of(node.operands[1]),
               b = view_of(node.operands[2]);
    const bool* condition = data_of<bool>(node.operands[0]);
    const T *x = data_of<T>(node.operands[1]), *y = data_of<T>(node.operands[2]);
    Walk<3> walk({&c, &a, &b});
    for (T& to : out.as<T>()) {
      to = condition[walk[0]] ? x[walk[1]] : y[walk[2]];
      walk.next();
    }
  }

  template <typename T, typename F>
  void reduce(const Node& node, Tensor& out, std::optional<Wide<T>> first, F&& f) const {
    const auto view = view_of(node.operands[0]);
    const T* in = data_of<T>(node.operands[0]);
    const auto length = view.shape.back();
    Walk<1> walk({&view});
    for (T& to : out.as<T>()) {
      auto sum = first;
      for (std::int64_t k = 0; k < length; ++k) {
        sum = sum ? f(*sum, widened(in[walk[0]])) : widened(in[walk[0]]);
        walk.next();
      }
      check(sum.has_value(), "the greatest of something is asked for");
      to = narrowed<T>(*sum);
    }
  }

  template <typename T>
  void sum(const Node& node, Tensor& out) const {
    if constexpr (!std::is_same_v<T, double>) {
      return reduce<T>(node, out, Wide<T>{}, sum_of<Wide<T>>);
    } else {
      const auto view = view_of(node.operands[0]);
      const double* in = data_of<double>(node.operands[0]);
      Walk<1> walk({&view});
      for (double& to : out.as<double>()) {
        ExactSum sum;
        for (std::int64_t k = 0; k < view.shape.back(); ++k, walk.next()) sum.add(in[walk[0]]);
        to = sum.value();
      }
    }
  }

  // The flat index of element after element of an operand that holds indices.
  template <typename Do>
  void for_each_index(const Operand& operand, Do&& act) const {
    const auto view = view_of(operand);
    const std::int64_t count = view.element_count();
    visit_graph_dtype(graph_.node(operand.node).dtype, [&]<typename T>(std::type_identity<T>) {
      if constexpr (std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>) {
        const T* in = data_of<T>(operand);
        Walk<1> walk({&view});
        for (std::int64_t i = 0; i < count; ++i, walk.next())
          act(i, static_cast<std::int64_t>(in[walk[0]]));
      }
    });
  }
  // All elements of an operand in row-major order.
  template <typename T>
  std::vector<T> elements(const Operand& operand) const {
    const auto view = view_of(operand);
    const T* in = data_of<T>(operand);
    std::vector<T> all(static_cast<std::size_t>(view.element_count()));
    Walk<1> walk({&view});
    for (std::size_t i = 0; i < all.size(); ++i, walk.next()) all[i] = in[walk[0]];
    return all;
  }

  template <typename T>
  void gather(const Node& node, Tensor& out) const {
    const auto last = view_of(node.operands[0]).element_count() - 1;
    check(last >= 0, "what is gathered from is not empty");
    const auto to = out.as<T>();
    const auto from = [&]<typename From>(std::type_identity<From>, auto data) {
      for_each_index(node.operands[1], [&](std::int64_t i, std::int64_t index) {
        const From value = data[std::clamp<std::int64_t>(index, 0, last)];
        to[static_cast<std::size_t>(i)] = converted_to<From, T>(value);
      });
    };
    const auto& given = values_[node.operands[0].node];
    visit_graph_dtype(given.dtype(), [&]<typename From>(std::type_identity<From> type) {
      if constexpr (std::is_same_v<From, T> || (kIsFloating<From> && kIsFloating<T>)) {
        // Tables are large: read where they lie.
        if (node.operands[0].view.is_contiguous()) return from(type, given.data<From>());
        from(type, elements<From>(node.operands[0]).begin());
      }
    });
  }
  template <typename T>
  void scatter(const Node& node, Tensor& out) const {
    const auto data = elements<T>(node.operands[0]), values = elements<T>(node.operands[2]);
    const auto to = out.as<T>();
    std::copy(data.begin(), data.end(), to.begin());
    for_each_index(node.operands[1], [&](std::int64_t i, std::int64_t index) {
      if (index < 0 || index >= static_cast<std::int64_t>(to.size())) return;
      to[static_cast<std::size_t>(index)] = values[static_cast<std::size_t>(i)];
    });
  }

  const Graph& graph_;
  const InputViews& inputs_;
  const Bindings& symbols_;
  std::vector<Tensor> made_;                            // values that are not inputs
  std::vector<TensorView> values_;                      // of all nodes so far
  std::vector<std::optional<SumOfProducts>> products_;  // for sums
};

}  // namespace

OutputTensors interpret(const Graph& graph, const InputViews& inputs, const Bindings& symbols) {
  return interpret(graph, inputs, symbols, {});
}
OutputTensors interpret(const Graph& graph, const InputViews& inputs, const Bindings& symbols,
                        const NodeObserver& observer) {
  return Interpreter(graph, inputs, symbols).run(observer);
}

}  // namespace assay::compiler
