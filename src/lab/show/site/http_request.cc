// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/http_request.h"

#include <algorithm>
#include <cctype>

namespace assay::lab {
namespace {

HttpRequest refused(int status) {
  HttpRequest request;
  request.refused = status;
  request.keep_alive = false;
  return request;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

// Visible, and what belongs to no header: a tab or a blank inside.
bool is_field_text(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

// METHOD SP target SP HTTP/1.x
bool read_request_line(std::string_view line, HttpRequest& request, int& minor) {
  const auto first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return false;
  request.method = line.substr(0, first);
  const auto target = line.substr(first + 1, last - first - 1), version = line.substr(last + 1);
  const bool visible =
      std::ranges::all_of(target, [](char c) { return c > 0x20 && c < 0x7f && c != '#'; });
  if (!is_token(request.method) || target.empty() || !visible) return false;
  request.path = target.substr(0, target.find('?'));
  if (version.size() != 8 || !version.starts_with("HTTP/")) return false;
  minor = version == "HTTP/1.1" ? 1 : version == "HTTP/1.0" ? 0 : -1;
  return true;
}

struct Headers {
  int hosts = 0;
  bool body = false;
};

bool read_header(std::string_view line, HttpRequest& request, Headers& seen) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return false;
  const auto name = lower_case(line.substr(0, colon));
  const auto value = trimmed(line.substr(colon + 1));
  if (!is_field_text(value)) return false;
  if (name == "host") {
    ++seen.hosts;
    request.host = value;
  } else if (name == "if-none-match") {
    request.if_none_match = value;
  } else if (name == "connection") {
    if (lower_case(value).find("close") != std::string::npos) request.keep_alive = false;
  } else if (name == "transfer-encoding" || (name == "content-length" && value != "0")) {
    seen.body = true;
  }
  return true;
}

}  // namespace

std::optional<HttpRequest> parse_http_request(std::string_view received) {
  std::size_t begin = 0;  // an empty line before a request is left over from the one before
  while (received.substr(begin).starts_with("\r\n")) begin += 2;
  const auto text = received.substr(begin);
  const auto end = text.find("\r\n\r\n");
  const auto head = text.substr(0, end == std::string_view::npos ? text.size() : end + 2);
  if (head.find("\r\n") > kLargestRequestLine && head.size() > kLargestRequestLine)
    return refused(414);
  if (begin + head.size() > kLargestRequestHead) return refused(431);
  for (std::size_t i = 0; i < head.size(); ++i) {  // no line ends in one of them alone
    if (head[i] == '\n' && (i == 0 || head[i - 1] != '\r')) return refused(400);
    if (head[i] == '\r' && i + 1 < head.size() && head[i + 1] != '\n') return refused(400);
  }
  if (end == std::string_view::npos) return std::nullopt;

  HttpRequest request;
  Headers seen;
  int minor = 1;
  bool first = true;
  for (std::size_t at = 0; at < head.size();) {
    const auto stop = head.find("\r\n", at);
    const auto line = head.substr(at, stop - at);
    at = stop + 2;
    if (!(first ? read_request_line(line, request, minor) : read_header(line, request, seen))) {
      return refused(400);
    }
    first = false;
  }
  if (minor < 0) return refused(505);
  if (seen.hosts > 1 || (minor == 1 && seen.hosts == 0)) return refused(400);
  if (minor == 0) request.keep_alive = false;
  if (seen.body) {  // which nothing here takes: what follows the head is no request
    if (request.method == "GET" || request.method == "HEAD") return refused(413);
    request.keep_alive = false;
  }
  request.size = begin + end + 4;
  return request;
}

}  // namespace assay::lab
