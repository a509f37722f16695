// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Passwords that were typed. The list of processes shows a program's arguments to everybody, and
// messages, pages and reports quote them: so a program knows its sources as they may be shown, from
// the first moment on, and only what opens a store asks how they were typed.

#include <span>
#include <string>
#include <string_view>

namespace assay::lab {

// Puts in place of every argument that names a source, or may name one, what may be shown of it:
// "URL", "--option=URL", "source:URL". Not of files that are there; and where the first argument is
// one of these commands, which know no sources, of what is certainly an address alone. To be called
// once, before anything else.
void take_passwords(int argc, char** argv, std::span<const std::string_view> without_sources = {});

// How a source was typed that is shown so. Throws UserError where two were typed that are shown
// alike.
std::string with_password(const std::string& shown);

// The same of an argument that names no source (a label, an expression, a path): as it was typed,
// unless that is certainly an address.
std::string as_typed(const std::string& shown);

}  // namespace assay::lab
