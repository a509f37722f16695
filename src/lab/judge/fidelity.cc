// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/judge/fidelity.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace assay::lab {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Significant bits and smallest exponent of a floating-point dtype; nothing for the others.
struct FloatFormat {
  int digits, min_exponent;
};
std::optional<FloatFormat> float_format(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return FloatFormat{11, -13};
    case DType::kBF16:
      return FloatFormat{8, -125};
    case DType::kF32:
      return FloatFormat{24, -125};
    case DType::kF64:
      return FloatFormat{53, -1021};
    default:
      return std::nullopt;
  }
}

// The distance between neighbouring numbers of the format at `value`.
double ulp_at(double value, const FloatFormat& format) {
  int exponent = 0;
  std::frexp(value, &exponent);  // |value| in [2^(e−1), 2^e)
  if (value == 0) exponent = format.min_exponent;
  return std::ldexp(1.0, std::max(exponent, format.min_exponent) - format.digits);
}

// |out − ref| / (atol + rtol·|ref|), with the conventions for NaN and infinities.
double scaled_error(double out, double ref, double rtol, double atol) {
  if (std::isnan(ref) || std::isnan(out)) return std::isnan(ref) && std::isnan(out) ? 0 : kInfinity;
  if (out == ref) return 0;
  if (std::isinf(out) || std::isinf(ref)) return kInfinity;
  return std::abs(out - ref) / (atol + rtol * std::abs(ref));  // x/0 is infinite, as it should be
}

// out − ref of integers, whatever their size.
double exact_difference(const TensorView& output, std::int64_t index, std::int64_t ref) {
  return visit_dtype(output.dtype(), [&]<typename T>(std::type_identity<T>) -> double {
    if constexpr (std::is_integral_v<T>) {
      __extension__ using Wide = __int128;
      return static_cast<double>(Wide{output.data<T>()[index]} - Wide{static_cast<T>(ref)});
    } else {
      throw InternalError("integers are expected of integer outputs");
    }
  });
}

// The value that the output's dtype has nearest to `ref`: nobody can do better, also where that is
// an infinity or zero.
bool is_nearest(const TensorView& output, double out, double ref) {
  switch (output.dtype()) {
    case DType::kF16:
      return out == static_cast<double>(static_cast<float>(Half(ref)));
    case DType::kBF16:
      return out == static_cast<double>(static_cast<float>(BFloat16(ref)));
    case DType::kF32:
      return out == static_cast<double>(static_cast<float>(ref));
    default:
      return out == ref;
  }
}

// Whether every byte of the element is 0xFF: what outputs are poisoned with (for floats, a NaN that
// arithmetic does not make).
template <typename T>
bool is_poison(const T& value) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  return std::ranges::all_of(bytes, [](unsigned char b) { return b == 0xFF; });
}

bool poisoned(const TensorView& output, std::int64_t index) {
  const double value = value_as_double(output, index);
  if (!std::isnan(value)) return false;  // −1 may be a right answer of an integer output
  return visit_dtype(output.dtype(), [&]<typename T>(std::type_identity<T>) {
    return is_poison(output.data<T>()[index]);
  });
}

// Where the values of an expectation lie in the output.
class Places {
 public:
  explicit Places(const Expectation& expected) : expected_(expected) {
    for (std::size_t axis = 1; axis < expected.shape.size(); ++axis) {
      row_size_ *= expected.shape[axis];
    }
    in_a_row_ =
        expected.columns.empty() ? static_cast<std::size_t>(row_size_) : expected.columns.size();
  }
  std::size_t count() const { return expected_.rows.size() * in_a_row_; }
  std::int64_t operator[](std::size_t i) const {
    const std::size_t c = i % in_a_row_;
    return expected_.rows[i / in_a_row_] * row_size_ +
           (expected_.columns.empty() ? static_cast<std::int64_t>(c) : expected_.columns[c]);
  }

 private:
  const Expectation& expected_;
  std::int64_t row_size_ = 1;
  std::size_t in_a_row_ = 0;
};

// Where the known part of an answer has no NaN, the rest has none either: what was never written
// shows even where nobody knows the right value.
void look_for_nans(const Expectation& expected, const TensorView& output, Deviation& f) {
  const auto is_nan = [](double value) { return std::isnan(value); };
  if (!float_format(output.dtype()) || std::ranges::any_of(expected.values, is_nan)) return;
  std::int64_t nans = 0, poison = 0, first = -1;
  for (std::int64_t i = 0; i < output.element_count(); ++i) {
    if (!is_nan(value_as_double(output, i))) continue;
    if (nans++ == 0) first = i;
    poison += poisoned(output, i);
  }
  if (nans == f.nan_count) return;
  f.nan_count = nans;
  f.poison_count = poison;
  f.error = kInfinity;
  f.is_mean_wrong = false;
  f.worst_index = first;
  f.worst_out = std::numeric_limits<double>::quiet_NaN();
  f.worst_ref = 0;
}

}  // namespace

Deviation compare(const Expectation& expected, const TensorView& output) {
  check(output.is_contiguous(), "outputs are read from files, which hold them without gaps");
  Deviation f;
  const Places places(expected);
  check(expected.values.size() == places.count() &&
            (expected.integers.empty() || expected.integers.size() == places.count()),
        "an expectation has a value for each place");
  const auto format = float_format(output.dtype());
  std::vector<double> ulps;
  double squares = 0;
  for (std::size_t i = 0; i < places.count(); ++i) {
    const std::int64_t index = places[i];
    const double ref = expected.values[i], out = value_as_double(output, index);
    const bool is_exact = !expected.integers.empty();
    double difference = std::abs(out - ref);
    double error = scaled_error(out, ref, expected.rtol, expected.atol);
    if (is_exact) {
      difference = std::abs(exact_difference(output, index, expected.integers[i]));
      error = difference == 0 ? 0 : difference / (expected.atol + expected.rtol * std::abs(ref));
    } else if (error > 1 && is_nearest(output, out, ref)) {
      error = 0;
    }
    ++f.elements;
    if (std::isnan(out) && !std::isnan(ref)) {
      ++f.nan_count;
      f.poison_count += poisoned(output, index);
    }
    if (error > f.error || f.worst_index < 0) {
      f.error = std::max(f.error, error);
      f.worst_index = index;
      f.worst_out = out;
      f.worst_ref = ref;
    }
    if (std::isfinite(out) && std::isfinite(ref)) {
      squares += difference * difference;
      f.max_abs = std::max(f.max_abs, difference);
      if (ref != 0) f.max_rel = std::max(f.max_rel, difference / std::abs(ref));
      if (format) ulps.push_back(difference / ulp_at(ref, *format));
    }
  }
  if (f.elements > 0) f.rms = std::sqrt(squares / static_cast<double>(f.elements));
  if (expected.rms > 0 && f.rms / expected.rms > f.error) {
    f.error = f.rms / expected.rms;
    f.is_mean_wrong = f.error > 1;
  }
  look_for_nans(expected, output, f);
  if (!ulps.empty()) {
    f.ulp_max = *std::ranges::max_element(ulps);
    const auto middle = ulps.begin() + static_cast<std::ptrdiff_t>(ulps.size() / 2);
    std::ranges::nth_element(ulps, middle);
    f.ulp_p50 = *middle;
  }
  return f;
}

double difference_from_baseline(const Expectation& expected, const TensorView& output) {
  double largest = 0;
  const Places places(expected);
  for (std::size_t i = 0; i < expected.baseline.size(); ++i) {
    const double ref = expected.baseline[i], scale = ref == 0 ? 1 : std::abs(ref);
    largest = std::max(largest, scaled_error(value_as_double(output, places[i]), ref, 0, scale));
  }
  return largest;
}

}  // namespace assay::lab
