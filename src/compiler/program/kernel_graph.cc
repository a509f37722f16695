// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/program/kernel_graph.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "compiler/graph/graph_tensor.h"

namespace assay::compiler {
namespace {

std::vector<Dim> without_last(std::vector<Dim> shape) {
  shape.pop_back();
  return shape;
}
View everywhere(const std::vector<Dim>& shape) {
  return {shape, std::vector<Dim>(shape.size(), Dim(0)), 0};
}

class Definer {
 public:
  Definer(const Kernel& kernel, const Symbols& symbols) : kernel_(kernel) {
    for (const auto& [name, interval] : symbols) graph_.symbol(name, interval.low, interval.high);
    for (std::uint32_t i = 0; i < kernel.operands.size(); ++i) {
      if (!kernel.operands[i].is_written) input(i);
    }
  }
  KernelDefinition made() {
    std::visit([&](const auto& work) { define(work); }, kernel_.work);
    return {std::move(graph_), std::move(reads_), std::move(writes_)};
  }

 private:
  const Kernel::Formal& formal(std::uint32_t operand) const { return kernel_.operands.at(operand); }
  NodeId input(std::uint32_t operand) {
    const auto& [dtype, shape, is_written] = formal(operand);
    if (std::ranges::find(reads_, operand) == reads_.end()) reads_.push_back(operand);
    return GraphTensor::input(graph_, operand_name(operand), dtype, shape).node();
  }
  GraphTensor read(const Access& access) {
    return GraphTensor::of_node(graph_, input(access.operand), access.view);
  }
  // All elements are cast before they are viewed: each once, however often the view repeats it.
  GraphTensor read_as(DType dtype, const Access& access) {
    const auto whole = GraphTensor::of_node(graph_, input(access.operand));
    return GraphTensor::of_node(graph_, whole.cast(dtype).node(), access.view);
  }

  void write(const GraphTensor& value, const Access& to, bool in_place = false) {
    const auto& [dtype, shape, is_written] = formal(to.operand);
    const auto narrow = value.cast(dtype);
    const auto name = operand_name(to.operand);
    writes_.push_back(to.operand);
    const std::string replaces = in_place ? name : "";
    if (to.view.is_contiguous() && product(to.view.shape) == product(shape)) {
      return narrow.reshape(shape).set_output(name, replaces);
    }
    // Element by element to where it belongs.
    const auto places = GraphTensor::iota(graph_, product(shape));
    const auto nothing = GraphTensor::constant(graph_, dtype, 0).broadcast_to(shape);
    scatter(nothing, GraphTensor::of_node(graph_, places.node(), to.view), narrow)
        .set_output(name, replaces);
  }

  void define(const Region& region) { define(region, std::nullopt); }
  // `first`: what value 0 is, where the region is an epilogue.
  void define(const Region& region, const std::optional<GraphTensor>& first) {
    std::vector<GraphTensor> values;
    for (std::size_t i = 0; i < region.values.size(); ++i) {
      values.push_back(i == 0 && first ? *first : value_of(region, region.values[i], values));
    }
    for (const auto& store : region.stores) write(values[store.value], store.to);
  }
  GraphTensor value_of(const Region& region, const Region::Value& value,
                       const std::vector<GraphTensor>& values) {
    const auto shape = value.of_row ? without_last(region.shape) : region.shape;
    const bool reduces = value.op == Op::kSum || value.op == Op::kMaxReduce;
    switch (value.op) {
      case Op::kInput:
        return read(value.access);
      case Op::kIota:
        return GraphTensor::of_node(graph_, numbers(value).node(), value.access.view);
      default:
        break;
    }
    Node node;
    node.op = value.op;
    node.dtype = value.dtype;
    node.shape = shape;
    if (value.op == Op::kConst) {
      node.shape = {};
      node.bits = value.bits;
      return GraphTensor::of_node(graph_, graph_.add(std::move(node)), everywhere(shape));
    }
    if (value.op == Op::kGather) node.operands = {{input(value.access.operand), value.access.view}};
    for (const auto number : value.values) {
      auto x = values[number];
      // A row's value stands for all of its row.
      const bool is_wider = x.rank() < shape.size() || (reduces && x.rank() == shape.size());
      if (is_wider) x = x.unsqueeze(-1).expand(-1, region.shape.back());
      node.operands.push_back({x.node(), x.view()});
    }
    return GraphTensor::of_node(graph_, graph_.add(std::move(node)));
  }
  // As many as the view could count to.
  GraphTensor numbers(const Region::Value& value) {
    const auto& view = value.access.view;
    Dim count = view.offset + 1;
    for (std::size_t axis = 0; axis < view.rank(); ++axis) {
      const auto step = view.strides[axis].constant();
      if (!step || *step > 0) count += view.strides[axis] * view.shape[axis];
    }
    return GraphTensor::iota(graph_, count, value.dtype);
  }

  void define(const Matmul& work) {
    const auto sums = matmul(read_as(work.accumulate, work.a), read_as(work.accumulate, work.b));
    if (work.epilogue)
      define(*work.epilogue, sums);
    else
      write(sums, work.out);
  }

  // Row t's matrix is gathered: element (e, k, j) of it lies where the view says.
  void define(const GroupedMatmul& work) {
    const auto a = read_as(work.accumulate, work.a);
    const auto& view = work.weights.view;
    const auto experts = view.shape[0];
    const auto number = [&](const Dim& dim) {
      // A dimension as an element: the last of 0 … dim.
      return GraphTensor::iota(graph_, dim + 1).slice(0, dim, dim + 1).squeeze(0);
    };
    auto expert = read(work.expert).cast(DType::kI64);
    expert = min(max(expert, expert.like(0)), number(experts - 1));
    const auto numbered = GraphTensor::iota(graph_, product(formal(work.weights.operand).shape));
    const auto places = GraphTensor::of_node(
        graph_, numbered.node(),
        View{{view.shape[1], view.shape[2]}, {view.strides[1], view.strides[2]}, view.offset});
    const auto first = expert * number(view.strides[0]);
    const auto index = first.unsqueeze(-1).unsqueeze(-1) + places;  // [t, k, n]
    const auto whole = GraphTensor::of_node(graph_, input(work.weights.operand));
    const auto matrices = gather(whole, index).cast(work.accumulate);
    write(matmul(a.unsqueeze(-2), matrices).squeeze(-2), work.out);
  }

  void define(const Attention& work) {
    const auto dtype = formal(work.q.operand).dtype == DType::kF64 ? DType::kF64 : DType::kF32;
    const auto q = read_as(dtype, work.q), k = read_as(dtype, work.k), v = read_as(dtype, work.v);
    auto scores = matmul(q, k.transpose()) * work.scale;
    const auto unseen = scores.like(-INFINITY);
    if (work.mask) {
      const auto mask = read(*work.mask);
      scores =
          mask.dtype() == DType::kBool ? select(mask, scores, unseen) : scores + mask.cast(dtype);
    }
    if (work.causal) {
      // Both sides of j ≤ i + offset, j > i + offset − window, without anything below 0.
      const auto &queries = q.shape()[q.rank() - 2], &keys = k.shape()[k.rank() - 2];
      const auto numbered = [&](const Dim& begin, const Dim& count) {
        return GraphTensor::iota(graph_, begin + count).slice(0, begin, begin + count);
      };
      auto shift = max(Dim(0) - work.offset, Dim(0));
      if (work.window) shift = max(shift, Dim(0) - *work.window);  // a window may see nothing
      const auto query = numbered(work.offset + shift, queries).unsqueeze(1);
      scores = select(logical_not(less(query, numbered(shift, keys))), scores, unseen);
      if (work.window) {
        const auto reach = numbered(shift + *work.window, keys);
        scores = select(less(query, reach), scores, unseen);
      }
    }
    write(matmul(softmax(scores), v), work.out);
  }

  void define(const ScatterInto& work) {
    const auto changed = scatter(read(work.data), read(work.index), read(work.values));
    write(changed, work.out, work.in_place);
  }

  const Kernel& kernel_;
  Graph graph_;
  std::vector<std::uint32_t> reads_, writes_;
};

}  // namespace

std::string operand_name(std::uint32_t operand) { return fmt::format("operand{}", operand); }

KernelDefinition definition_of(const Kernel& kernel, const Symbols& symbols) {
  return Definer(kernel, symbols).made();
}

Program program_of(const Kernel& kernel, const Symbols& symbols) {
  const auto* scatter = std::get_if<ScatterInto>(&kernel.work);
  const bool in_place = scatter != nullptr && scatter->in_place;
  Program program;
  program.symbols = symbols;
  program.kernels = {kernel};
  program.steps = {{0, {}}};
  for (std::uint32_t i = 0; i < kernel.operands.size(); ++i) {
    const auto& formal = kernel.operands[i];
    const auto written = in_place ? Buffer::Kind::kState : Buffer::Kind::kOutput;
    program.buffers.push_back({formal.is_written ? written : Buffer::Kind::kInput, formal.dtype,
                               formal.shape, operand_name(i)});
    program.steps[0].buffers.push_back(i);
  }
  return program;
}

}  // namespace assay::compiler
