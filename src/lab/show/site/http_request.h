// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The head of an HTTP/1.1 request, as far as a page server must understand it. Strict: what could
// mean one thing to us and another to whoever stands between is refused.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace assay::lab {

inline constexpr std::size_t kLargestRequestLine = 8 << 10, kLargestRequestHead = 16 << 10;

struct HttpRequest {
  int refused = 0;  // 400, 413, 414, 431, 505: answer that and close; the rest is then empty
  std::string method, path;   // the path without what follows a question mark
  std::string host;           // of the one Host header; empty where HTTP/1.0 has none
  std::string if_none_match;  // empty: none
  bool keep_alive = true;
  std::size_t size = 0;  // bytes of the head
};

// Of what was received so far; nothing while the head is not complete.
std::optional<HttpRequest> parse_http_request(std::string_view received);

}  // namespace assay::lab
