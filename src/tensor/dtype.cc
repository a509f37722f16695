// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/dtype.h"

#include <array>
#include <string>

namespace assay {
namespace {

struct Traits {
  std::string_view name;
  std::size_t size;
  std::size_t alignment;
};

template <typename T>
constexpr Traits traits(std::string_view name) {
  return {name, sizeof(T), alignof(T)};
}

// In the order of the enumerators.
constexpr std::array kTraits = {
    traits<bool>("bool"),
    traits<std::uint8_t>("u8"),
    traits<std::int8_t>("i8"),
    traits<std::uint16_t>("u16"),
    traits<std::int16_t>("i16"),
    traits<std::uint32_t>("u32"),
    traits<std::int32_t>("i32"),
    traits<std::uint64_t>("u64"),
    traits<std::int64_t>("i64"),
    traits<Half>("f16"),
    traits<BFloat16>("bf16"),
    traits<float>("f32"),
    traits<double>("f64"),
    traits<std::complex<float>>("c64"),
    traits<std::complex<double>>("c128"),
};
static_assert(kTraits.size() == static_cast<std::size_t>(DType::kC128) + 1);
static_assert(sizeof(bool) == 1 && sizeof(Half) == 2 && sizeof(BFloat16) == 2);

const Traits& traits_of(DType dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  check(index < kTraits.size(), "a DType is one of its enumerators");
  return kTraits[index];
}

}  // namespace

std::size_t size_of(DType dtype) { return traits_of(dtype).size; }

std::size_t alignment_of(DType dtype) { return traits_of(dtype).alignment; }

std::string_view name_of(DType dtype) { return traits_of(dtype).name; }

DType dtype_from_name(std::string_view name, std::string_view what) {
  std::string known;
  for (std::size_t i = 0; i < kTraits.size(); ++i) {
    if (kTraits[i].name == name) return static_cast<DType>(i);
    known.append(i == 0 ? "" : ", ").append(kTraits[i].name);
  }
  fail("{}: expected a dtype ({}), got '{}'", what, known, name);
}

bool is_complex(DType dtype) { return dtype == DType::kC64 || dtype == DType::kC128; }

bool is_floating(DType dtype) { return dtype >= DType::kF16 && dtype <= DType::kF64; }

bool is_integer(DType dtype) { return dtype >= DType::kU8 && dtype <= DType::kI64; }

}  // namespace assay
