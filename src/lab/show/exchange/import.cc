// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/exchange/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/json_stream.h"

namespace assay::lab {
namespace {

bool has_array(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_array();
}
bool has_object(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_object();
}
// Whether the first entry of an array is an object with that member; true for an empty array.
bool first_has(const Json& array, const char* key) {
  return array.empty() || (array[0].is_object() && array[0].contains(key));
}

struct Format {
  std::string_view name;
  bool (*is_it)(const Json& json);  // json is an object
};

constexpr std::array<Format, 5> kFormats = {{
    {"google-benchmark",
     [](const Json& j) { return has_object(j, "context") && has_array(j, "benchmarks"); }},
    {"hyperfine",
     [](const Json& j) { return has_array(j, "results") && first_has(j["results"], "command"); }},
    {"pytest-benchmark",
     [](const Json& j) { return has_object(j, "machine_info") && has_array(j, "benchmarks"); }},
    {"pyperf",
     [](const Json& j) {
       return has_array(j, "benchmarks") && j.contains("version") &&
              first_has(j["benchmarks"], "runs");
     }},
    {"nvbench",
     [](const Json& j) {
       return has_array(j, "devices") && has_array(j, "benchmarks") &&
              first_has(j["benchmarks"], "states");
     }},
}};

ImportedFile read_file_of(std::string_view name, const Json& sketch, const TextPieces& text,
                          std::string_view what, const Sidecar& sidecar) {
  if (name == "google-benchmark") return read_google_benchmark(sketch, text, what);
  if (name == "pyperf") return read_pyperf(text, what);
  const Json json = read_json(text, what);
  if (name == "hyperfine") return read_hyperfine(json, what);
  if (name == "pytest-benchmark") return read_pytest_benchmark(json, what);
  check(name == "nvbench", "every format has a reader");
  return read_nvbench(json, what, sidecar);
}

}  // namespace

std::vector<std::string_view> import_formats() {
  std::vector<std::string_view> names;
  for (const auto& format : kFormats) names.push_back(format.name);
  return names;
}

std::vector<Row> import_rows(const TextPieces& text, std::string_view format,
                             const ImportOptions& options, const Sidecar& sidecar) {
  const auto& what = options.file_name;
  std::string_view name = format;
  const auto names = import_formats();
  if (format != "auto" && std::ranges::find(names, format) == names.end()) {
    fail("unknown format (known are auto, {}): '{}'", fmt::join(names, ", "), format);
  }
  if (text(0).empty()) fail("{}: the file is empty", what);
  const Json sketch = sketch_json(text, what);
  if (format == "auto") {
    name = {};
    for (const auto& known : kFormats) {
      if (name.empty() && sketch.is_object() && known.is_it(sketch)) name = known.name;
    }
    if (name.empty()) {
      fail("{}: JSON, but not as {} write it", what, fmt::join(names, ", "));
    }
  } else if (!sketch.is_object()) {
    fail("{}: not a {} file: it holds no object", what, name);
  }
  // A member of another type than the tool writes is found only when it is used.
  auto file = [&]() -> ImportedFile {
    try {
      return read_file_of(name, sketch, text, what, sidecar);
    } catch (const Json::exception& error) {
      fail("{}: not as {} writes it: {}", what, name, error.what());
    }
  }();
  return imported_rows(std::move(file), sha256_hex(text), options);
}

}  // namespace assay::lab
