// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/families/rotary_tables.h"

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace assay::models {
namespace {

// Wavelengths beyond original_context / low_factor are stretched, those below original_context /
// high_factor kept, those between in part.
float llama3_frequency(const RotaryConfig& rotary, float frequency) {
  const auto context = static_cast<double>(rotary.original_context);
  const double wavelength = 2 * std::numbers::pi / static_cast<double>(frequency);
  const auto stretched = static_cast<float>(static_cast<double>(frequency) / rotary.factor);
  if (wavelength < context / rotary.high_factor) return frequency;
  if (wavelength > context / rotary.low_factor) return stretched;
  const double kept =
      (context / wavelength - rotary.low_factor) / (rotary.high_factor - rotary.low_factor);
  return static_cast<float>((1 - kept) * static_cast<double>(stretched) +
                            kept * static_cast<double>(frequency));
}

}  // namespace

std::vector<float> rotary_frequencies(const RotaryConfig& rotary, std::int64_t width) {
  check(width >= 2 && width % 2 == 0, "a head has pairs");
  const auto pairs = static_cast<std::size_t>(width / 2);
  const auto turning = static_cast<std::size_t>(rotary.part * static_cast<double>(width) / 2);
  std::vector<float> frequencies(pairs, 0.0f);
  for (std::size_t i = 0; i < std::min(turning, pairs); ++i) {
    const auto exponent = static_cast<float>(2 * i) / static_cast<float>(width);
    const float frequency =
        1.0f / static_cast<float>(std::pow(rotary.theta, static_cast<double>(exponent)));
    frequencies[i] = rotary.kind == RotaryConfig::Kind::kLlama3
                         ? llama3_frequency(rotary, frequency)
                         : frequency / static_cast<float>(rotary.factor);
  }
  return frequencies;
}

RotaryTables rotary_tables(const RotaryConfig& rotary, std::int64_t width, std::int64_t positions) {
  const auto frequencies = rotary_frequencies(rotary, width);
  RotaryTables tables{Tensor(DType::kF32, Shape({positions, width / 2})),
                      Tensor(DType::kF32, Shape({positions, width / 2}))};
  auto cosine = tables.cosine.as<float>(), sine = tables.sine.as<float>();
  std::size_t at = 0;
  for (std::int64_t t = 0; t < positions; ++t) {
    for (const float frequency : frequencies) {
      const float angle = static_cast<float>(t) * frequency;
      cosine[at] = static_cast<float>(std::cos(static_cast<double>(angle)));
      sine[at] = static_cast<float>(std::sin(static_cast<double>(angle)));
      ++at;
    }
  }
  return tables;
}

}  // namespace assay::models
