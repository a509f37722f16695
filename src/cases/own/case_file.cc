// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/case_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "lab/record/point.h"

namespace assay::cases::own {
namespace {

constexpr std::size_t kLongestName = 32;
constexpr std::size_t kLongestText = 200;
constexpr std::int64_t kLongestReduction = std::int64_t{1} << 40;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string case_name(const TomlTable& root, std::string_view key) {
  const auto name = root.text(key);
  const auto allowed = [](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  if (name.empty() || name.size() > kLongestName || !is_letter(name[0]) ||
      !std::ranges::all_of(name, allowed) || name == "all") {
    root.reject(
        key, "a name begins with a letter and has up to {} letters, digits, '_' or '-', got '{}'",
        kLongestName, name);
  }
  return name;
}

std::optional<double> tolerance(const TomlTable& table, std::string_view key) {
  if (!table.has(key)) return std::nullopt;
  const double value = table.number(key);
  if (value < 0) table.reject(key, "a tolerance is at least 0, got {}", value);
  return value;
}

// What an output is held against, in a file. One output needs no name.
void read_answers(const TomlTable& table, CaseFile& into) {
  const auto& outputs = into.problem.outputs;
  auto& files = into.oracle.files;
  if (table.is_table("file")) {
    const auto by_output = table.table("file");
    for (const auto& name : by_output.keys()) {
      files[name] = existing_file(by_output, name, by_output.text(name), into);
    }
  } else if (outputs.size() == 1) {
    files[outputs.front().name] = existing_file(table, "file", table.text("file"), into);
  } else {
    table.reject("file", "several outputs need a file each: file = {{ {} = \"….npy\", … }}",
                 outputs.front().name);
  }
  for (const auto& output : outputs) {
    if (!files.contains(output.name)) table.reject("file", "none for output '{}'", output.name);
  }
  if (files.size() != outputs.size()) table.reject("file", "one for something that is no output");
  for (const auto& input : into.problem.inputs) {
    if (!input.is_fixed()) {
      table.reject("file",
                   "the answer in a file is for inputs in files and constants; '{}' is drawn",
                   input.name);
    }
  }
}

void read_oracle(const TomlTable& root, CaseFile& into) {
  auto& oracle = into.oracle;
  if (!root.is_table("oracle")) {
    if (!root.has("oracle") && into.is_of_whole_runs()) return;  // a check says what is right
    if (!root.has("oracle")) {
      root.reject("oracle", "missing table: what says which answer is right; or oracle = \"none\"");
    }
    if (const auto word = root.text("oracle"); word != "none") {
      root.reject("oracle", "expected a table or \"none\", got '{}'", word);
    }
    return;
  }
  const auto table = root.table("oracle");
  if (into.is_of_whole_runs()) {
    root.reject("oracle",
                "there are no [outputs] to look at: a command's `check` says what is right");
  }
  const int ways = int{table.has("python")} + int{table.has("file")} + int{table.has("provider")};
  if (ways != 1) {
    root.reject("oracle",
                "expected one of python, file and provider (or oracle = \"none\"), got {}", ways);
  }
  if (table.has("python")) {
    oracle.kind = OracleSpec::Kind::kPython;
    oracle.python = python_function(table, "python", into);
  } else if (table.has("file")) {
    oracle.kind = OracleSpec::Kind::kFile;
    read_answers(table, into);
  } else {
    oracle.kind = OracleSpec::Kind::kProvider;
    oracle.provider = table.text("provider");
    const auto is_meant = [&](const ProviderSpec& p) { return p.id == oracle.provider; };
    if (std::ranges::none_of(into.providers, is_meant)) {
      table.reject("provider", "no provider of that name: '{}'", oracle.provider);
    }
  }
  if (table.has("reduction")) {
    oracle.reduction = read_expression(table, "reduction", table.json("reduction"),
                                       Expression::Kind::kInteger, into);
    for (const auto& point : into.points) {
      if (const auto length = oracle.reduction->integer(point); length < 1) {
        table.reject("reduction", "at {}: must be at least 1, got {}", lab::point_label(point),
                     length);
      } else if (length > kLongestReduction) {
        table.reject("reduction", "at {}: more terms than any sum has: {}", lab::point_label(point),
                     length);
      }
    }
  }
  oracle.rtol = tolerance(table, "rtol");
  oracle.atol = tolerance(table, "atol");
  if (oracle.reduction && (oracle.rtol || oracle.atol)) {
    table.reject("reduction", "a tolerance follows from it, or is said by rtol and atol: not both");
  }
  if (table.has("sample_rows")) {
    oracle.sample_rows = table.integer("sample_rows");
    if (oracle.sample_rows < 1) {
      table.reject("sample_rows", "must be at least 1, got {}", oracle.sample_rows);
    }
  }
}

// Amounts by name: [work], [limit].
std::map<std::string, Expression> read_amounts(const TomlTable& root, std::string_view key,
                                               const CaseFile& of) {
  std::map<std::string, Expression> amounts;
  if (!root.has(key)) return amounts;
  const auto table = root.table(key);
  for (const auto& name : table.keys()) {
    if (!is_name(name)) table.reject(name, "not a name");
    auto amount = read_expression(table, name, table.json(name), Expression::Kind::kReal, of);
    for (const auto& point : of.points) {
      if (const double value = amount.real(point); value < 0) {
        table.reject(name, "at {}: must not be negative, got {}", lab::point_label(point), value);
      }
    }
    amounts.emplace(name, std::move(amount));
  }
  return amounts;
}

}  // namespace

bool is_name(std::string_view text) {
  const auto allowed = [](char c) { return is_letter(c) || c == '_' || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= kLongestName && (is_letter(text[0]) || text[0] == '_') &&
         std::ranges::all_of(text, allowed);
}

std::string existing_file(const TomlTable& table, std::string_view key, const std::string& text,
                          const CaseFile& of) {
  const auto path = (std::filesystem::path(of.folder()) / text).lexically_normal();
  std::error_code error;
  if (text.empty() || !std::filesystem::is_regular_file(path, error)) {
    table.reject(key, "no such file: '{}'", path.string());
  }
  return path.string();
}

std::string beside(const CaseFile& of, const std::string& text) {
  return (std::filesystem::path(of.folder()) / text).lexically_normal().string();
}

std::vector<std::string> read_texts(const TomlTable& table, std::string_view key) {
  constexpr std::size_t kMostWords = 256, kLongestArgument = 4096;
  const Json list = table.json(key);
  std::vector<std::string> texts;
  const auto bad = [&] {
    table.reject(key, "expected an array of strings, got {}", canonical_json(list));
  };
  if (!list.is_array()) bad();
  if (list.size() > kMostWords) table.reject(key, "more than {} of them", kMostWords);
  for (const auto& text : list) {
    if (!text.is_string()) bad();
    texts.push_back(text.get<std::string>());
    if (texts.back().size() > kLongestArgument || texts.back().find('\0') != std::string::npos) {
      table.reject(key, "one of them is longer than {} bytes or holds a zero", kLongestArgument);
    }
  }
  return texts;
}

PythonFunction python_function(const TomlTable& table, std::string_view key, const CaseFile& of) {
  const auto text = table.text(key);
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || !is_name(text.substr(colon + 1))) {
    table.reject(key, "expected FILE.py:FUNCTION, got '{}'", text);
  }
  return {existing_file(table, key, text.substr(0, colon), of), text.substr(colon + 1)};
}

Expression read_expression(const TomlTable& table, std::string_view key, const Json& value,
                           Expression::Kind kind, const CaseFile& of) {
  std::string text;
  if (value.is_string()) {
    text = value.get<std::string>();
  } else if (value.is_number_integer() || (value.is_number() && kind == Expression::Kind::kReal)) {
    text = canonical_json(value);
  } else {
    table.reject(key, "expected an expression, got {}", canonical_json(value));
  }
  try {
    Expression expression(text, kind);
    for (const auto& name : expression.parameters()) {
      if (std::ranges::find(of.parameters, name, &ParameterSpec::name) == of.parameters.end()) {
        fail("expression '{}': no parameter '{}'", text, name);
      }
    }
    for (const auto* points : {&of.points, &of.quick_points}) {
      for (const auto& point : *points) {
        try {
          expression.real(point);
        } catch (const UserError& e) {
          fail("at {}: {}", lab::point_label(point), e.what());
        }
      }
    }
    return expression;
  } catch (const UserError& e) {
    table.reject(key, "{}", e.what());
  }
}

std::string CaseFile::folder() const { return std::filesystem::path(path).parent_path().string(); }

const ProviderSpec& CaseFile::provider(std::string_view id) const {
  const auto found = std::ranges::find(providers, id, &ProviderSpec::id);
  if (found == providers.end()) fail("{}: no provider of that name: '{}'", path, id);
  return *found;
}

void check_point(const CaseFile& file, const Json& point) {
  for (const auto& input : file.problem.inputs) input.check_at(point);
  for (const auto& output : file.problem.outputs) {
    output.dtype_at(point);
    output.shape_at(point);
  }
  if (file.oracle.reduction && file.oracle.reduction->integer(point) < 1) {
    fail("expression '{}' must be at least 1", file.oracle.reduction->text());
  }
  for (const auto* amounts : {&file.work, &file.limits}) {
    for (const auto& [name, amount] : *amounts) {
      if (!(amount.real(point) >= 0)) {
        fail("expression '{}' must not be negative", amount.text());
      }
    }
  }
}

CaseFile read_case_file(const std::string& path) {
  const auto root = TomlTable::read(path);
  CaseFile file;
  file.path = std::filesystem::absolute(path).lexically_normal().string();
  file.name = case_name(root, "case");
  if (root.has("suite")) file.suite = case_name(root, "suite");
  if (root.has("description")) {
    file.description = root.text("description");
    if (file.description.size() > kLongestText) {
      root.reject("description", "at most {} bytes, got {}", kLongestText, file.description.size());
    }
  }
  read_points(root, file);
  read_tensors(root, file);
  read_providers(root, file);
  read_oracle(root, file);
  file.work = read_amounts(root, "work", file);
  file.limits = read_amounts(root, "limit", file);
  root.refuse_unread_keys();
  return file;
}

}  // namespace assay::cases::own
