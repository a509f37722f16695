// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What in a text may be a password: the value of something that is called like one.

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace assay {

inline constexpr auto kPasswordNames =
    std::to_array<std::string_view>({"pas", "pw", "secret", "token"});

// The name that an equals sign at `equals` gives a value to.
std::string_view name_before(std::string_view text, std::size_t equals);

// Whether a name has one of these parts, in capitals or not.
bool is_called_like(std::string_view name, std::span<const std::string_view> parts);

// Whether the text gives a value to such a name: "host=h password=x".
bool gives_value_to(std::string_view text,
                    std::span<const std::string_view> parts = kPasswordNames);

// Names that in anybody's program mean a password: "passes" does not.
bool is_password_name(std::string_view name);

// Whether the shell puts something there when it runs a command: $X, ${X}, $(…), `…`. Not a text of
// the shell's own ($'x'), nor one that stands in for what is not set (${X:-x}).
bool is_shell_variable(std::string_view value);

// Of what follows a scheme and "//": "u:secret@h/db".
bool has_password(std::string_view address);

// A message that quotes what somebody typed, wherever that was: of addresses, with a scheme or
// without, without what stands between ':' and '@', of what is called password without its value.
std::string without_passwords(std::string_view message);

}  // namespace assay
