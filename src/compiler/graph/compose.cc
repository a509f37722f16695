// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/compose.h"

#include <algorithm>
#include <numeric>

namespace assay::compiler {
namespace {

// An axis of the tensor between: as few as inner's strides allow.
struct Digit {
  Dim extent, place, stride;  // place: how far apart neighbours are in the tensor between
  Dim low = 0, high = 0;      // of the positions that are read
};

std::vector<Digit> digits_of(const View& inner, bool merges) {
  View view = inner;
  for (std::size_t i = view.rank(); i-- > 0;) {
    if (view.shape[i].is(1)) view = view.squeeze(i);
  }
  for (std::size_t i = 0; merges && i + 1 < view.rank();) {
    if (auto merged = view.merge(i)) {
      view = std::move(*merged);
    } else {
      ++i;
    }
  }
  std::vector<Digit> digits(view.rank());
  Dim place = 1;
  for (std::size_t i = view.rank(); i-- > 0;) {
    digits[i] = {view.shape[i], place, view.strides[i]};
    place *= view.shape[i];
  }
  return digits;
}

// dim / by where that leaves nothing.
std::optional<Dim> exact_quotient(const Dim& dim, const Dim& by) {
  if (by.is(0)) return std::nullopt;
  const Dim q = floor_div(dim, by);
  if (!(q * by == dim)) return std::nullopt;
  return q;
}

bool is_at_least_zero(const Dim& dim, const Symbols& symbols) {
  return dim.range(symbols).low >= 0;
}

std::optional<View> composed_by(std::vector<Digit> digits, const View& outer, const View& inner,
                                const Symbols& symbols) {
  View result;
  result.shape = outer.shape;
  result.offset = inner.offset;
  if (digits.size() <= 1) {  // one stride serves all
    const Dim stride = digits.empty() ? Dim(0) : digits[0].stride;
    for (const auto& s : outer.strides) result.strides.push_back(s * stride);
    result.offset += outer.offset * stride;
    return result;
  }
  // Where the first element is, digit by digit.
  Dim rest = outer.offset;
  for (auto& digit : digits) {
    Dim at = 0;
    if (&digit == &digits.back()) {
      at = rest;
    } else if (!rest.is(0)) {
      at = floor_div(rest, digit.place);
      // A quotient that stays one says nothing about what is left.
      if (at.to_string().find("floor") != std::string::npos) {
        if (!is_at_least_zero(rest, symbols) ||
            !is_at_least_zero(digit.place - rest - 1, symbols)) {
          return std::nullopt;
        }
        at = 0;
      }
    }
    rest = rest - at * digit.place;
    digit.low = digit.high = at;
    result.offset += at * digit.stride;
  }
  for (std::size_t i = 0; i < outer.rank(); ++i) {
    const auto &extent = outer.shape[i], &stride = outer.strides[i];
    if (extent.is(1) || stride.is(0)) {
      result.strides.emplace_back(0);
      continue;
    }
    bool is_found = false;
    for (auto& digit : digits) {
      const auto step = exact_quotient(stride, digit.place);
      if (!step || step->is(0)) continue;
      // Forwards for some values of the symbols, backwards for others: neither end is known.
      const auto ways = step->range(symbols);
      if (ways.low < 0 && ways.high > 0) return std::nullopt;
      (ways.low >= 0 ? digit.high : digit.low) += *step * (extent - 1);
      result.strides.push_back(*step * digit.stride);
      is_found = true;
      break;
    }
    if (!is_found) return std::nullopt;
  }
  // No carry from one digit to the next. (A view without elements carries nothing.)
  for (const auto& digit : digits) {
    if (!is_at_least_zero(digit.low, symbols) ||
        !is_at_least_zero(digit.extent - 1 - digit.high, symbols)) {
      return std::nullopt;
    }
  }
  return result;
}

}  // namespace

std::optional<View> compose(const View& outer, const View& inner, const Symbols& symbols) {
  if (outer.shape == inner.shape && outer == View::contiguous(outer.shape)) return inner;
  if (product(outer.shape).is(0)) {  // reads nothing, wherever that lies
    return View{outer.shape, std::vector<Dim>(outer.rank(), Dim(0)), 0};
  }
  if (product(inner.shape).is(0)) return std::nullopt;  // nothing to say it of
  if (auto result = composed_by(digits_of(inner, true), outer, inner, symbols)) return result;
  // Quotients of sums are not always seen; equal axes are.
  return composed_by(digits_of(inner, false), outer, inner, symbols);
}

bool reads_each_once(const View& view, const Dim& elements, const Symbols& /*symbols*/) {
  if (!view.offset.is(0) || !(product(view.shape) == elements)) return false;
  // Sorted by stride it is row-major.
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < view.rank(); ++i) {
    if (!view.shape[i].is(1)) axes.push_back(i);
  }
  Dim stride = 1;
  while (!axes.empty()) {
    const auto next =
        std::ranges::find_if(axes, [&](std::size_t i) { return view.strides[i] == stride; });
    if (next == axes.end()) return false;
    stride *= view.shape[*next];
    axes.erase(next);
  }
  return true;
}

}  // namespace assay::compiler
