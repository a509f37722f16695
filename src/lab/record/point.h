// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace assay::lab {

// One parameter of a case: an integer in a range, one of a few words, or a text of its own.
struct Parameter {
  std::string name;
  std::string description;
  std::int64_t min = 0, max = 0;     // for integers
  std::vector<std::string> choices;  // not empty: a word
  // Not empty: the name of an integer parameter whose value this one takes when it is not given,
  // and whose equal it is not written (so that {"n":512} is the one spelling of a cube).
  std::string same_as;
  bool text = false;  // any short text; the case says what it means (Case::complete_point)
  // Above 0: a text that may be left out, which is then not written, and may be so long.
  std::size_t longest_if_given = 0;
};

// The parameters of a case, and what a valid point is.
class PointSchema {
 public:
  explicit PointSchema(std::vector<Parameter> parameters) : parameters_(std::move(parameters)) {}

  // Takes an object with some of the parameters, takes the others from `defaults` (a complete
  // point) and returns the canonical point. Throws UserError that names the key and the value.
  Json complete(const Json& given, const Json& defaults) const;
  // Checks a point that must be complete and returns its canonical form.
  Json complete(const Json& given) const { return complete(given, Json::object()); }

  const std::vector<Parameter>& parameters() const { return parameters_; }

 private:
  std::vector<Parameter> parameters_;
};

// The value of an integer parameter of a canonical point, `same_as` resolved by the caller's
// fallback: point_int(p, "m", "n") is p["m"], or p["n"] where m is not written.
std::int64_t point_int(const Json& point, std::string_view name, std::string_view fallback = {});
std::string point_word(const Json& point, std::string_view name);

// "n=512 algebra=log dtype=f32 seed=0": a point on one line, for people.
std::string point_label(const Json& point);

}  // namespace assay::lab
