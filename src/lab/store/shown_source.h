// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What may be shown of the texts that name sources. All of ours that prints one takes it from here:
// a URL of PostgreSQL's may hold a password, and so may one that was mistyped, or text as psql
// takes it ("host=h password=…").

#include <string>
#include <string_view>

namespace assay::lab {

// A text that is meant as a source, as it may be shown:
// - as it is, where it has no place for a password: a path, "sqlite:…", another word;
// - of a URL that PostgreSQL understands: user, hosts, database and harmless parameters;
// - of text as psql takes it: the same, as it has them;
// - of all else what stands before "://" or the like, and "…": nobody knows which part of it was
//   meant as a password.
// What is shown is shown again as it is.
std::string shown_source(std::string_view text);

// Whether such a text, shown otherwise than it is, is certainly an address. What only might be one
// (u:x@h) may also be a label, an expression, a command.
bool is_address(std::string_view text);

// Whether a command line of somebody else's program has an address with a password in it, or gives
// a value to what is called password; not where a variable of the shell's stands for the value.
bool command_has_password(std::string_view command);

}  // namespace assay::lab
