// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/dimension.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/error.h"

namespace assay::compiler {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// Of the names in a normal form. What anybody means has some dozens.
constexpr std::size_t kMostCharacters = 4096;

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) fail("a dimension beyond 64 bits: {} + {}", a, b);
  return sum;
}
std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) fail("a dimension beyond 64 bits: {} * {}", a, b);
  return product;
}
std::int64_t floor_quotient(std::int64_t a, std::int64_t by) {
  if (by < 1) fail("a dimension divided by less than 1: {}", by);
  return a / by - (a % by < 0 ? 1 : 0);
}

// Bounds stop at the ends of 64 bits instead of leaving them.
std::int64_t clamped_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? kMost : kLeast;
}
std::int64_t clamped_mul(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a > 0) == (b > 0) ? kMost : kLeast;
}
Interval times(const Interval& a, const Interval& b) {
  const auto [low, high] = std::minmax({clamped_mul(a.low, b.low), clamped_mul(a.low, b.high),
                                        clamped_mul(a.high, b.low), clamped_mul(a.high, b.high)});
  return {low, high};
}

bool is_symbol_name(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && name.size() <= 32 && is_letter(name[0]) &&
         std::ranges::all_of(name,
                             [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); }) &&
         name != "floor" && name != "mod" && name != "min" && name != "max";
}

}  // namespace

struct Dim::Factor {
  Kind kind;
  std::string key;  // the text
  Dim a, b;         // of what, and by what; nothing of a symbol
};

std::string Dim::key_of(const Product& product) {
  std::string key;
  for (const auto& factor : product.factors) key += (key.empty() ? "" : "*") + factor->key;
  return key;
}

Dim::Dim(std::int64_t value) {
  if (value != 0) products_.push_back({{}, value});
  key_ = std::to_string(value);
}

Dim::Dim(std::vector<Product> products) {
  // Multiplied out, a few symbols to the tenth are a hundred thousand terms.
  std::size_t characters = 0;
  for (const auto& product : products) {
    for (const auto& factor : product.factors) characters += factor->key.size() + 1;
  }
  if (characters > kMostCharacters) {
    fail("a dimension of more than {} characters when it is multiplied out: {} terms",
         kMostCharacters, products.size());
  }
  std::map<std::string, Product> sorted;
  for (auto& product : products) {
    std::ranges::sort(product.factors, {},
                      [](const FactorPtr& f) { return std::string_view(f->key); });
    auto& sum = sorted[key_of(product)];
    if (sum.coefficient == 0) {
      sum = std::move(product);
    } else {
      sum.coefficient = checked_add(sum.coefficient, product.coefficient);
    }
  }
  // What has symbols first, the constant at the end.
  if (auto constant = sorted.extract(""); !constant.empty()) {
    for (auto& [key, product] : sorted) products_.push_back(std::move(product));
    products_.push_back(std::move(constant.mapped()));
  } else {
    for (auto& [key, product] : sorted) products_.push_back(std::move(product));
  }
  std::erase_if(products_, [](const Product& p) { return p.coefficient == 0; });
  for (const auto& p : products_) {
    const bool is_first = key_.empty(), is_negative = p.coefficient < 0;
    const auto size = is_negative ? 0 - static_cast<std::uint64_t>(p.coefficient)
                                  : static_cast<std::uint64_t>(p.coefficient);
    if (is_first) {
      key_ += is_negative ? "-" : "";
    } else {
      key_ += is_negative ? " - " : " + ";
    }
    const auto name = key_of(p);
    key_ += name.empty() ? std::to_string(size)
            : size == 1  ? name
                         : fmt::format("{}*{}", size, name);
  }
  if (key_.empty()) key_ = "0";
}

Dim Dim::of_factor(Kind kind, std::string name, const Dim& a, const Dim& b) {
  return Dim(std::vector<Product>{
      {{std::make_shared<const Factor>(Factor{kind, std::move(name), a, b})}, 1}});
}

Dim Dim::symbol(std::string_view name) {
  if (!is_symbol_name(name)) {
    fail("a symbol's name is a letter, then letters, digits and '_', got '{}'", name);
  }
  return of_factor(Kind::kSymbol, std::string(name), {}, {});
}

Dim operator+(const Dim& a, const Dim& b) {
  auto products = a.products_;
  products.insert(products.end(), b.products_.begin(), b.products_.end());
  return Dim(std::move(products));
}
Dim operator-(const Dim& a, const Dim& b) { return a + b * Dim(-1); }
Dim operator*(const Dim& a, const Dim& b) {
  std::vector<Dim::Product> products;
  for (const auto& p : a.products_) {
    for (const auto& q : b.products_) {
      auto both = p;
      both.factors.insert(both.factors.end(), q.factors.begin(), q.factors.end());
      both.coefficient = checked_mul(p.coefficient, q.coefficient);
      products.push_back(std::move(both));
    }
  }
  return Dim(std::move(products));
}

Dim floor_div(const Dim& a, const Dim& by) {
  const auto n = by.constant();
  if (n && *n < 1) fail("a dimension divided by less than 1: {}", *n);
  if (by.is(1) || a.is(0)) return a;
  if (n) {
    // floor((n·x + r) / n) = x + floor(r / n), with 0 ≤ coefficients of r < n.
    std::vector<Dim::Product> whole, rest;
    for (const auto& p : a.products_) {
      auto q = p, r = p;
      q.coefficient = floor_quotient(p.coefficient, *n);
      r.coefficient = p.coefficient - q.coefficient * *n;
      if (q.coefficient != 0) whole.push_back(std::move(q));
      if (r.coefficient != 0) rest.push_back(std::move(r));
    }
    const Dim x(std::move(whole)), r(std::move(rest));
    if (const auto left = r.constant()) return x + Dim(floor_quotient(*left, *n));
    return x + Dim::of_factor(Dim::Kind::kFloorDiv, fmt::format("floor({}, {})", r.key_, by.key_),
                              r, by);
  }
  if (a == by) return 1;
  // A product of which `by` is a factor.
  if (by.products_.size() == 1 && by.products_[0].coefficient > 0) {
    std::vector<Dim::Product> quotient;
    bool divides = true;
    for (const auto& p : a.products_) {
      auto q = p;
      divides = divides && p.coefficient % by.products_[0].coefficient == 0;
      q.coefficient /= by.products_[0].coefficient;
      for (const auto& factor : by.products_[0].factors) {
        const auto found = std::ranges::find_if(
            q.factors, [&](const Dim::FactorPtr& f) { return f->key == factor->key; });
        divides = divides && found != q.factors.end();
        if (found != q.factors.end()) q.factors.erase(found);
      }
      quotient.push_back(std::move(q));
    }
    if (divides) return Dim(std::move(quotient));  // exactly, so it is the floor too
  }
  return Dim::of_factor(Dim::Kind::kFloorDiv, fmt::format("floor({}, {})", a.key_, by.key_), a, by);
}

Dim floor_mod(const Dim& a, const Dim& by) {
  if (const auto n = by.constant()) {
    if (*n < 1) fail("a dimension divided by less than 1: {}", *n);
    std::vector<Dim::Product> rest;
    for (auto p : a.products_) {
      p.coefficient -= floor_quotient(p.coefficient, *n) * *n;
      if (p.coefficient != 0) rest.push_back(std::move(p));
    }
    const Dim r(std::move(rest));
    if (const auto left = r.constant()) return *left - floor_quotient(*left, *n) * *n;
    return Dim::of_factor(Dim::Kind::kMod, fmt::format("mod({}, {})", r.key_, by.key_), r, by);
  }
  if (floor_div(a, by) * by == a) return 0;
  return Dim::of_factor(Dim::Kind::kMod, fmt::format("mod({}, {})", a.key_, by.key_), a, by);
}

Dim min(const Dim& a, const Dim& b) {
  if (const auto d = (a - b).constant()) return *d <= 0 ? a : b;
  const auto& [x, y] = a < b ? std::pair(a, b) : std::pair(b, a);
  return Dim::of_factor(Dim::Kind::kMin, fmt::format("min({}, {})", x.key_, y.key_), x, y);
}
Dim max(const Dim& a, const Dim& b) {
  if (const auto d = (a - b).constant()) return *d >= 0 ? a : b;
  const auto& [x, y] = a < b ? std::pair(a, b) : std::pair(b, a);
  return Dim::of_factor(Dim::Kind::kMax, fmt::format("max({}, {})", x.key_, y.key_), x, y);
}

std::optional<std::int64_t> Dim::constant() const {
  if (products_.empty()) return 0;
  if (products_.size() == 1 && products_[0].factors.empty()) return products_[0].coefficient;
  return std::nullopt;
}

std::int64_t Dim::value_of(const Factor& factor, const Bindings& values) {
  if (factor.kind == Kind::kSymbol) {
    const auto found = values.find(factor.key);
    if (found == values.end()) fail("a symbol without a value: '{}'", factor.key);
    return found->second;
  }
  const auto a = factor.a.at(values), b = factor.b.at(values);
  switch (factor.kind) {
    case Kind::kFloorDiv:
      return floor_quotient(a, b);
    case Kind::kMod:
      return a - floor_quotient(a, b) * b;
    case Kind::kMin:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

std::int64_t Dim::at(const Bindings& values) const {
  std::int64_t sum = 0;
  for (const auto& p : products_) {
    std::int64_t value = p.coefficient;
    for (const auto& factor : p.factors) value = checked_mul(value, value_of(*factor, values));
    sum = checked_add(sum, value);
  }
  return sum;
}

Interval Dim::range_of(const Factor& factor, const Symbols& symbols) {
  if (factor.kind == Kind::kSymbol) {
    const auto found = symbols.find(factor.key);
    if (found == symbols.end()) fail("an unknown symbol: '{}'", factor.key);
    return found->second;
  }
  const auto a = factor.a.range(symbols), b = factor.b.range(symbols);
  // A divisor is at least 1 wherever there is a value at all.
  const std::int64_t least = std::max<std::int64_t>(1, b.low), most = std::max(least, b.high);
  switch (factor.kind) {
    case Kind::kFloorDiv:
      return {std::min(floor_quotient(a.low, least), floor_quotient(a.low, most)),
              std::max(floor_quotient(a.high, least), floor_quotient(a.high, most))};
    case Kind::kMod:
      if (a.low >= 0 && a.high < least) return a;
      return {0, most - 1};
    case Kind::kMin:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    default:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
  }
}

Interval Dim::range(const Symbols& symbols) const {
  Interval sum{0, 0};
  for (const auto& p : products_) {
    Interval value{p.coefficient, p.coefficient};
    for (const auto& factor : p.factors) value = times(value, range_of(*factor, symbols));
    sum = {clamped_add(sum.low, value.low), clamped_add(sum.high, value.high)};
  }
  return sum;
}

void Dim::add_symbols(std::set<std::string>& to) const {
  for (const auto& p : products_) {
    for (const auto& factor : p.factors) {
      if (factor->kind == Kind::kSymbol) {
        to.insert(factor->key);
      } else {
        factor->a.add_symbols(to);
        factor->b.add_symbols(to);
      }
    }
  }
}

namespace {

class DimParser {
 public:
  explicit DimParser(std::string_view text) : text_(text) {}
  Dim whole() {
    const Dim dim = sum(0);
    if (skip_blanks(); at_ < text_.size()) fail_at("something behind it");
    return dim;
  }

 private:
  [[noreturn]] void fail_at(const char* what) const {
    fail("a dimension, at character {}: {}: '{}'", at_ + 1, what, text_.substr(0, 100));
  }
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool takes(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Dim sum(int depth) {
    if (depth > 50) fail_at("deeper than anybody writes");
    Dim dim = takes('-') ? Dim(-1) * terms(depth) : terms(depth);
    while (true) {
      if (takes('+')) {
        dim = dim + terms(depth);
      } else if (takes('-')) {
        dim = dim - terms(depth);
      } else {
        return dim;
      }
    }
  }
  Dim terms(int depth) {
    Dim dim = one(depth);
    while (takes('*')) dim = dim * one(depth);
    return dim;
  }
  Dim one(int depth) {
    skip_blanks();
    const auto begin = at_;
    const auto is_word = [&](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
    };
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    const auto word = text_.substr(begin, at_ - begin);
    if (word.empty()) {
      if (!takes('(')) fail_at("a number or a name is missing");
      const Dim inner = sum(depth + 1);
      if (!takes(')')) fail_at("')' is missing");
      return inner;
    }
    if (word[0] >= '0' && word[0] <= '9') {
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error != std::errc() || end != word.data() + word.size())
        fail_at("not a number of 64 bits");
      return value;
    }
    if (!takes('(')) return Dim::symbol(word);
    const Dim a = sum(depth + 1);
    if (!takes(',')) fail_at("',' is missing");
    const Dim b = sum(depth + 1);
    if (!takes(')')) fail_at("')' is missing");
    if (word == "floor") return floor_div(a, b);
    if (word == "mod") return floor_mod(a, b);
    if (word == "min") return min(a, b);
    if (word == "max") return max(a, b);
    fail_at("no such function");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Dim Dim::parse(std::string_view text) { return DimParser(text).whole(); }

Dim product(const std::vector<Dim>& dims) {
  Dim all = 1;
  for (const auto& dim : dims) all *= dim;
  return all;
}

std::string to_string(const std::vector<Dim>& dims) {
  std::vector<std::string_view> texts;
  for (const auto& dim : dims) texts.push_back(dim.to_string());
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

}  // namespace assay::compiler
