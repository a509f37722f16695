// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// JSON of files whose values would take many times their own size in memory. What parse_json()
// refuses is refused here in the same words; `what` names the text in the error.

#include <functional>
#include <span>
#include <string_view>

#include "base/json.h"
#include "base/text_pieces.h"

namespace assay {

// The whole value.
Json read_json(const TextPieces& text, std::string_view what);

// The value with only the first element of every array: enough to tell one kind of file from
// another, and to know that all of it is JSON.
Json sketch_json(const TextPieces& text, std::string_view what);

// Calls `use` for each element of an array, in order, and returns the value without them: that
// array is empty in it. The array is the member path[0] of the value; with a longer path, every
// array that is the member path[1] of one of its elements, and so on. `index` counts the elements
// of the first array: with a longer path, the one in which this element lies. A member that is no
// array is left as it is.
Json for_each_element(const TextPieces& text, std::string_view what,
                      std::span<const std::string_view> path,
                      const std::function<void(std::size_t index, const Json& element)>& use);

// The two refusals that parsing without them shares.
void check_depth(const TextPieces& text, std::string_view what);
[[noreturn]] void fail_to_parse(const Json::exception& error, std::string_view what);

}  // namespace assay
