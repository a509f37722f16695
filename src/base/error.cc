// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <system_error>

namespace assay {

InternalError::InternalError(std::string_view what, std::source_location at)
    : std::logic_error(
          fmt::format("internal error at {}:{}: {}", at.file_name(), at.line(), what)) {}

std::string errno_text(int code) { return std::generic_category().message(code); }

}  // namespace assay
