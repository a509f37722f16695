// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/json_order.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>

#include "base/json.h"

namespace assay {

std::weak_ordering json_order(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    // All of 64 bits, whole or not.
    static_assert(std::numeric_limits<long double>::digits >= 64);
    const auto number = [](const Json& x) -> long double {
      if (x.is_number_unsigned()) return static_cast<long double>(x.get<std::uint64_t>());
      if (x.is_number_integer()) return static_cast<long double>(x.get<std::int64_t>());
      return x.get<double>();
    };
    return std::weak_order(number(a), number(b));
  }
  using Type = Json::value_t;
  const auto kind = [](const Json& x) {
    constexpr Type kInOrder[] = {Type::null, Type::boolean, Type::number_float, Type::object,
                                 Type::array};
    const auto type = x.is_number() ? Type::number_float : x.type();
    return std::ranges::find(kInOrder, type) - std::begin(kInOrder);
  };
  if (kind(a) != kind(b)) return kind(a) <=> kind(b);
  if (a.is_object()) {
    auto at = b.begin();
    for (const auto& [key, value] : a.items()) {
      if (at == b.end()) return std::weak_ordering::greater;
      if (const auto order = key <=> at.key(); order != 0) return order;
      if (const auto order = json_order(value, *at++); order != 0) return order;
    }
    return at == b.end() ? std::weak_ordering::equivalent : std::weak_ordering::less;
  }
  if (a.is_array())
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end(),
                                                  json_order);
  if (a.is_string()) return a.get_ref<const std::string&>() <=> b.get_ref<const std::string&>();
  if (a.is_boolean()) return a.get<bool>() <=> b.get<bool>();
  return std::weak_ordering::equivalent;
}

}  // namespace assay
