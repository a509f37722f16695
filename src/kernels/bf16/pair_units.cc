// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/bf16/pair_units.h"

#include <hwy/highway.h>

#include <atomic>
#include <cstdlib>

#include "base/error.h"
#include "kernels/bf16/native_units.h"

namespace assay::kernels {
namespace {

constexpr PairUnit plain(PairUnit layout, std::string_view name) {
  layout.name = name;
  return layout;
}
constexpr PairUnit kPlainAmx = plain(amx_layout(), "plain-amx");
constexpr PairUnit kPlainAvx512 = plain(avx512_layout(), "plain-avx512-bf16");
constexpr PairUnit kPlainNeon = plain(neon_layout(), "plain-neon-bf16");

bool is_plain(const PairUnit& unit) { return unit.tile[0] == nullptr; }

// Whether kernels may use the instruction sets that units come with.
bool is_held_back() {
#if defined(__x86_64__)
  return (hwy::SupportedTargets() & (HWY_AVX3 | HWY_AVX3_DL)) == 0;
#elif defined(__aarch64__)
  return (hwy::SupportedTargets() & HWY_NEON) == 0;
#else
  return true;
#endif
}

// What a test asks for: none is a wish as well.
std::atomic<bool> is_asked = false;
std::atomic<const PairUnit*> asked_unit = nullptr;

}  // namespace

std::span<const PairUnit* const> pair_units() {
#if defined(__x86_64__)
  static const PairUnit* const kUnits[] = {&amx_unit(), &avx512_unit(), &kPlainAmx, &kPlainAvx512,
                                           &kPlainNeon};
#elif defined(__aarch64__)
  static const PairUnit* const kUnits[] = {&neon_unit(), &kPlainAmx, &kPlainAvx512, &kPlainNeon};
#else
  static const PairUnit* const kUnits[] = {&kPlainAmx, &kPlainAvx512, &kPlainNeon};
#endif
  return kUnits;
}

std::string why_not(const PairUnit& unit) {
#if defined(__x86_64__)
  if (&unit == &amx_unit()) return why_no_amx();
  if (&unit == &avx512_unit()) return why_no_avx512();
#elif defined(__aarch64__)
  if (&unit == &neon_unit()) return why_no_neon();
#endif
  check(is_plain(unit), "a unit is one of pair_units()");
  return {};
}

const PairUnit* pair_unit_named(std::string_view name) {
  if (name == "none") return nullptr;
  std::string names = "none";
  for (const PairUnit* unit : pair_units()) {
    names += fmt::format(", {}", unit->name);
    const auto reason = why_not(*unit);
    if (name.empty() && !is_plain(*unit) && reason.empty()) return unit;
    if (unit->name != name) continue;
    if (!reason.empty()) fail("ASSAY_BF16_UNIT: {}, got '{}'", reason, name);
    return unit;
  }
  if (name.empty()) return nullptr;
  fail("ASSAY_BF16_UNIT: expected one of {}, got '{}'", names, name);
}

const PairUnit* pair_unit() {
  if (is_asked) return asked_unit;
  static const PairUnit* const kUnit = [] {
    const char* name = std::getenv("ASSAY_BF16_UNIT");  // NOLINT(concurrency-mt-unsafe)
    return pair_unit_named(name == nullptr ? "" : name);
  }();
  return is_held_back() ? nullptr : kUnit;
}

OnlyPairUnit::OnlyPairUnit(const PairUnit* unit) {
  asked_unit = unit;
  is_asked = true;
}
OnlyPairUnit::~OnlyPairUnit() { is_asked = false; }

}  // namespace assay::kernels
