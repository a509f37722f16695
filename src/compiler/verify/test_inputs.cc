// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/test_inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <span>

#include "base/philox.h"
#include "compiler/graph/dtypes.h"
#include "compiler/verify/input_roles.h"
#include "tensor/view.h"

namespace assay::compiler {
namespace {

constexpr std::array<std::string_view, 8> kStyleNames = {
    "ordinary", "adversarial", "masking", "huge", "strong", "direct", "specks", "positive"};

// Elements that are drawn; larger inputs repeat them. A prime, which is no row's length: what lies
// elsewhere is something else.
constexpr std::int64_t kDrawn = 70'001;

// Kinds of numbers that an element may be, by its pick modulo that many.
constexpr std::uint64_t kKinds = 16;

// Which kind an element is: each once among so many elements that follow each other, in an order of
// their own; and where there are fewer elements, in the trials of the seeds that follow.
class Picks {
 public:
  Picks(std::uint64_t seed, std::uint64_t number, std::int64_t count)
      : orders_(0x6B696E64, number), skipped_(seed * static_cast<std::uint64_t>(count)) {}

  std::uint64_t kind(std::uint64_t i) const {
    const auto order = orders_[i / kKinds];
    return ((order | 1) * (i + skipped_) + (order >> 32)) % kKinds;
  }
  // How often all kinds have been there before.
  std::uint64_t turn(std::uint64_t i) const { return (i + skipped_) / kKinds; }

 private:
  Philox orders_;
  std::uint64_t skipped_;
};

double floating_value(DType dtype, InputStyle style, std::uint64_t pick, std::uint64_t raw) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double plain = uniform(raw, -2, 2);
  const bool is_half = dtype == DType::kF16;
  const double greatest = is_half                 ? 65504
                          : dtype == DType::kBF16 ? 0x1.FEp127
                          : dtype == DType::kF32  ? std::numeric_limits<float>::max()
                                                  : std::numeric_limits<double>::max();
  switch (style) {
    case InputStyle::kOrdinary:
    case InputStyle::kDirect:
      return plain;
    case InputStyle::kPositive:
      return uniform(raw, 0, 1);
    case InputStyle::kMasking:
      return pick % 4 == 0 ? -kInfinity : pick % 4 == 1 ? 0 : plain;
    case InputStyle::kHuge: {
      const double exponent = is_half ? 12 : dtype == DType::kF64 ? 800 : 100;
      return plain * std::exp2(uniform(raw * 0x9E3779B97F4A7C15U, -exponent, exponent));
    }
    case InputStyle::kStrong:
      return pick % 4 == 0 ? plain * std::exp2(uniform(raw * 0x9E3779B97F4A7C15U, 0, 7)) : plain;
    case InputStyle::kSpecks:
      if (pick % 8 == 1) return plain * 0x1p-20;
      if (pick % 256 != 0) return plain;
      return pick / 256 % 2 == 0 ? std::numeric_limits<double>::quiet_NaN()
                                 : std::copysign(kInfinity, plain);
    case InputStyle::kAdversarial:
      break;
  }
  switch (pick % kKinds) {
    case 0:
      return 0;
    case 1:
      return -0.0;
    case 2:
      return kInfinity;
    case 3:
      return -kInfinity;
    case 4:
      return std::numeric_limits<double>::quiet_NaN();
    case 5:
      return greatest;
    case 6:
      return -greatest;
    case 7:
      return is_half ? 0x1p-24 : dtype == DType::kF64 ? 0x1p-1074 : 0x1p-133;
    case 8:
      return 1;
    default:
      return plain;
  }
}

// How long axes of inputs are, and how many elements these have: what an index may run to.
std::vector<std::int64_t> lengths_of_inputs(const Graph& graph, const Bindings& symbols) {
  std::set<std::int64_t> lengths;
  for (const auto id : graph.inputs()) {
    std::int64_t count = 1;
    for (const auto& dim : graph.node(id).shape) {
      const auto length = dim.at(symbols);
      lengths.insert(length);
      count *= length;
    }
    lengths.insert(count);
  }
  lengths.erase(0);
  return {lengths.begin(), lengths.end()};
}

// `length` is that of one of the axes.
std::int64_t integer_value(DType dtype, InputStyle style, std::uint64_t pick, std::uint64_t raw,
                           std::int64_t length) {
  if (dtype == DType::kBool) return static_cast<std::int64_t>(raw >> 63);
  const auto kind = pick % kKinds;
  if (style == InputStyle::kAdversarial || style == InputStyle::kHuge) {
    const bool is_wide = dtype == DType::kI64;
    switch (kind) {
      case 0:
        return is_wide ? std::numeric_limits<std::int64_t>::min()
                       : std::numeric_limits<std::int32_t>::min();
      case 1:
        return is_wide ? std::numeric_limits<std::int64_t>::max()
                       : std::numeric_limits<std::int32_t>::max();
      case 2:
        return -1;
      case 3:
        return 0;
      case 4:  // what a floating-point number of the same size has no room for, and its neighbour
        return (is_wide ? std::int64_t{1} << 53 : 1 << 24) +
               static_cast<std::int64_t>(pick / kKinds % 2);
      default:
        break;
    }
  }
  // The last element of an axis, and what follows on that; a small number; anywhere along it.
  if (kind == 5) return length - 1;
  if (kind == 7) return length;
  if (kind % 2 == 0) return static_cast<std::int64_t>(uniform_below(raw, 12)) - 2;
  return static_cast<std::int64_t>(uniform_below(raw, static_cast<std::uint64_t>(length)));
}

}  // namespace

InputViews Trial::views() const {
  InputViews all;
  for (const auto& [name, tensor] : inputs) all.emplace(name, tensor.view());
  return all;
}

std::vector<Bindings> symbol_values(const Graph& graph, std::int64_t most) {
  Bindings low, high;
  std::int64_t step = 0;
  for (const auto& [name, interval] : graph.symbols()) {
    low[name] = interval.low;
    // Apart from each other, so that one is not taken for another, and odd like the first. Two
    // values of each, where it has two.
    const auto own = std::max<std::int64_t>(most - 4 * step, 1);
    high[name] = std::min(interval.high, own > interval.low ? own : interval.low + own);
    ++step;
  }
  std::vector<Bindings> values = {low};
  const auto add = [&](const Bindings& more) {
    if (std::ranges::find(values, more) == values.end()) values.push_back(more);
  };
  // One token behind many, many behind none.
  for (const auto& [name, least] : low) {
    auto corner = high;
    corner[name] = least;
    add(corner);
  }
  add(high);
  return values;
}

std::vector<Bindings> symbols_beyond_borders(const Graph& graph, std::int64_t most) {
  Bindings low;
  for (const auto& [name, interval] : graph.symbols()) low[name] = interval.low;
  std::int64_t border = 0;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const auto& node = graph.node(id);
    for (const auto& [of, view] : node.operands) {
      const auto& operand = graph.node(of);
      if (operand.op == Op::kIota) border = std::max(border, view.offset.at(low));
      if (node.op == Op::kLess && operand.op == Op::kConst && !is_floating(operand.dtype)) {
        const auto value = TensorView(operand.dtype, &operand.bits, Shape({}));
        border = std::max(border, static_cast<std::int64_t>(value_as_double(value, 0)));
      }
    }
  }
  std::vector<Bindings> values;
  for (const auto& [name, interval] : graph.symbols()) {
    auto beyond = low;
    beyond[name] = std::min(interval.high, border + 3);
    if (border > 0 && beyond[name] > most) values.push_back(std::move(beyond));
  }
  return values;
}

std::uint64_t trials_of_kinds(const Graph& graph, const Bindings& symbols) {
  constexpr std::int64_t kTurns = 2;  // the lengths of two axes, for indices
  std::int64_t least = kTurns * static_cast<std::int64_t>(kKinds);
  for (const auto id : graph.inputs()) {
    const auto& node = graph.node(id);
    const auto count = product(node.shape).at(symbols);
    if (node.dtype != DType::kBool && count > 0) least = std::min(least, count);
  }
  const auto all = kTurns * static_cast<std::int64_t>(kKinds);
  return static_cast<std::uint64_t>((all + least - 1) / least);
}

bool has_factors(const Graph& graph) {
  const auto factors = only_factors(graph);
  return std::ranges::any_of(graph.inputs(), [&](NodeId id) { return factors[id]; });
}

Trial make_trial(const Graph& graph, Bindings symbols, InputStyle given, std::uint64_t seed) {
  Trial trial;
  for (const auto& [name, value] : symbols) {
    trial.what += fmt::format("{} = {}, ", name, value);
  }
  trial.what +=
      fmt::format("{} inputs of seed {}", kStyleNames[static_cast<std::size_t>(given)], seed);
  std::uint64_t number = 0;
  const auto added = only_added(graph);
  const auto rooted = under_roots(graph);
  const auto scales = scales_of(graph, symbols);
  const auto lengths = lengths_of_inputs(graph, symbols);
  const bool is_scaled = given == InputStyle::kOrdinary || given == InputStyle::kMasking;
  const auto factors =
      given == InputStyle::kDirect ? only_factors(graph) : std::vector<bool>(graph.size());
  for (const auto id : graph.inputs()) {
    const auto& node = graph.node(id);
    auto style = given;
    std::vector<std::int64_t> extents;
    for (const auto& dim : node.shape) extents.push_back(dim.at(symbols));
    Tensor tensor(node.dtype, Shape(extents));
    const Philox stream(seed, ++number);
    const auto size = size_of(node.dtype);
    const auto drawn = std::min(tensor.element_count(), kDrawn);
    const bool is_weight = tensor.element_count() > kDrawn && !added[id];
    if (style == InputStyle::kMasking && is_weight) style = InputStyle::kOrdinary;
    // Tokens that are padding, queries that see nothing: one of eight rows, unless it is the only
    // one.
    const auto width = extents.empty() ? 1 : extents.back();
    const bool has_empty_rows =
        style == InputStyle::kMasking && drawn > width && drawn == tensor.element_count();
    const Philox rows(seed, 0x726F7773 + number);
    const auto is_empty = [&](std::uint64_t row) {
      const auto count = static_cast<std::uint64_t>(drawn / width);
      return rows[row / 8] % std::min<std::uint64_t>(8, count - row / 8 * 8) == row % 8;
    };
    const Picks picks(seed, number, drawn);
    Philox::Block four{};  // of the stream, for two elements
    for (std::int64_t i = 0; i < drawn; ++i) {
      const auto at = static_cast<std::uint64_t>(i);
      if (at % 2 == 0) four = stream.block(at / 2);
      auto pick = four[at % 2 * 2] >> 32;
      if (style != InputStyle::kSpecks) pick = pick / kKinds * kKinds + picks.kind(at);
      auto raw = four[at % 2 * 2 + 1];
      if (has_empty_rows && is_empty(at / static_cast<std::uint64_t>(width))) {
        pick = 0;  // −∞, or 0
        raw = 0;   // false
      }
      std::uint64_t bits = 0;
      if (is_floating(node.dtype)) {
        auto value = floating_value(node.dtype, style, pick, raw);
        if (style == InputStyle::kMasking && !added[id] && std::isinf(value)) value = 0;
        if (factors[id]) value = 0;
        if (rooted[id] && given != InputStyle::kAdversarial && given != InputStyle::kSpecks) {
          value = std::abs(value);
        }
        bits = bits_of(node.dtype, is_scaled ? value * scales[id] : value);
      } else {
        const auto length = lengths.empty() ? 1 : lengths[picks.turn(at) % lengths.size()];
        bits = static_cast<std::uint64_t>(integer_value(node.dtype, style, pick, raw, length));
      }
      std::memcpy(tensor.bytes().data() + at * size, &bits, size);
    }
    const auto bytes = tensor.bytes();
    const auto period = static_cast<std::size_t>(drawn) * size;
    for (std::size_t at = period; at < bytes.size(); at += period) {
      std::memcpy(bytes.data() + at, bytes.data(), std::min(period, bytes.size() - at));
    }
    trial.inputs.emplace(node.name, std::move(tensor));
  }
  trial.symbols = std::move(symbols);
  return trial;
}

}  // namespace assay::compiler
