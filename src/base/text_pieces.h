// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace assay {

// A text too large to be held, as often as one likes: the piece of it that begins at this offset,
// of any size, valid until the next call. Empty exactly at the end.
using TextPieces = std::function<std::string_view(std::size_t offset)>;

// Of a text that is held, and must outlive them.
inline TextPieces pieces_of(std::string_view text) {
  return [text](std::size_t offset) { return text.substr(offset); };
}

}  // namespace assay
