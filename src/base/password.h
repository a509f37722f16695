// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What in a text may be a password: the value of something that is called like one.

#include <array>
#include <span>
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

}  // namespace assay
