// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/json_fwd.h"

// Parsing and dumping instantiate megabytes of templates: both are compiled once, in json.cc.
extern template class nlohmann::basic_json<>;

namespace assay {

// Parses one JSON value. Refuses what the library would let pass: repeated keys, nesting deeper
// than 200 levels, text after the value. `what` names the text in the error ("point", a path).
// Throws UserError.
Json parse_json(std::string_view text, std::string_view what);
// The same for text that a program wrote and a checksum covers: repeated keys are not looked for,
// which halves the time.
Json parse_checked_json(std::string_view text, std::string_view what);

// Reads and parses a whole file. Throws UserError that names the path.
Json read_json_file(const std::string& path);

// The canonical form: keys sorted, no spaces, shortest digits that read back to the same double,
// UTF-8 as it is (invalid bytes become U+FFFD). Equal values have equal text, so it can be hashed.
std::string canonical_json(const Json& value);

// The same value, indented for people.
std::string pretty_json(const Json& value);

// JSON has no NaN and no infinities: in our files they are the strings "nan", "inf" and "-inf".
Json number_to_json(double value);
// Inverse of number_to_json; also takes integers. Throws UserError naming `what` otherwise.
double number_from_json(const Json& value, std::string_view what);

// The member `key` of `object`, of the type T asked for. Throws UserError naming `what` and the key
// when the member is missing or of another type.
template <typename T>
T json_field(const Json& object, std::string_view key, std::string_view what);
extern template std::string json_field<std::string>(const Json&, std::string_view,
                                                    std::string_view);
extern template double json_field<double>(const Json&, std::string_view, std::string_view);
extern template std::int64_t json_field<std::int64_t>(const Json&, std::string_view,
                                                      std::string_view);
extern template bool json_field<bool>(const Json&, std::string_view, std::string_view);
extern template Json json_field<Json>(const Json&, std::string_view, std::string_view);

}  // namespace assay
