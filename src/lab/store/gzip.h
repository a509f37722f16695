// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace assay::lab {

// Whether the bytes begin as those of gzip do.
bool is_gzip(std::string_view bytes);

// What was compressed by gzip, several members one after the other included. Throws UserError that
// names `what` where the bytes are damaged or end too soon, and where they hide
// more than any journal would: over 64 MiB at more than 250 times their own size.
std::string gunzip(std::string_view bytes, std::string_view what);

}  // namespace assay::lab
