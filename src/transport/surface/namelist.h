// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Fortran's namelists, as far as input files use them.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::transport {

// One assignment: "name = value, value …" or "name(subscripts) = …". Names are in lower case.
struct NamelistItem {
  std::string name;
  std::string subscripts;                          // as written, without the parentheses
  std::vector<std::optional<std::string>> values;  // repeats (3*0.1) written out; nothing: no value
  int line = 1;
};

// The assignments of every group `group` in the order of the text: whoever applies them one after
// the other lets the last one win, as Fortran does. "&group" or "$group" begins one, "/", "&end" or
// "$end" ends it; "!" begins a comment. Other groups are passed over. Outside of groups stands
// whatever people write; assignments to `loose` with subscripts are taken from there too, once a
// group was read. Throws UserError naming `file`: no such group, one without its end, anything in
// it that is no assignment, a text with control characters.
std::vector<NamelistItem> read_namelists(std::string_view text, std::string_view group,
                                         std::string_view loose, const std::string& file);

// A Fortran number: 1.0, -.94228E-01, 2.5D+00, +3. Nothing if it is none.
std::optional<double> fortran_number(std::string_view text);
// A decimal integer that an int holds, sign allowed.
std::optional<int> fortran_integer(std::string_view text);
std::string to_lower(std::string_view text);

}  // namespace assay::transport
