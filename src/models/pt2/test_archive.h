// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Archives for tests, written as torch writes them.

#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "models/pt2/zip_file.h"

namespace assay::models::pt2 {

struct ZipOptions {
  std::uint16_t method = 0, flags = 0;
  bool is_zip64 = false;
};

// A zip archive of stored entries.
inline std::string zipped(const std::map<std::string, std::string>& entries,
                          const ZipOptions& options = {}) {
  std::string file, list;
  const auto put = [](std::string& to, std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) to += static_cast<char>(value >> (8 * i));
  };
  constexpr std::uint32_t kSeeField = 0xFFFFFFFF;
  for (const auto& [name, content] : entries) {
    const auto at = file.size();
    const auto crc = zip_crc32(std::as_bytes(std::span(content)));
    // Elements begin at multiples of 64 bytes.
    const auto padding = (64 - (at + 30 + name.size() + 4) % 64) % 64;
    put(file, 0x04034b50, 4);
    for (const std::uint64_t value : {20, 0, 0, 0, 0}) put(file, value, 2);
    for (const std::uint64_t value :
         {std::uint64_t{crc}, std::uint64_t{content.size()}, std::uint64_t{content.size()}}) {
      put(file, value, 4);
    }
    put(file, name.size(), 2);
    put(file, padding + 4, 2);
    file += name;
    put(file, 0x4246, 2);
    put(file, padding, 2);
    file += std::string(padding, 'Z') + content;
    put(list, 0x02014b50, 4);
    for (const std::uint64_t value :
         {std::uint64_t{20}, std::uint64_t{20}, std::uint64_t{options.flags},
          std::uint64_t{options.method}, std::uint64_t{0}, std::uint64_t{0}}) {
      put(list, value, 2);
    }
    put(list, crc, 4);
    put(list, options.is_zip64 ? kSeeField : content.size(), 4);
    put(list, options.is_zip64 ? kSeeField : content.size(), 4);
    put(list, name.size(), 2);
    put(list, options.is_zip64 ? 28 : 0, 2);
    for (int i = 0; i < 3; ++i) put(list, 0, 2);
    put(list, 0, 4);
    put(list, options.is_zip64 ? kSeeField : at, 4);
    list += name;
    if (!options.is_zip64) continue;
    put(list, 1, 2);
    put(list, 24, 2);
    for (const std::uint64_t value :
         {std::uint64_t{content.size()}, std::uint64_t{content.size()}, std::uint64_t{at}})
      put(list, value, 8);
  }
  const auto list_at = file.size();
  file += list;
  if (options.is_zip64) {
    const auto record = file.size();
    put(file, 0x06064b50, 4);
    put(file, 44, 8);
    put(file, 45, 2);
    put(file, 45, 2);
    put(file, 0, 8);
    for (const std::uint64_t value : {std::uint64_t{entries.size()}, std::uint64_t{entries.size()},
                                      std::uint64_t{list.size()}, std::uint64_t{list_at}})
      put(file, value, 8);
    put(file, 0x07064b50, 4);
    put(file, 0, 4);
    put(file, record, 8);
    put(file, 1, 4);
  }
  put(file, 0x06054b50, 4);
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{0},
                                    std::uint64_t{entries.size()}, std::uint64_t{entries.size()}})
    put(file, value, 2);
  put(file, options.is_zip64 ? kSeeField : list.size(), 4);
  put(file, options.is_zip64 ? kSeeField : list_at, 4);
  put(file, 0, 2);
  return file;
}

// Not synced: tests write thousands.
inline void write_quickly(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

// What a function throws, as text; empty where it throws nothing.
template <typename F>
std::string refusal_text(F&& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return {};
}

// A program in the schema of archives.
class TestProgram {
 public:
  TestProgram() {
    program_ = {{"graph_module",
                 {{"graph",
                   {{"inputs", Json::array()},
                    {"outputs", Json::array()},
                    {"nodes", Json::array()},
                    {"tensor_values", Json::object()},
                    {"sym_int_values", Json::object()}}},
                  {"signature", {{"input_specs", Json::array()}, {"output_specs", Json::array()}}},
                  {"module_call_graph", Json::array()}}},
                {"range_constraints", Json::object()},
                {"schema_version", {{"major", 8}, {"minor", 20}}}};
    weights_ = {{"config", Json::object()}};
  }

  static Json tensor(const std::string& name) { return {{"as_tensor", {{"name", name}}}}; }
  static Json integer(std::int64_t value) { return {{"as_int", value}}; }
  static Json real(double value) { return {{"as_float", value}}; }

  // f32; an extent below 0 is the symbol "n".
  static Json meta(const std::vector<std::int64_t>& shape) {
    Json sizes = Json::array(), strides = Json::array();
    std::int64_t stride = 1;
    for (auto i = shape.size(); i-- > 0;) {
      strides.insert(strides.begin(), integer(stride));
      stride *= shape[i] < 0 ? 1 : shape[i];
    }
    for (const auto extent : shape) {
      const Json expression = {{"as_expr", {{"expr_str", "Symbol('n', integer=True)"}}}};
      sizes.push_back(extent < 0 ? expression : integer(extent));
    }
    return {{"dtype", 7}, {"sizes", sizes}, {"strides", strides}, {"storage_offset", integer(0)}};
  }
  void input(const std::string& name, const std::vector<std::int64_t>& shape) {
    graph()["tensor_values"][name] = meta(shape);
    specs("input_specs").push_back({{"user_input", {{"arg", tensor(name)}}}});
  }
  void weight(const std::string& name, const std::vector<std::int64_t>& shape,
              const std::vector<float>& values) {
    graph()["tensor_values"][name] = meta(shape);
    specs("input_specs")
        .push_back({{"parameter", {{"arg", {{"name", name}}}, {"parameter_name", name}}}});
    const auto entry = "weight_" + std::to_string(entries_.size());
    std::string bytes(values.size() * sizeof(float), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    entries_["m/data/weights/" + entry] = bytes;
    weights_["config"][name] = {
        {"path_name", entry}, {"use_pickle", false}, {"tensor_meta", meta(shape)}};
  }
  void node(const std::string& target, const std::string& result,
            const std::vector<std::pair<std::string, Json>>& arguments) {
    Json inputs = Json::array();
    for (const auto& [name, argument] : arguments) {
      inputs.push_back({{"name", name}, {"arg", argument}, {"kind", 1}});
    }
    graph()["nodes"].push_back({{"target", "torch.ops." + target},
                                {"inputs", inputs},
                                {"outputs", {tensor(result)}},
                                {"name", result}});
  }
  void output(const std::string& name) {
    specs("output_specs").push_back({{"user_output", {{"arg", tensor(name)}}}});
  }
  Json& graph() { return program_["graph_module"]["graph"]; }
  Json& program() { return program_; }
  Json& weights() { return weights_; }
  Json& specs(const char* kind) { return program_["graph_module"]["signature"][kind]; }

  std::map<std::string, std::string> entries() const {
    auto all = entries_;
    all["m/archive_format"] = "pt2";
    all["m/byteorder"] = "little";
    all["m/models/model.json"] = canonical_json(program_);
    all["m/data/weights/model_weights_config.json"] = canonical_json(weights_);
    return all;
  }
  void write(const std::string& path) const { write_quickly(path, zipped(entries())); }

 private:
  Json program_, weights_;
  std::map<std::string, std::string> entries_;
};

}  // namespace assay::models::pt2
