// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/labels/notation.h"

#include <algorithm>
#include <map>

#include "base/error.h"

namespace assay::einsum {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string name_of(Symbol symbol) {
  if (symbol == kEllipsis) return "...";
  if (symbol >= kFirstInteger) return fmt::format("{{{}}}", symbol - kFirstInteger);
  return std::string(1, static_cast<char>(symbol));
}

// Reads terms one symbol at a time; `what` names the term in messages ("operand 1", "the result").
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool done() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return at_ == text_.size();
  }
  bool take(std::string_view word) {
    if (done() || text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::vector<Symbol> term(const std::string& what) {
    std::vector<Symbol> symbols;
    while (!done() && text_[at_] != ',' && text_[at_] != '-') {
      const char c = text_[at_];
      if (is_letter(c)) {
        symbols.push_back(c);
        ++at_;
      } else if (c == '{') {
        symbols.push_back(integer(what));
      } else if (c == '.') {
        if (!take("...")) refuse("an ellipsis is three dots", what);
        if (std::ranges::count(symbols, kEllipsis) != 0) refuse("a second ellipsis", what);
        symbols.push_back(kEllipsis);
      } else {
        refuse(fmt::format("'{}' is no label", character()), what);
      }
    }
    return symbols;
  }

  [[noreturn]] void refuse(const std::string& why, const std::string& what) const {
    fail("einsum notation: {}: {} at character {} of '{}'", what, why, at_, text_);
  }

 private:
  // All bytes of the character here, which may be no ASCII.
  std::string_view character() const {
    const auto continues = [this](std::size_t i) {
      return i < text_.size() && (static_cast<unsigned char>(text_[i]) & 0xC0) == 0x80;
    };
    std::size_t length = 1;
    while (length < 4 && continues(at_ + length)) ++length;
    return text_.substr(at_, length);
  }

  Symbol integer(const std::string& what) {
    std::int32_t value = 0;
    std::size_t digits = 0;
    for (++at_; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_, ++digits) {
      value = std::min(value * 10 + (text_[at_] - '0'), kMaxIntegerLabel + 1);
    }
    if (digits == 0 || at_ == text_.size() || text_[at_] != '}') {
      refuse("an integer label is written {n}", what);
    }
    if (value > kMaxIntegerLabel) {
      refuse(fmt::format("an integer label is at most {}", kMaxIntegerLabel), what);
    }
    ++at_;
    return kFirstInteger + value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// Numbers the labels in order of appearance and collects what is known of each.
class Binder {
 public:
  Binder(const Notation& notation, std::span<const Shape> shapes)
      : notation_(notation), shapes_(shapes) {}

  Problem bind_labels() {
    if (notation_.inputs.empty()) fail("einsum: there are no operands");
    if (notation_.inputs.size() != shapes_.size()) {
      fail("einsum: '{}' names {} operands, but {} are given", to_string(notation_),
           notation_.inputs.size(), shapes_.size());
    }
    if (shapes_.size() > static_cast<std::size_t>(kMaxOperands)) {
      fail("einsum: at most {} operands, not {}", kMaxOperands, shapes_.size());
    }
    for (std::size_t i = 0; i < shapes_.size(); ++i) bind_operand(i);
    bind_output();
    return std::move(problem_);
  }

 private:
  // Axes without a name are numbered from the right: key −1 is the last.
  Label label(Symbol symbol, int from_right) {
    const auto [at, is_new] = labels_.try_emplace({symbol, from_right}, problem_.names.size());
    if (is_new) {
      if (problem_.names.size() == static_cast<std::size_t>(kMaxLabels)) {
        fail("einsum: more than {} labels", kMaxLabels);
      }
      problem_.names.push_back(symbol == kEllipsis ? fmt::format("...[{}]", -from_right)
                                                   : name_of(symbol));
      problem_.extents.push_back(1);
      first_.push_back({0, 0});
      terms_with_.push_back(0);
    }
    return static_cast<Label>(at->second);
  }

  void bind_operand(std::size_t operand) {
    const auto& symbols = notation_.inputs[operand];
    const auto& shape = shapes_[operand];
    const bool has_ellipsis = std::ranges::count(symbols, kEllipsis) != 0;
    const std::size_t named = symbols.size() - (has_ellipsis ? 1 : 0);
    if (has_ellipsis ? shape.rank() < named : shape.rank() != named) {
      fail("einsum: operand {} has {} {} in '{}' but {} axes ({})", operand, named,
           named == 1 ? "label" : "labels", to_string(notation_), shape.rank(), shape.to_string());
    }
    const int unnamed = static_cast<int>(shape.rank() - named);
    ellipsis_axes_ = std::max(ellipsis_axes_, has_ellipsis ? unnamed : 0);
    std::vector<Label> axes;
    for (const Symbol symbol : symbols) {
      if (symbol == kEllipsis) {
        for (int j = unnamed; j >= 1; --j) axes.push_back(label(kEllipsis, j));
      } else {
        axes.push_back(label(symbol, 0));
      }
    }
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      const Label l = axes[axis];
      const auto before = static_cast<std::size_t>(std::ranges::find(axes, l) - axes.begin());
      if (before == axis) {
        ++terms_with_[static_cast<std::size_t>(l)];
      } else {
        terms_with_[static_cast<std::size_t>(l)] += 2;  // a diagonal does not occur once
      }
      // Operands are broadcast against each other, not an axis of one against another of its own.
      if (shape[before] != shape[axis]) {
        refuse_extents(l, shape[before], {operand, before}, shape[axis], {operand, axis});
      }
      set_extent(l, shape[axis], operand, axis);
    }
    problem_.terms.push_back(std::move(axes));
  }

  using Place = std::pair<std::size_t, std::size_t>;  // an operand, and an axis of it

  [[noreturn]] void refuse_extents(Label l, std::int64_t one, Place there, std::int64_t other,
                                   Place here) const {
    fail(
        "einsum: label '{}' has extent {} on axis {} of operand {}, but {} on axis {} of operand "
        "{}",
        problem_.names[static_cast<std::size_t>(l)], one, there.second, there.first, other,
        here.second, here.first);
  }

  void set_extent(Label l, std::int64_t extent, std::size_t operand, std::size_t axis) {
    auto& known = problem_.extents[static_cast<std::size_t>(l)];
    auto& first = first_[static_cast<std::size_t>(l)];
    if (extent == 1 || extent == known) return;
    if (known != 1) refuse_extents(l, known, first, extent, {operand, axis});
    known = extent;
    first = {operand, axis};
  }

  void bind_output() {
    if (!notation_.output) {
      for (int j = ellipsis_axes_; j >= 1; --j) problem_.output.push_back(label(kEllipsis, j));
      for (const auto& [key, l] : labels_) {  // sorted by symbol
        if (key.first != kEllipsis && terms_with_[l] == 1) {
          problem_.output.push_back(static_cast<Label>(l));
        }
      }
      return;
    }
    bool has_ellipsis = false;
    for (const Symbol symbol : *notation_.output) {
      if (symbol == kEllipsis) {
        has_ellipsis = true;
        for (int j = ellipsis_axes_; j >= 1; --j) problem_.output.push_back(label(kEllipsis, j));
        continue;
      }
      const auto at = labels_.find({symbol, 0});
      if (at == labels_.end()) {
        fail("einsum: label '{}' of the result is in no operand of '{}'", name_of(symbol),
             to_string(notation_));
      }
      if (std::ranges::count(problem_.output, static_cast<Label>(at->second)) != 0) {
        fail("einsum: label '{}' occurs twice in the result of '{}'", name_of(symbol),
             to_string(notation_));
      }
      problem_.output.push_back(static_cast<Label>(at->second));
    }
    if (!has_ellipsis && ellipsis_axes_ > 0) {
      fail("einsum: the result of '{}' has no '...' for {} axes without a label",
           to_string(notation_), ellipsis_axes_);
    }
  }

  const Notation& notation_;
  std::span<const Shape> shapes_;
  Problem problem_;
  std::map<std::pair<Symbol, int>, std::size_t> labels_;
  std::vector<Place> first_;  // where the extent was set
  std::vector<int> terms_with_;
  int ellipsis_axes_ = 0;
};

void append_term(std::string& text, const std::vector<Symbol>& symbols) {
  for (const Symbol symbol : symbols) text += name_of(symbol);
}

}  // namespace

Notation parse_notation(std::string_view text) {
  Reader reader(text);
  Notation notation;
  do {
    notation.inputs.push_back(reader.term(fmt::format("operand {}", notation.inputs.size())));
  } while (reader.take(","));
  if (reader.done()) return notation;
  if (!reader.take("->")) reader.refuse("'-' is no label; an arrow is '->'", "the arrow");
  notation.output = reader.term("the result");
  if (!reader.done()) reader.refuse("the expression should end", "the result");
  return notation;
}

Notation integer_notation(std::span<const std::vector<std::int32_t>> inputs,
                          const std::optional<std::vector<std::int32_t>>& output) {
  const auto convert = [](const std::vector<std::int32_t>& labels, const std::string& what) {
    std::vector<Symbol> symbols;
    for (const std::int32_t l : labels) {
      if (l < -1 || l > kMaxIntegerLabel) {
        fail("einsum notation: {}: a label is an integer from 0 to {}, or -1 for '...', not {}",
             what, kMaxIntegerLabel, l);
      }
      if (l == -1 && std::ranges::count(symbols, kEllipsis) != 0) {
        fail("einsum notation: {}: a second ellipsis, -1", what);
      }
      symbols.push_back(l == -1 ? kEllipsis : kFirstInteger + l);
    }
    return symbols;
  };
  Notation notation;
  for (const auto& labels : inputs) {
    notation.inputs.push_back(convert(labels, fmt::format("operand {}", notation.inputs.size())));
  }
  if (output) notation.output = convert(*output, "the result");
  return notation;
}

std::string to_string(const Notation& notation) {
  std::string text;
  for (std::size_t i = 0; i < notation.inputs.size(); ++i) {
    if (i != 0) text += ',';
    append_term(text, notation.inputs[i]);
  }
  if (notation.output) {
    text += "->";
    append_term(text, *notation.output);
  }
  return text;
}

Problem bind_labels(const Notation& notation, std::span<const Shape> shapes) {
  return Binder(notation, shapes).bind_labels();
}

Shape Problem::output_shape() const {
  std::vector<std::int64_t> shape;
  for (const Label l : output) shape.push_back(extents[static_cast<std::size_t>(l)]);
  return Shape(std::move(shape));
}

bool Problem::has_zero_extent() const { return std::ranges::count(extents, 0) != 0; }

std::string Problem::expression() const {
  std::string text;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (i != 0) text += ',';
    for (const Label l : terms[i]) text += names[static_cast<std::size_t>(l)];
  }
  text += "->";
  for (const Label l : output) text += names[static_cast<std::size_t>(l)];
  return text;
}

}  // namespace assay::einsum
