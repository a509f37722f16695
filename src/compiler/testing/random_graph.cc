// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/testing/random_graph.h"

#include <array>

#include "base/philox.h"
#include "compiler/graph/graph_models.h"
#include "compiler/graph/graph_tensor.h"
#include "compiler/reference/interpret.h"

namespace assay::compiler {
namespace {

constexpr std::array kDTypes = {DType::kF32, DType::kF32, DType::kF64, DType::kBF16,
                                DType::kF16, DType::kI32, DType::kI64, DType::kBool};

enum class Kind { kSmall, kEmptyAxes, kModels };

class GraphMaker {
 public:
  GraphMaker(std::uint64_t seed, int operations, Kind kind)
      : stream_(seed, 0x6772), operations_(operations), kind_(kind) {
    const int least = kind == Kind::kEmptyAxes ? 0 : 1;
    const bool is_model = kind == Kind::kModels;
    symbols_ = {graph_.symbol("s", least, is_model ? 71 : 9),
                graph_.symbol("t", least, is_model ? 150 : 6)};
  }

  Graph run() {
    for (int i = 0; i < 3; ++i) pool_.push_back(new_input(kDTypes[below(4)], new_shape()));
    for (int i = 0; i < operations_; ++i) {
      auto result = kind_ == Kind::kModels && below(3) == 0 ? model_operation() : operation();
      if (below(3) == 0) result = moved(result);
      if (result.rank() <= 4 && size_of_shape(result.shape()) <= most_elements()) {
        pool_.push_back(result);
      }
    }
    const auto outputs = 1 + below(3);
    for (std::uint64_t i = 0; i < outputs && i < pool_.size(); ++i) {
      pool_[pool_.size() - 1 - i].set_output("y" + std::to_string(i));
    }
    return std::move(graph_);
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return uniform_below(stream_[next_++], bound); }
  std::int64_t most_elements() const { return kind_ == Kind::kModels ? 1 << 16 : 2000; }
  Dim long_dim() {
    const std::array<Dim, 12> dims = {1,  3,  8,  16,  17,          33,
                                      64, 65, 97, 130, symbols_[0], symbols_[1]};
    return dims[below(dims.size())];
  }
  Dim new_dim() {
    if (kind_ == Kind::kModels && below(3) != 0) return long_dim();
    if (kind_ == Kind::kEmptyAxes && below(4) == 0) return below(2) == 0 ? 0 : 1;
    const std::array<Dim, 8> dims = {1, 2, 3, 4, 5, symbols_[0], symbols_[1], symbols_[0] + 1};
    return dims[below(dims.size())];
  }
  std::vector<Dim> new_shape() {
    std::vector<Dim> shape(kind_ == Kind::kModels ? 2 + below(2) : below(4));
    for (auto& dim : shape) dim = new_dim();
    while (size_of_shape(shape) > most_elements()) shape.pop_back();
    return shape;
  }
  std::int64_t size_of_shape(const std::vector<Dim>& shape) const {
    const std::int64_t value = kind_ == Kind::kModels ? 41 : 6;
    return product(shape).at({{"s", value}, {"t", value}});
  }
  GraphTensor new_input(DType dtype, const std::vector<Dim>& shape) {
    return GraphTensor::input(graph_, "x" + std::to_string(inputs_++), dtype, shape);
  }
  bool can_be_empty(const std::vector<Dim>& shape) const {
    return product(shape).range(graph_.symbols()).low < 1;
  }
  GraphTensor pick() { return pool_[below(pool_.size())]; }
  GraphTensor pick_floating() {
    const auto x = pick();
    return is_floating(x.dtype()) ? x : x.cast(kDTypes[below(5)]);
  }
  GraphTensor as(const GraphTensor& x, DType dtype) { return x.cast(dtype); }

  // Something that goes with x: of its dtype, and broadcast to or from its shape.
  GraphTensor partner(const GraphTensor& x) {
    switch (below(4)) {
      case 0:
        return x.like(static_cast<double>(below(5)) - 2);
      case 1:
        for (int i = 0; i < 6; ++i) {
          const auto y = pick();
          if (y.shape() == x.shape()) return as(y, x.dtype());
        }
        [[fallthrough]];
      case 2: {
        auto shape = x.shape();
        for (auto& dim : shape) {
          if (below(3) == 0) dim = 1;
        }
        if (!shape.empty() && below(4) == 0) shape.erase(shape.begin());
        return new_input(x.dtype(), shape);
      }
      default:
        return x;
    }
  }

  GraphTensor moved(const GraphTensor& x) {
    if (x.rank() == 0) return x.unsqueeze(0).expand(0, new_dim());
    const auto axis = static_cast<int>(below(x.rank()));
    const auto& extent = x.shape()[static_cast<std::size_t>(axis)];
    switch (below(8)) {
      case 0:
        return x.transpose(axis, static_cast<int>(below(x.rank())));
      case 1:
        return x.reverse(axis);
      case 2:
        return x.unsqueeze(axis);
      case 3:
        return x.rank() < 4 ? x.unsqueeze(axis).expand(axis, new_dim()) : x;
      case 4:
        return extent.constant().value_or(0) > 2 ? x.slice(axis, 1, extent) : x;
      case 5:
        return extent.constant().value_or(0) > 2 ? x.slice(axis, 0, extent, 2) : x;
      case 6:
        return x.flatten();
      default:
        return extent.is(4) ? x.split(axis, 2) : extent.is(1) ? x.squeeze(axis) : x;
    }
  }

  GraphTensor known_operation() {
    const auto x = pick_floating();
    if (x.rank() == 0) return sigmoid(x);
    const auto axis = static_cast<int>(below(x.rank()));
    switch (below(7)) {
      case 0:
        if (can_be_empty({x.shape()[static_cast<std::size_t>(axis)]})) return silu(x);
        return softmax(x, axis);
      case 1:
        return rms_norm(x, new_input(x.dtype(), {x.shape().back()}), 1e-3);
      case 2:
        return layer_norm(x, new_input(x.dtype(), {x.shape().back()}), x.like(0.5), 1e-3);
      case 3:
        return matmul(x, new_input(x.dtype(), {x.shape().back(), new_dim()}));
      case 4: {
        const auto w = new_input(x.dtype(), {new_dim(), x.shape().back()});
        return matmul(x, w.transpose());
      }
      case 5:
        return silu(x);
      default:
        return x.rank() < 2 ? gelu_tanh(x) : matmul(x, partner_of_product(x));
    }
  }
  GraphTensor partner_of_product(const GraphTensor& x) {
    auto shape = x.shape();
    shape[shape.size() - 2] = shape.back();
    shape.back() = new_dim();
    for (std::size_t i = 0; i + 2 < shape.size(); ++i) {
      if (below(2) == 0) shape[i] = 1;
    }
    return new_input(x.dtype(), shape);
  }

  GraphTensor model_operation() {
    constexpr std::array kFloating = {DType::kF32, DType::kBF16, DType::kF16, DType::kF64};
    const auto dtype = kFloating[below(kFloating.size())];
    const auto s = long_dim(), t = long_dim();
    const std::array<std::int64_t, 4> widths = {2, 8, 24, 64};
    const auto width = widths[below(widths.size())];
    switch (below(4)) {
      case 0: {
        const auto shared = static_cast<std::int64_t>(1 + below(3));
        const auto heads = static_cast<std::int64_t>(shared * (1 + below(3)));
        AttentionOptions options;
        options.causal = below(2) == 0;
        const auto keys = options.causal ? s + t : t;
        if (options.causal) options.offset = t;
        if (options.causal && below(2) == 0) options.window = Dim(1 + below(40));
        if (!options.causal && below(2) == 0) {
          options.mask = less(new_input(DType::kF32, {s, keys}), new_input(DType::kF32, {s, 1}));
        }
        return attention(new_input(dtype, {heads, s, width}),
                         new_input(dtype, {shared, keys, width}),
                         new_input(dtype, {shared, keys, widths[below(4)]}), options);
      }
      case 1: {
        const auto heads = static_cast<std::int64_t>(1 + below(4));
        const auto of = new_input(dtype, {s, heads * width}).split(1, width).permute({1, 0, 2});
        return rotary(of, new_input(DType::kF32, {s, width / 2}),
                      new_input(DType::kF32, {s, width / 2}));
      }
      case 2: {
        const auto count = static_cast<std::int64_t>(1 + below(4));
        const auto [values, places] = top_k(new_input(dtype, {s, 4 + 3 * count}), count);
        return below(2) == 0 ? softmax(values, 1) : places * places.like(2);
      }
      default: {
        const auto experts = static_cast<std::int64_t>(1 + below(6));
        const auto n = static_cast<std::int64_t>(1 + below(40));
        return expert_matmul(new_input(dtype, {s, width}), new_input(dtype, {experts, width, n}),
                             new_input(DType::kI64, {s}));
      }
    }
  }

  GraphTensor operation() {
    const auto x = pick();
    switch (below(20)) {
      case 0:
      case 1:
        return x + partner(x);
      case 2:
      case 3:
        return is_floating(x.dtype()) && below(3) == 0 ? x / partner(x) : x * partner(x);
      case 4:
        return x.dtype() == DType::kBool ? logical_not(x) : mod(x, partner(x));
      case 5:
        return max(x, partner(x));
      case 6:
        return less(x, partner(x));
      case 7: {
        const auto yes = partner(x);
        return select(less(x, partner(x)), x, yes);
      }
      case 8:
        return x.cast(kDTypes[below(kDTypes.size())]);
      case 9: {
        const auto f = pick_floating();
        const std::array functions = {exp2, log2, sin, sqrt, recip};
        return functions[below(functions.size())](f);
      }
      case 10:
      case 11:
        return x.rank() == 0 ? x + x : x.sum(static_cast<int>(below(x.rank())), below(2) == 0);
      case 12: {
        const auto axis = x.rank() == 0 ? 0 : below(x.rank());
        if (x.rank() == 0 || can_be_empty({x.shape()[axis]})) return x * x;
        return x.max(static_cast<int>(axis), below(2) == 0);
      }
      case 13:
        return can_be_empty(x.shape()) ? x + x : gather(x, index());
      case 14: {
        const auto at = index();
        return scatter(x, at, new_input(x.dtype(), at.shape()));
      }
      case 15: {
        const auto n =
            GraphTensor::iota(graph_, new_dim(), below(2) == 0 ? DType::kI32 : DType::kI64);
        return n * n.like(2) + n.like(-1);
      }
      case 16:
        return x.dtype() == DType::kBool ? x : cumulative_sum(x.rank() == 0 ? moved(x) : x, -1);
      default:
        return known_operation();
    }
  }
  GraphTensor index() {
    const auto shape = new_shape();
    const auto dtype = below(2) == 0 ? DType::kI32 : DType::kI64;
    if (below(2) == 0) return new_input(dtype, shape);
    // Of positions alone: one number everywhere, or so much more along each axis.
    auto all =
        GraphTensor::constant(graph_, dtype, static_cast<double>(below(5)) - 1).broadcast_to(shape);
    if (shape.size() == 1 && below(2) == 0) return GraphTensor::iota(graph_, shape[0], dtype);
    for (std::size_t axis = 0; axis < shape.size() && below(4) > 0; ++axis) {
      auto along = GraphTensor::iota(graph_, shape[axis], dtype);
      for (auto i = axis + 1; i < shape.size(); ++i) along = along.unsqueeze(-1);
      all = all + (along * along.like(static_cast<double>(below(4)) - 1)).broadcast_to(shape);
    }
    return all;
  }

  Philox stream_;
  std::uint64_t next_ = 0;
  int operations_, inputs_ = 0;
  Kind kind_;
  Graph graph_;
  std::array<Dim, 2> symbols_;
  std::vector<GraphTensor> pool_;
};

}  // namespace

Graph random_graph(std::uint64_t seed, int operations) {
  return GraphMaker(seed, operations, Kind::kSmall).run();
}
Graph random_graph_with_empty_axes(std::uint64_t seed, int operations) {
  return GraphMaker(seed, operations, Kind::kEmptyAxes).run();
}
Graph random_model_graph(std::uint64_t seed, int operations) {
  constexpr double kMostWork = 2e6;  // for an interpreter that is to see thousands of them
  for (;; --operations) {
    auto graph = GraphMaker(seed, operations, Kind::kModels).run();
    const bool is_short = interpreted_elements(graph, {{"s", 41}, {"t", 41}}) < kMostWork;
    if (is_short || operations == 0) return graph;
  }
}

}  // namespace assay::compiler
