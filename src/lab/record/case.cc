// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/case.h"

#include <algorithm>

#include "base/error.h"
#include "base/names.h"

namespace assay::lab {

constexpr auto kOriginNames = make_names<Origin>({{Origin::kMeasured, "measured"},
                                                  {Origin::kSimulated, "simulated"},
                                                  {Origin::kClosedForm, "closed form"}});

std::string_view origin_name(Origin origin) { return kOriginNames[origin]; }

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

void CaseRegistry::add_side(std::string label, std::unique_ptr<Case> c) {
  check(of_side(label, c->name()) == nullptr, "a side has a case once");
  sides_.emplace_back(std::move(label), std::move(c));
}

const Case* CaseRegistry::of_side(std::string_view label, std::string_view name) const {
  for (const auto& [of, c] : sides_) {
    if (of == label && c->name() == name) return c.get();
  }
  return nullptr;
}

Philox input_stream(std::int64_t seed, std::string_view input, int set) {
  check(input.size() <= 7, "the name of an input has at most seven characters");
  return Philox(static_cast<std::uint64_t>(seed),
                stream_key(input) | static_cast<std::uint64_t>(set) << 56);
}

}  // namespace assay::lab
