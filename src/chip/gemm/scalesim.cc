// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/gemm/scalesim.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/names.h"

namespace assay::chip {
namespace {

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(trim(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

std::int64_t positive(std::string_view text, const std::string& where) {
  constexpr std::int64_t kMax = std::int64_t{1} << 31;
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size() || value < 1 || value > kMax) {
    fail("{}: expected a positive number, got '{}'", where, text);
  }
  return value;
}

struct Line {
  std::vector<std::string_view> cells;
  std::string where;
};

void refuse_sparsity(const Line& line, std::size_t column) {
  if (line.cells.size() > column + 1 ||
      (line.cells.size() == column + 1 && line.cells[column] != "1:1")) {
    fail("{}: expected {} columns and at most the sparsity 1:1, got '{}'", line.where, column,
         line.cells[std::min(column, line.cells.size() - 1)]);
  }
}

// What the header says of the lines below it.
struct Columns {
  bool gemm = false;
  std::size_t m = 1, n = 2, k = 3;  // of a product
};

// Column names as SCALE-Sim's own files spell them, apart from case and the plural. Some of them
// call the height a width.
constexpr std::string_view kConvolution[][2] = {{"ifmap height", "ifmap width"},
                                                {"ifmap width", ""},
                                                {"filter height", ""},
                                                {"filter width", ""},
                                                {"channel", ""},
                                                {"num filter", ""},
                                                {"stride", ""}};

std::string column_name(std::string_view cell) {
  // Some of those files have a no-break space before the name.
  constexpr std::string_view kNoBreakSpace = "\u00a0";
  while (cell.starts_with(kNoBreakSpace)) cell.remove_prefix(kNoBreakSpace.size());
  std::string name = lower(trim(cell));
  if (name.size() > 1 && name.ends_with('s')) name.pop_back();
  return name;
}

Columns read_header(const Line& line) {
  Columns columns;
  const auto unknown = [&](std::size_t column, std::string_view expected) {
    fail("{}: column {} of the header: expected {}, got '{}'", line.where, column + 1, expected,
         column < line.cells.size() ? line.cells[column] : "");
  };
  const auto name = [&](std::size_t column) {
    return column < line.cells.size() ? column_name(line.cells[column]) : "";
  };
  columns.gemm = name(1) == "m" || name(1) == "n" || name(1) == "k";
  const std::size_t count = columns.gemm ? 4 : 1 + std::size(kConvolution);
  if (columns.gemm) {
    std::size_t* const places[] = {&columns.m, &columns.n, &columns.k};
    constexpr std::string_view kNames[] = {"m", "n", "k"};
    for (auto* place : places) *place = 0;
    for (std::size_t c = 1; c < count; ++c) {
      const auto* const at = std::ranges::find(kNames, name(c));
      if (at == std::end(kNames) || *places[at - kNames] != 0) unknown(c, "M, N and K, each once");
      *places[at - kNames] = c;
    }
  } else {
    for (std::size_t c = 1; c < count; ++c) {
      const auto& [usual, other] = kConvolution[c - 1];
      if (name(c).empty() || (name(c) != usual && name(c) != other)) {
        unknown(c, c == 1 ? "M, N or K, or IFMAP Height" : usual);
      }
    }
  }
  // Empty cells have no say; of more columns only the sparsity is known.
  for (std::size_t c = count; c < line.cells.size(); ++c) {
    if (!name(c).empty() && !name(c).starts_with("sparsity")) unknown(c, "Sparsity or nothing");
  }
  return columns;
}

ScaleSimLayer gemm_layer(const Line& line, const Columns& columns) {
  if (line.cells.size() < 4) fail("{}: expected name, M, N, K", line.where);
  refuse_sparsity(line, 4);
  const auto size = [&](std::size_t column) { return positive(line.cells[column], line.where); };
  return {std::string(line.cells[0]), {size(columns.m), size(columns.k), size(columns.n)}};
}

void convolution_layers(const Line& line, std::vector<ScaleSimLayer>& layers) {
  if (line.cells.size() < 8) {
    fail(
        "{}: expected name, input height and width, filter height and width, channels, filters, "
        "stride",
        line.where);
  }
  refuse_sparsity(line, 8);
  std::int64_t value[8] = {};
  for (std::size_t i = 1; i < 8; ++i) value[i] = positive(line.cells[i], line.where);
  const auto [_, height, width, filter_height, filter_width, channels, filters, stride] = value;
  if (filter_height > height || filter_width > width) {
    fail("{}: the filter is larger than the input: {}x{}", line.where, filter_height, filter_width);
  }
  // ceil((input - filter + stride) / stride)
  const auto outputs = [s = stride](std::int64_t input, std::int64_t filter) {
    return (input - filter + s + s - 1) / s;
  };
  GemmShape gemm{outputs(height, filter_height) * outputs(width, filter_width),
                 filter_height * filter_width * channels, filters};
  const std::string name(line.cells[0]);
  if (name.find("DP") == std::string::npos) {
    layers.push_back({name, gemm});
    return;
  }
  constexpr std::int64_t kMaxLayers = 1 << 20;
  if (channels > kMaxLayers) fail("{}: too many channels: {}", line.where, channels);
  gemm.k = filter_height * filter_width;
  for (std::int64_t c = 0; c < channels; ++c) {
    layers.push_back({fmt::format("{}Channel_{}", name, c), gemm});
  }
}

}  // namespace

std::vector<ScaleSimLayer> parse_scalesim_topology(std::string_view text, const std::string& file) {
  std::vector<ScaleSimLayer> layers;
  std::optional<Columns> columns;
  int number = 0;
  for (const auto row : split(text, '\n')) {
    ++number;
    if (row.empty()) continue;
    Line line{split(row, ','), fmt::format("{}:{}", file, number)};
    if (line.cells.back().empty()) line.cells.pop_back();  // lines end with a comma
    if (!columns) {
      columns = read_header(line);
    } else if (columns->gemm) {
      layers.push_back(gemm_layer(line, *columns));
    } else {
      convolution_layers(line, layers);
    }
  }
  if (layers.empty()) fail("{}: no layers", file);
  return layers;
}

SystolicArray parse_scalesim_config(std::string_view text, const std::string& file) {
  std::map<std::string, std::string> values;  // of [architecture_presets], keys in lower case
  std::string section;
  for (const auto line : split(text, '\n')) {
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      section = lower(line);
    } else if (const auto at = line.find_first_of(":="); at != std::string_view::npos) {
      if (section == "[architecture_presets]") {
        const auto key = trim(line.substr(0, at));
        if (!values.emplace(lower(key), trim(line.substr(at + 1))).second) {
          fail("{}: repeated key architecture_presets.{}", file, key);
        }
      }
    } else {
      fail("{}: expected 'key : value', got '{}'", file, line);
    }
  }
  const auto value = [&](const char* key) {
    const auto it = values.find(lower(key));
    if (it == values.end()) fail("{}: missing key architecture_presets.{}", file, key);
    return it->second;
  };
  SystolicArray array;
  array.rows = positive(value("ArrayHeight"), file + ": ArrayHeight");
  array.columns = positive(value("ArrayWidth"), file + ": ArrayWidth");
  const std::string dataflow = value("Dataflow");
  constexpr auto kShortNames = make_names<Dataflow>({{Dataflow::kOutputStationary, "os"},
                                                     {Dataflow::kWeightStationary, "ws"},
                                                     {Dataflow::kInputStationary, "is"}});
  const auto known = kShortNames.find(dataflow);
  if (!known) fail("{}: Dataflow: expected os, ws or is, got '{}'", file, dataflow);
  array.dataflow = *known;
  return array;
}

std::int64_t scalesim_compute_cycles(const ScaleSimLayer& layer, const SystolicArray& array) {
  return systolic_cycles(layer.gemm, array) - 1;
}

}  // namespace assay::chip
