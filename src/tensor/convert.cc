// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/convert.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "tensor/internal/runs.h"

namespace assay {
namespace {

template <typename T>
constexpr bool kIsComplex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
template <typename T>
constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// The double nearest to an integer, or beyond 53 bits one of its two neighbours: the one whose last
// bit is odd. Rounding that once more to a shorter format gives what rounding the integer would
// have given, which rounding to nearest twice does not.
template <std::integral T>
double rounded_to_odd(T value) {
  const bool negative = value < 0;
  auto magnitude = static_cast<std::uint64_t>(value);
  if (negative) magnitude = 0 - magnitude;
  if (magnitude >> 53 != 0) {
    const int excess = 64 - std::countl_zero(magnitude) - 53;
    const std::uint64_t lost = magnitude & ((std::uint64_t{1} << excess) - 1);
    magnitude >>= excess;
    if (lost != 0) magnitude |= 1;
    magnitude <<= excess;
  }
  const auto exact = static_cast<double>(magnitude);
  return negative ? -exact : exact;
}

// The value as T, or nothing where it has none.
template <typename To, typename From>
bool convert_value(From from, To& to) {
  if constexpr (kIsHalf<From> && !std::is_same_v<To, From>) {
    return convert_value(static_cast<float>(from), to);
  } else if constexpr (std::is_same_v<From, bool> && !std::is_same_v<To, bool>) {
    return convert_value(static_cast<std::uint8_t>(from), to);
  } else if constexpr (std::is_same_v<To, bool>) {
    to = from != From{};
    return true;
  } else if constexpr (kIsComplex<To>) {
    to = To(static_cast<typename To::value_type>(from));
    return true;
  } else if constexpr (kIsHalf<To> && std::is_integral_v<From>) {
    to = To(rounded_to_odd(from));
    return true;
  } else if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    to = static_cast<To>(from);
    return std::in_range<To>(from);
  } else if constexpr (std::is_integral_v<To>) {
    // Both bounds are powers of two (or zero), exact in any float; NaN fails both comparisons.
    constexpr auto kHalf = static_cast<To>(std::numeric_limits<To>::max() / 2 + 1);
    constexpr auto kBeyond = static_cast<From>(kHalf) * From{2};
    const From whole = std::trunc(from);
    if (!(whole >= static_cast<From>(std::numeric_limits<To>::min()) && whole < kBeyond)) {
      return false;
    }
    to = static_cast<To>(whole);
    return true;
  } else {
    to = static_cast<To>(from);
    return true;
  }
}

// Complex to complex or bool; complex to real never gets here.
template <typename To, typename From>
requires kIsComplex<From>
bool convert_value(From from, To& to) {
  if constexpr (std::is_same_v<To, bool>) {
    to = from != From{};
  } else {
    to = To(static_cast<typename To::value_type>(from.real()),
            static_cast<typename To::value_type>(from.imag()));
  }
  return true;
}

template <typename From, typename To>
void convert_all(const TensorView& from, const MutableTensorView& to) {
  const From* source = from.data<From>();
  To* target = to.data<To>();
  std::int64_t done = 0;
  for_each_run<2>(from.shape(), {from.strides(), to.strides()},
                  [&](const auto& offset, const auto& step, std::int64_t count) {
                    const From* s = source + offset[0];
                    To* t = target + offset[1];
                    if constexpr (std::is_same_v<From, To>) {
                      if (step[0] == 1 && step[1] == 1) {
                        std::memcpy(t, s, static_cast<std::size_t>(count) * sizeof(From));
                        return;
                      }
                    }
                    bool valid = true;
                    for (std::int64_t j = 0; j < count; ++j) {
                      valid &= convert_value(s[j * step[0]], t[j * step[1]]);
                    }
                    if (!valid) {
                      for (std::int64_t j = 0; j < count; ++j) {
                        To ignored;
                        if (convert_value(s[j * step[0]], ignored)) continue;
                        fail("element {} of a {} tensor has no value as {}: {}", done + j,
                             name_of(from.dtype()), name_of(to.dtype()),
                             value_as_double(from, done + j));
                      }
                    }
                    done += count;
                  });
}

}  // namespace

void convert_into(const TensorView& from, const MutableTensorView& to) {
  check(from.shape() == to.shape(), "tensors of different shapes are not converted");
  if (is_complex(from.dtype()) && !is_complex(to.dtype()) && to.dtype() != DType::kBool) {
    fail("a {} tensor cannot be converted to the real dtype {}", name_of(from.dtype()),
         name_of(to.dtype()));
  }
  if (from.element_count() == 0) return;
  visit_dtype(from.dtype(), [&]<typename From>(std::type_identity<From>) {
    visit_dtype(to.dtype(), [&]<typename To>(std::type_identity<To>) {
      if constexpr (!kIsComplex<From> || kIsComplex<To> || std::is_same_v<To, bool>) {
        convert_all<From, To>(from, to);
      }
    });
  });
}

}  // namespace assay
