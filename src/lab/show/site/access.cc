// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/access.h"

#include <arpa/inet.h>

#include <algorithm>
#include <string>

namespace assay::lab {
namespace {

bool is_ipv4(const std::string& text) {
  in_addr address{};
  return inet_pton(AF_INET, text.c_str(), &address) == 1;
}

bool is_ipv6(const std::string& text) {
  in6_addr address{};
  return inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

}  // namespace

bool is_loopback(std::string_view host) {
  const auto name = lower(host);
  return name == "localhost" || name == "::1" || (is_ipv4(name) && name.starts_with("127."));
}

bool host_allowed(std::string_view header, std::string_view listening_on, int port) {
  std::string name = lower(header);
  std::string at = "80";  // what a browser leaves out
  if (const auto colon = name.rfind(':');
      colon != std::string::npos && name.find(']', colon) == std::string::npos) {
    at = name.substr(colon + 1);
    name.resize(colon);
  }
  if (at != std::to_string(port)) return false;
  if (name.size() > 2 && name.front() == '[' && name.back() == ']') {
    return is_ipv6(name.substr(1, name.size() - 2));
  }
  return name == "localhost" || is_ipv4(name) || name == lower(listening_on);
}

}  // namespace assay::lab
