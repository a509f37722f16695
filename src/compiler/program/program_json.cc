// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/program/program_json.h"

namespace assay::compiler {
namespace {

Json shape_to_json(const std::vector<Dim>& dims) {
  Json list = Json::array();
  for (const auto& dim : dims) {
    if (const auto value = dim.constant()) {
      list.push_back(*value);
    } else {
      list.push_back(dim.to_string());
    }
  }
  return list;
}
Json view_to_json(const View& view) {
  return {{"shape", shape_to_json(view.shape)},
          {"strides", shape_to_json(view.strides)},
          {"offset", view.offset.to_string()}};
}
Json access_to_json(const Access& access) {
  auto json = view_to_json(access.view);
  json["operand"] = access.operand;
  return json;
}

Json work_to_json(const Region& region) {
  Json values = Json::array(), stores = Json::array();
  for (const auto& value : region.values) {
    Json json = {{"op", name_of(value.op)}, {"dtype", name_of(value.dtype)}};
    if (value.of_row) json["of_row"] = true;
    if (!value.values.empty()) json["values"] = value.values;
    if (value.op == Op::kInput || value.op == Op::kGather)
      json["access"] = access_to_json(value.access);
    if (value.op == Op::kIota) json["view"] = view_to_json(value.access.view);
    if (value.op == Op::kConst) json["bits"] = fmt::format("{:#x}", value.bits);
    values.push_back(std::move(json));
  }
  for (const auto& store : region.stores) {
    stores.push_back({{"value", store.value}, {"to", access_to_json(store.to)}});
  }
  return {{"shape", shape_to_json(region.shape)}, {"values", values}, {"stores", stores}};
}
Json work_to_json(const Matmul& matmul) {
  Json json = {{"a", access_to_json(matmul.a)},
               {"b", access_to_json(matmul.b)},
               {"out", access_to_json(matmul.out)},
               {"accumulate", name_of(matmul.accumulate)}};
  if (matmul.epilogue) json["epilogue"] = work_to_json(*matmul.epilogue);
  return json;
}
Json work_to_json(const GroupedMatmul& grouped) {
  return {{"a", access_to_json(grouped.a)},
          {"weights", access_to_json(grouped.weights)},
          {"expert", access_to_json(grouped.expert)},
          {"out", access_to_json(grouped.out)},
          {"accumulate", name_of(grouped.accumulate)}};
}
Json work_to_json(const Attention& attention) {
  Json json = {{"q", access_to_json(attention.q)},
               {"k", access_to_json(attention.k)},
               {"v", access_to_json(attention.v)},
               {"out", access_to_json(attention.out)},
               {"scale", attention.scale},
               {"causal", attention.causal},
               {"offset", attention.offset.to_string()}};
  if (attention.window) json["window"] = attention.window->to_string();
  if (attention.mask) json["mask"] = access_to_json(*attention.mask);
  return json;
}
Json work_to_json(const ScatterInto& scatter) {
  return {{"data", access_to_json(scatter.data)},
          {"index", access_to_json(scatter.index)},
          {"values", access_to_json(scatter.values)},
          {"out", access_to_json(scatter.out)},
          {"in_place", scatter.in_place}};
}

std::string_view name_of(Buffer::Kind kind) {
  switch (kind) {
    case Buffer::Kind::kInput:
      return "input";
    case Buffer::Kind::kState:
      return "state";
    case Buffer::Kind::kOutput:
      return "output";
    case Buffer::Kind::kTemporary:
      return "temporary";
  }
  return "";
}

}  // namespace

Json kernel_to_json(const Kernel& kernel) {
  Json operands = Json::array();
  for (const auto& formal : kernel.operands) {
    operands.push_back({{"dtype", name_of(formal.dtype)},
                        {"shape", shape_to_json(formal.shape)},
                        {"is_written", formal.is_written}});
  }
  return {{"kind", kind_of(kernel)},
          {"work", std::visit([](const auto& work) { return work_to_json(work); }, kernel.work)},
          {"operands", operands},
          {"variant", kernel.variant},
          {"rules", kernel.rules}};
}

Json program_to_json(const Program& program) {
  Json symbols = Json::object(), buffers = Json::array(), kernels = Json::array(),
       steps = Json::array();
  for (const auto& [name, interval] : program.symbols)
    symbols[name] = {interval.low, interval.high};
  for (const auto& buffer : program.buffers) {
    Json json = {{"kind", name_of(buffer.kind)},
                 {"dtype", name_of(buffer.dtype)},
                 {"shape", shape_to_json(buffer.shape)}};
    if (!buffer.name.empty()) json["name"] = buffer.name;
    buffers.push_back(std::move(json));
  }
  for (const auto& kernel : program.kernels) kernels.push_back(kernel_to_json(kernel));
  for (const auto& step : program.steps) {
    steps.push_back({{"kernel", step.kernel}, {"buffers", step.buffers}});
  }
  return {{"symbols", symbols}, {"buffers", buffers}, {"kernels", kernels}, {"steps", steps}};
}

}  // namespace assay::compiler
