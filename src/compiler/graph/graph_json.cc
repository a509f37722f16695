// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/graph_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "tensor/shape.h"

namespace assay::compiler {
namespace {

Json dim_to_json(const Dim& dim) {
  if (const auto value = dim.constant()) return *value;
  return dim.to_string();
}
Json dims_to_json(const std::vector<Dim>& dims) {
  Json list = Json::array();
  for (const auto& dim : dims) list.push_back(dim_to_json(dim));
  return list;
}

// Errors of what does not know the text say where, too.
template <typename F>
void with_place(std::string_view where, F&& act) {
  try {
    act();
  } catch (const UserError& e) {
    if (std::string_view(e.what()).starts_with(where)) throw;
    fail("{}: {}", where, e.what());
  }
}

// One node's members, with messages that say where.
class NodeReader {
 public:
  NodeReader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) fail("{}: expected an object", where_);
  }
  const Json& at(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) fail("{}: '{}' is missing", where_, key);
    return *found;
  }
  bool has(const char* key) const { return json_.contains(key); }
  std::string text(const char* key) const {
    if (!at(key).is_string()) fail("{}: '{}' is a string", where_, key);
    return at(key).get<std::string>();
  }
  std::int64_t integer(const char* key) const { return integer_of(at(key), key); }
  Dim dim(const Json& value, const char* key) const {
    if (value.is_number()) return integer_of(value, key);
    if (!value.is_string()) fail("{}: '{}' holds numbers and expressions", where_, key);
    try {
      return Dim::parse(value.get<std::string>());
    } catch (const UserError& e) {
      fail("{}: '{}': {}", where_, key, e.what());
    }
  }
  std::vector<Dim> dims(const char* key) const {
    if (!at(key).is_array()) fail("{}: '{}' is a list", where_, key);
    if (const auto rank = at(key).size(); rank > Shape::kMaxRank) {
      fail("{}: '{}': at most {} axes, got {}", where_, key, Shape::kMaxRank, rank);
    }
    std::vector<Dim> dims;
    for (const auto& value : at(key)) dims.push_back(dim(value, key));
    return dims;
  }
  void only(std::initializer_list<std::string_view> keys) const {
    for (const auto& [key, value] : json_.items()) {
      if (std::ranges::find(keys, key) == keys.end()) fail("{}: unknown key '{}'", where_, key);
    }
  }
  // A key that says something, or one that says nothing and is not there.
  bool has_where(const char* key, bool is_expected, std::string_view of) const {
    if (has(key) && !is_expected) fail("{}: '{}' is of {} alone", where_, key, of);
    if (!has(key) && is_expected) fail("{}: '{}' is missing", where_, key);
    return is_expected;
  }
  const std::string& where() const { return where_; }
  // Not by its low bits, and not rounded: JSON's integers beyond 64 bits are floating point.
  std::int64_t integer_of(const Json& value, std::string_view key) const {
    const bool is_beyond = value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX;
    if (is_beyond || (value.is_number_float() && std::abs(value.get<double>()) >= 0x1p63)) {
      fail("{}: '{}': beyond 64 bits: {}", where_, key,
           is_beyond ? value.dump() : fmt::format("{:.0f}", value.get<double>()));
    }
    if (!value.is_number_integer()) {
      fail("{}: '{}': an integer, got {}", where_, key, value.dump());
    }
    return value.get<std::int64_t>();
  }

 private:
  const Json& json_;
  std::string where_;
};

std::uint64_t bits_from(const NodeReader& node) {
  const auto text = node.text("bits");
  std::uint64_t bits = 0;
  const char* end = text.data() + text.size();
  const bool is_hex = text.starts_with("0x") && text.size() > 2;
  const auto [stopped, error] = std::from_chars(text.data() + (is_hex ? 2 : 0), end, bits, 16);
  if (!is_hex || error != std::errc() || stopped != end) {
    fail("{}: 'bits' is a hexadecimal number, got '{}'", node.where(), text);
  }
  return bits;
}

// A view without symbols that fits whatever it reads at no value of those.
void refuse_outside(const View& view, const std::vector<Dim>& read, const Symbols& symbols) {
  const auto is_known = [](const Dim& dim) { return dim.constant().has_value(); };
  if (view.strides.size() != view.rank() || !is_known(view.offset) ||
      !std::ranges::all_of(view.shape, is_known) || !std::ranges::all_of(view.strides, is_known)) {
    return;
  }
  fixed(view, {}, product(read).range(symbols).high);
}

Node node_from(const NodeReader& reader, const Graph& graph) {
  reader.only({"op", "dtype", "shape", "operands", "name", "bits"});
  Node node;
  node.op = op_from_name(reader.text("op"));
  node.dtype = dtype_from_name(reader.text("dtype"), reader.where());
  node.shape = reader.dims("shape");
  if (reader.has_where("name", node.op == Op::kInput, "inputs")) node.name = reader.text("name");
  if (reader.has_where("bits", node.op == Op::kConst, "constants")) node.bits = bits_from(reader);
  if (!reader.has("operands")) return node;
  if (!reader.at("operands").is_array()) fail("{}: 'operands' is a list", reader.where());
  for (const auto& json : reader.at("operands")) {
    const NodeReader operand(json,
                             fmt::format("{}, operand {}", reader.where(), node.operands.size()));
    operand.only({"node", "shape", "strides", "offset"});
    const auto id = operand.integer("node");
    if (id < 0 || id >= static_cast<std::int64_t>(graph.size())) {
      fail("{}: no node before it has number {}", operand.where(), id);
    }
    const auto& shape = graph.node(static_cast<NodeId>(id)).shape;
    Operand read{static_cast<NodeId>(id), View::contiguous(shape)};
    if (operand.has("shape")) {
      read.view.shape = operand.dims("shape");
      read.view.strides = operand.dims("strides");
      read.view.offset =
          operand.has("offset") ? operand.dim(operand.at("offset"), "offset") : Dim(0);
      with_place(operand.where(), [&] { refuse_outside(read.view, shape, graph.symbols()); });
    } else {
      for (const auto* key : {"strides", "offset"}) {
        if (operand.has(key)) fail("{}: '{}' without a 'shape'", operand.where(), key);
      }
    }
    node.operands.push_back(std::move(read));
  }
  return node;
}

}  // namespace

Json graph_to_json(const Graph& graph) {
  Json symbols = Json::object(), nodes = Json::array(), outputs = Json::array();
  for (const auto& [name, interval] : graph.symbols()) {
    symbols[name] = {interval.low, interval.high};
  }
  for (NodeId id = 0; id < graph.size(); ++id) {
    const auto& node = graph.node(id);
    Json json = {{"op", name_of(node.op)},
                 {"dtype", name_of(node.dtype)},
                 {"shape", dims_to_json(node.shape)}};
    if (node.op == Op::kInput) json["name"] = node.name;
    if (node.op == Op::kConst) json["bits"] = fmt::format("{:#x}", node.bits);
    for (const auto& operand : node.operands) {
      Json entry = {{"node", operand.node}};
      if (!(operand.view == View::contiguous(graph.node(operand.node).shape))) {
        entry["shape"] = dims_to_json(operand.view.shape);
        entry["strides"] = dims_to_json(operand.view.strides);
        entry["offset"] = dim_to_json(operand.view.offset);
      }
      json["operands"].push_back(std::move(entry));
    }
    nodes.push_back(std::move(json));
  }
  for (const auto& output : graph.outputs()) {
    Json entry = {{"name", output.name}, {"node", output.node}};
    if (!output.replaces.empty()) entry["replaces"] = output.replaces;
    outputs.push_back(std::move(entry));
  }
  return {{"symbols", symbols}, {"nodes", nodes}, {"outputs", outputs}};
}

Graph graph_from_json(const Json& json, std::string_view what) {
  const NodeReader reader(json, std::string(what));
  reader.only({"symbols", "nodes", "outputs"});
  Graph graph;
  if (reader.has("symbols")) {
    if (!reader.at("symbols").is_object()) fail("{}: 'symbols' is an object", what);
    for (const auto& [name, ends] : reader.at("symbols").items()) {
      if (!ends.is_array() || ends.size() != 2)
        fail("{}: symbol '{}' is [least, most]", what, name);
      const auto low = reader.integer_of(ends[0], name), high = reader.integer_of(ends[1], name);
      with_place(what, [&] { graph.symbol(name, low, high); });
    }
  }
  if (!reader.at("nodes").is_array()) fail("{}: 'nodes' is a list", what);
  std::vector<NodeId> number_of;  // two equal nodes of the text are one
  for (const auto& entry : reader.at("nodes")) {
    const auto where = fmt::format("{}: node {}", what, number_of.size());
    // Operands are numbered as the text has them.
    Json renumbered = entry;
    if (renumbered.is_object() && renumbered.contains("operands") &&
        renumbered["operands"].is_array()) {
      for (auto& operand : renumbered["operands"]) {
        if (!operand.is_object() || !operand.contains("node")) continue;
        auto& number = operand["node"];
        if (number.is_number_unsigned() && number.get<std::uint64_t>() < number_of.size()) {
          number = number_of[number.get<std::size_t>()];
        } else if (number.is_number_integer()) {
          fail("{}: no node before it has number {}", where, number.dump());
        }
      }
    }
    with_place(where, [&] {
      number_of.push_back(graph.add(node_from(NodeReader(renumbered, where), graph)));
    });
  }
  if (!reader.at("outputs").is_array()) fail("{}: 'outputs' is a list", what);
  for (const auto& entry : reader.at("outputs")) {
    const NodeReader output(entry, fmt::format("{}: output {}", what, graph.outputs().size()));
    output.only({"name", "node", "replaces"});
    const auto id = output.integer("node");
    if (id < 0 || id >= static_cast<std::int64_t>(number_of.size())) {
      fail("{}: no node {}", output.where(), id);
    }
    with_place(output.where(), [&] {
      graph.set_output(output.text("name"), number_of[static_cast<std::size_t>(id)],
                       output.has("replaces") ? output.text("replaces") : "");
    });
  }
  return graph;
}

}  // namespace assay::compiler
