// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/case.h"

#include <algorithm>

#include "base/error.h"

namespace assay::lab {

std::string_view origin_name(Origin origin) {
  switch (origin) {
    case Origin::kMeasured:
      return "measured";
    case Origin::kSimulated:
      return "simulated";
    case Origin::kClosedForm:
      return "closed form";
  }
  throw InternalError("origin is one of three");
}

void CaseRegistry::add(std::unique_ptr<Case> c) {
  const auto providers = c->providers();
  const auto is_baseline = [&](const Provider& p) { return p.id == c->baseline(); };
  check(std::ranges::any_of(providers, is_baseline), "a case's baseline is one of its providers");
  check(std::ranges::none_of(cases_, [&](const auto& other) { return other->name() == c->name(); }),
        "case names are unique");
  cases_.push_back(std::move(c));
}

const Case& CaseRegistry::find(std::string_view name) const {
  std::string names;
  for (const auto& c : cases_) {
    if (c->name() == name) return *c;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", c->name());
  }
  fail("unknown case (known: {}): '{}'", names, name);
}

Philox input_stream(std::int64_t seed, std::string_view input, int set) {
  check(input.size() <= 7, "the name of an input has at most seven characters");
  return Philox(static_cast<std::uint64_t>(seed),
                stream_key(input) | static_cast<std::uint64_t>(set) << 56);
}

}  // namespace assay::lab
