// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A line of a file that grows while a process may be killed: CHECKSUM<space>JSON<newline>, the
// CRC-32C of the canonical JSON in eight hex digits. What was torn or changed is known by it.

#include <optional>
#include <string>
#include <string_view>

#include "base/json_fwd.h"

namespace assay {

// With the newline.
std::string checked_line(const Json& value);
// Of a line without its newline; nothing where its bytes are not the ones that were written.
// `what` names the text in errors of what JSON does not allow. Throws UserError.
std::optional<Json> read_checked_line(std::string_view line, std::string_view what);

}  // namespace assay
