// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/internal/npy_header.h"

#include <array>
#include <charconv>
#include <optional>
#include <vector>

namespace assay {
namespace {

struct TypeCode {
  std::string_view code;
  DType dtype;
};
constexpr std::array<TypeCode, 14> kTypeCodes = {{{"b1", DType::kBool},
                                                  {"u1", DType::kU8},
                                                  {"i1", DType::kI8},
                                                  {"u2", DType::kU16},
                                                  {"i2", DType::kI16},
                                                  {"u4", DType::kU32},
                                                  {"i4", DType::kI32},
                                                  {"u8", DType::kU64},
                                                  {"i8", DType::kI64},
                                                  {"f2", DType::kF16},
                                                  {"f4", DType::kF32},
                                                  {"f8", DType::kF64},
                                                  {"c8", DType::kC64},
                                                  {"c16", DType::kC128}}};

// Text from a file, short and printable enough for a one-line message.
std::string shown(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, 40)) result += c >= ' ' && c <= '~' ? c : '?';
  return text.size() > 40 ? result + "…" : result;
}

// Reads the few Python literals that a header is made of.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& path) : rest_(text), path_(path) {}

  NpyHeader read() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    const auto once = [&](bool& seen, std::string_view key) {
      if (seen) fail("{}: .npy header repeats the key '{}'", path_, key);
      seen = true;
    };
    expect('{');
    while (!take('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr") {
        once(has_descr, key);
        descr(header);
      } else if (key == "fortran_order") {
        once(has_order, key);
        header.fortran_order = boolean();
      } else if (key == "shape") {
        once(has_shape, key);
        header.shape = shape();
      } else {
        fail("{}: .npy header has an unknown key '{}'", path_, shown(key));
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!rest_.empty()) fail("{}: .npy header goes on after its end: '{}'", path_, shown(rest_));
    if (!has_descr) fail("{}: .npy header lacks the key 'descr'", path_);
    if (!has_order) fail("{}: .npy header lacks the key 'fortran_order'", path_);
    if (!has_shape) fail("{}: .npy header lacks the key 'shape'", path_);
    return header;
  }

 private:
  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t')) {
      rest_.remove_prefix(1);
    }
  }

  bool take(char c) {
    skip_space();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!take(c)) fail("{}: .npy header should have '{}' at '{}'", path_, c, shown(rest_));
  }

  std::string_view string() {
    skip_space();
    const char quote = rest_.empty() ? ' ' : rest_[0];
    if (quote != '\'' && quote != '"') {
      fail("{}: .npy header should have a string at '{}'", path_, shown(rest_));
    }
    const auto end = rest_.find(quote, 1);
    if (end == std::string_view::npos) {
      fail("{}: .npy header has a string without end: '{}'", path_, shown(rest_));
    }
    const std::string_view value = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return value;
  }

  bool boolean() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return value;
      }
    }
    fail("{}: .npy header should have True or False at '{}'", path_, shown(rest_));
  }

  Shape shape() {
    std::vector<std::int64_t> extents;
    expect('(');
    while (!take(')')) {
      skip_space();
      std::int64_t extent = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (error != std::errc{} || extent < 0) {
        fail("{}: .npy header should have an extent at '{}'", path_, shown(rest_));
      }
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      take('L');  // as Python 2 wrote long integers
      extents.push_back(extent);
      if (extents.size() > Shape::kMaxRank) {
        fail("{}: .npy header has more than {} axes", path_, Shape::kMaxRank);
      }
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    try {
      return Shape(std::move(extents));
    } catch (const UserError& e) {
      fail("{}: {}", path_, e.what());
    }
  }

  void descr(NpyHeader& header) {
    skip_space();
    if (!rest_.empty() && rest_[0] == '[') fail("{}: structured .npy dtypes are not read", path_);
    const std::string_view text = string();
    const char order = text.empty() ? ' ' : text[0];
    if (order == '<' || order == '>' || order == '|' || order == '=') {
      for (const TypeCode& type : kTypeCodes) {
        if (type.code != text.substr(1)) continue;
        header.dtype = type.dtype;
        header.big_endian = order == '>';
        return;
      }
    }
    fail("{}: .npy dtype is not supported: '{}'", path_, shown(text));
  }

  std::string_view rest_;
  const std::string& path_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& path) {
  return HeaderReader(text, path).read();
}

std::string format_npy_header(const NpyHeader& header, const std::string& path) {
  for (const TypeCode& type : kTypeCodes) {
    if (type.dtype != header.dtype) continue;
    std::string extents;
    for (const std::int64_t extent : header.shape.extents()) extents += fmt::format("{}, ", extent);
    // A tuple of one keeps its comma; longer ones drop the last.
    if (header.shape.rank() == 1) extents.pop_back();
    if (header.shape.rank() > 1) extents.resize(extents.size() - 2);
    return fmt::format("{{'descr': '{}{}', 'fortran_order': {}, 'shape': ({}), }}",
                       size_of(header.dtype) == 1 ? '|' : '<', type.code,
                       header.fortran_order ? "True" : "False", extents);
  }
  fail("cannot write '{}': NumPy has no dtype {}", path, name_of(header.dtype));
}

}  // namespace assay
