// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Facts of another tool's file that may or may not be there: whatever is absent, null or of another
// type is "not known", never an error.

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace assay::lab {

// A member without a copy of it: files may be large. Throws UserError naming `what` and the key.
const Json& member(const Json& object, const char* key, std::string_view what);
// The same where it may be absent.
const Json& member_or_null(const Json& object, const char* key);

// A path such as "noise/before/load" through nested objects.
std::optional<std::string> text_at(const Json& object, std::string_view path);
// The value itself, or null.
Json value_at(const Json& object, std::string_view path);

}  // namespace assay::lab
