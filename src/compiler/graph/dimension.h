// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Extents, strides and offsets: integer expressions of named symbols (`s` new tokens, `p` cached
// ones), kept in a normal form, so that equal polynomials are equal objects.

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::compiler {

// What a symbol can be, both ends included.
struct Interval {
  std::int64_t low = 0, high = 0;
  bool operator==(const Interval&) const = default;
};
using Symbols = std::map<std::string, Interval>;
using Bindings = std::map<std::string, std::int64_t>;

// A polynomial with integer coefficients in symbols and in quotients, remainders, least and
// greatest of such polynomials. Overflow of a coefficient is a UserError; so are 4096 characters.
class Dim {
 public:
  Dim(std::int64_t value = 0);  // NOLINT: a number is a dimension
  // A letter or '_' first, then also digits. Throws UserError for any other name.
  static Dim symbol(std::string_view name);

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  Dim& operator+=(const Dim& other) { return *this = *this + other; }
  Dim& operator*=(const Dim& other) { return *this = *this * other; }
  // Towards minus infinity, and what is left, 0 ≤ r < by. Throws UserError where `by` is a constant
  // below 1; of an expression nobody knows before it has a value.
  friend Dim floor_div(const Dim& a, const Dim& by);
  friend Dim floor_mod(const Dim& a, const Dim& by);
  friend Dim min(const Dim& a, const Dim& b);
  friend Dim max(const Dim& a, const Dim& b);

  // Of normal forms: true is certain, false is "not seen to be".
  bool operator==(const Dim& other) const { return key_ == other.key_; }
  std::strong_ordering operator<=>(const Dim& other) const { return key_ <=> other.key_; }

  std::optional<std::int64_t> constant() const;
  bool is(std::int64_t value) const { return constant() == value; }
  // Throws UserError for a symbol without a value, a division by less than 1, and overflow.
  std::int64_t at(const Bindings& values) const;
  // Bounds that hold for all values of the symbols; as wide as 64 bits where nothing better is
  // seen. Throws UserError for an unknown symbol.
  Interval range(const Symbols& symbols) const;
  void add_symbols(std::set<std::string>& to) const;

  // "2*p + s*s - 1", "floor(s + 3, 4)", "mod(s, 4)", "min(p, s)"; parse() reads it.
  const std::string& to_string() const { return key_; }
  static Dim parse(std::string_view text);

 private:
  struct Factor;  // a symbol, or a quotient, remainder, minimum, maximum
  using FactorPtr = std::shared_ptr<const Factor>;
  struct Product {
    std::vector<FactorPtr> factors;  // sorted by their text; none: a constant
    std::int64_t coefficient = 0;    // not 0
  };
  enum class Kind : std::uint8_t { kSymbol, kFloorDiv, kMod, kMin, kMax };

  explicit Dim(std::vector<Product> products);  // in any order, any number of times
  static Dim of_factor(Kind kind, std::string name, const Dim& a, const Dim& b);
  static std::string key_of(const Product& product);
  static std::int64_t value_of(const Factor& factor, const Bindings& values);
  static Interval range_of(const Factor& factor, const Symbols& symbols);

  std::vector<Product> products_;  // sorted, each set of factors once
  std::string key_;                // the text, which is the identity
};

// An element count. Throws UserError on overflow of coefficients.
Dim product(const std::vector<Dim>& dims);
std::string to_string(const std::vector<Dim>& dims);  // "[s, 128]"

}  // namespace assay::compiler
