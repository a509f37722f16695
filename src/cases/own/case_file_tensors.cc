// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "base/error.h"
#include "cases/own/case_file.h"
#include "lab/record/point.h"

namespace assay::cases::own {
namespace {

bool is_parameter(const CaseFile& file, std::string_view name) {
  return std::ranges::find(file.parameters, name, &ParameterSpec::name) != file.parameters.end();
}

// Shape and dtype; the dtype may be that of the first input.
void read_form(const TomlTable& table, const CaseFile& of, TensorSpec& tensor,
               const std::string& usual_dtype) {
  const Json shape = table.json("shape");
  if (!shape.is_array()) table.reject("shape", "expected an array, got {}", canonical_json(shape));
  if (shape.size() > kMostAxes) table.reject("shape", "more than {} axes", kMostAxes);
  for (const auto& extent : shape) {
    tensor.shape.push_back(read_expression(table, "shape", extent, Expression::Kind::kInteger, of));
  }
  tensor.dtype = table.has("dtype") || usual_dtype.empty() ? table.text("dtype") : usual_dtype;
}

// What cannot be said of a tensor at one of the points.
template <typename Check>
void at_every_point(const TomlTable& table, const char* key, const CaseFile& of,
                    const Check& check_at) {
  for (const auto* points : {&of.points, &of.quick_points}) {
    for (const auto& point : *points) {
      try {
        check_at(point);
      } catch (const UserError& e) {
        table.reject(key, "at {}: {}", lab::point_label(point), e.what());
      }
    }
  }
}

void check_form(const TomlTable& table, const CaseFile& of, const TensorSpec& tensor) {
  at_every_point(table, table.has("dtype") ? "dtype" : "shape", of,
                 [&](const Json& point) { tensor.dtype_at(point); });
  at_every_point(table, "shape", of, [&](const Json& point) { tensor.shape_at(point); });
}

void read_values(const TomlTable& table, const CaseFile& of, InputSpec& input) {
  std::vector<std::string> ways;  // keys that say where the values come from
  const auto is_given = [&](const char* key) {
    if (table.has(key)) ways.emplace_back(key);
    return table.has(key);
  };
  const bool low = table.has("low"), high = table.has("high");
  if (low || high) {
    ways.emplace_back(low ? "low" : "high");
    input.low = low ? table.number("low") : 0;
    input.high = high ? table.number("high") : 1;
    if (!(input.low < input.high)) {
      table.reject(ways[0], "low must be below high, got {} and {}", input.low, input.high);
    }
  }
  if (is_given("normal")) {
    input.fill = Fill::kNormal;
    const auto normal = table.table("normal");
    if (normal.has("mean")) input.mean = normal.number("mean");
    if (normal.has("deviation")) input.deviation = normal.number("deviation");
    if (!(input.deviation > 0)) {
      normal.reject("deviation", "must be above 0, got {}", input.deviation);
    }
  }
  if (is_given("below")) {
    input.fill = Fill::kBelow;
    input.below =
        read_expression(table, "below", table.json("below"), Expression::Kind::kInteger, of);
  }
  if (is_given("permutation")) {
    input.fill = Fill::kPermutation;
    if (!table.flag("permutation")) table.reject("permutation", "true, or no such key");
  }
  if (is_given("constant")) {
    input.fill = Fill::kConstant;
    input.constant = table.number("constant");
  }
  if (is_given("file")) {
    input.fill = Fill::kFile;
    input.file = existing_file(table, "file", table.text("file"), of);
  }
  if (ways.size() > 1) {
    table.reject(ways[1], "'{}' says already where the values come from", ways[0]);
  }
  if (ways.empty() && input.dtype_at(of.points.front()) == DType::kBool) {
    input.fill = Fill::kBelow;
    input.below = Expression("2");
  }
  const auto key = ways.empty() ? "shape" : ways[0];
  at_every_point(table, key.c_str(), of, [&](const Json& point) { input.check_at(point); });
}

void check_tensor_name(const TomlTable& table, const std::string& name, const CaseFile& of,
                       std::set<std::string>& taken) {
  if (!is_name(name)) {
    table.reject(name, "a tensor's name has up to 32 letters, digits and '_', no digit first");
  }
  if (is_parameter(of, name)) table.reject(name, "a parameter has this name");
  if (!taken.insert(name).second) table.reject(name, "an input has this name");
}

}  // namespace

void read_tensors(const TomlTable& root, CaseFile& into) {
  std::set<std::string> taken, streams;
  if (root.has("inputs")) {
    const auto inputs = root.table("inputs");
    for (const auto& name : inputs.keys_as_written()) {
      check_tensor_name(inputs, name, into, taken);
      const auto table = inputs.table(name);
      auto& input = into.problem.inputs.emplace_back();
      input.name = name;
      const auto& first = into.problem.inputs.front();
      read_form(table, into, input, first.dtype);
      check_form(table, into, input);
      read_values(table, into, input);
      if (!streams.insert(input.stream()).second) {
        inputs.reject(name, "its random stream is that of another input: take another name");
      }
      if (into.problem.inputs.size() > kMostTensors) {
        inputs.reject(name, "more than {} inputs", kMostTensors);
      }
    }
  }
  // None: nothing to judge, and providers are run for their time (read_providers() checks that).
  if (!root.has("outputs")) return;
  const auto outputs = root.table("outputs");
  for (const auto& name : outputs.keys_as_written()) {
    check_tensor_name(outputs, name, into, taken);
    const auto table = outputs.table(name);
    auto& output = into.problem.outputs.emplace_back();
    output.name = name;
    read_form(table, into, output,
              into.problem.inputs.empty() ? "" : into.problem.inputs.front().dtype);
    check_form(table, into, output);
    if (into.problem.outputs.size() > kMostTensors) {
      outputs.reject(name, "more than {} outputs", kMostTensors);
    }
  }
  if (into.problem.outputs.empty()) root.reject("outputs", "expected at least one output");
}

}  // namespace assay::cases::own
