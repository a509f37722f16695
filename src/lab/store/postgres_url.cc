// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/postgres_url.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/error.h"
#include "lab/store/shown_source.h"

namespace assay::lab {
namespace {

constexpr std::string_view kAfterScheme = "://";
// Parameters that PostgreSQL's library knows (those of version 15 and the newer ones that matter).
constexpr auto kKnownParameters = std::to_array<std::string_view>({
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "passfile",
    "channel_binding",
    "connect_timeout",
    "client_encoding",
    "options",
    "application_name",
    "fallback_application_name",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_count",
    "tcp_user_timeout",
    "gssencmode",
    "krbsrvname",
    "gsslib",
    "sslmode",
    "ssl",
    "sslcompression",
    "sslcert",
    "sslkey",
    "sslpassword",
    "sslrootcert",
    "sslcrl",
    "sslcrldir",
    "sslsni",
    "requirepeer",
    "ssl_min_protocol_version",
    "ssl_max_protocol_version",
    "target_session_attrs",
    "load_balance_hosts",
});

// Takes from `rest` what stands before the first of `ends`.
std::string_view cut_before(std::string_view& rest, std::string_view ends) {
  const auto end = std::min(rest.find_first_of(ends), rest.size());
  const auto part = rest.substr(0, end);
  rest.remove_prefix(end);
  return part;
}

bool escapes_are_whole(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto hex = [&](std::size_t at) {
      return at < text.size() && std::isxdigit(static_cast<unsigned char>(text[at])) != 0;
    };
    if (text[i] == '%' && !(hex(i + 1) && hex(i + 2) && text.substr(i, 3) != "%00")) return false;
  }
  return true;
}

// A host, several of them with commas, each with a port or without; [::1] is one.
bool hosts_are_sound(std::string_view hosts) {
  if (hosts.find('@') != std::string_view::npos) return false;
  while (!hosts.empty()) {
    auto host = cut_before(hosts, ",");
    if (!hosts.empty()) hosts.remove_prefix(1);
    if (host.starts_with('[')) {
      const auto end = host.find(']');
      if (end == std::string_view::npos) return false;
      host.remove_prefix(end + 1);
      if (!host.empty() && host.front() != ':') return false;
    } else {
      cut_before(host, ":");
    }
    if (!host.empty()) host.remove_prefix(1);  // the colon
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    if (host.size() > 5 || !std::ranges::all_of(host, digit)) return false;
  }
  return true;
}

}  // namespace

bool is_postgres_url(std::string_view text) {
  return text.starts_with("postgresql://") || text.starts_with("postgres://");
}

bool is_postgres_parameter(std::string_view name) {
  return std::ranges::find(kKnownParameters, name) != kKnownParameters.end();
}

std::optional<PostgresUrl> parse_postgres_url(std::string_view url) {
  PostgresUrl parts;
  const auto scheme = url.find(kAfterScheme);
  if (!is_postgres_url(url) || !escapes_are_whole(url)) return std::nullopt;
  parts.scheme = url.substr(0, scheme + kAfterScheme.size());
  auto rest = url.substr(parts.scheme.size());
  if (const auto at = rest.find_first_of("@/"); at != std::string_view::npos && rest[at] == '@') {
    auto credentials = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    parts.user = cut_before(credentials, ":");
    if (!credentials.empty()) parts.password = credentials.substr(1);
  }
  parts.hosts = cut_before(rest, "/?");
  if (!hosts_are_sound(parts.hosts)) return std::nullopt;
  if (rest.starts_with('/')) {
    rest.remove_prefix(1);
    parts.database = cut_before(rest, "?");
    if (parts.database.find_first_of("@/:") != std::string_view::npos) return std::nullopt;
  }
  if (!rest.empty()) rest.remove_prefix(1);  // the question mark
  while (!rest.empty()) {
    auto value = cut_before(rest, "&");
    if (!rest.empty()) rest.remove_prefix(1);
    const auto name = cut_before(value, "=");
    if (value.empty() || !is_postgres_parameter(name)) return std::nullopt;
    parts.parameters.push_back({name, value.substr(1)});
    if (parts.parameters.back().value.find('=') != std::string_view::npos) return std::nullopt;
  }
  return parts;
}

void check_postgres_url(const std::string& url) {
  // What is not shown whole might be quoted by the library: a user of "u%3Apassword", a host of
  // "password%40host".
  if (!parse_postgres_url(url) || shown_source(url).ends_with("…")) {
    fail(
        "the store's URL is not postgresql://USER@HOST:PORT/DATABASE?PARAMETER=VALUE as PostgreSQL "
        "reads it (in a password, write % / : ? # [ ] @ & = as %25 %2F %3A …); it is not shown, as "
        "it may hold one: '{}'",
        shown_source(url));
  }
}

std::string connection_url(const std::string& url) {
  const auto parts = parse_postgres_url(url);
  check(parts.has_value(), "the URL was checked");
  auto whole = url;
  const auto add = [&](std::string_view name, std::string_view value) {
    if (std::ranges::find(parts->parameters, name, &PostgresUrl::Parameter::name) !=
        parts->parameters.end()) {
      return;
    }
    const auto last = whole.back();
    if (last != '?' && last != '&') whole += parts->parameters.empty() && whole == url ? '?' : '&';
    whole.append(name).append("=").append(value);
  };
  add("application_name", "assay");
  add("connect_timeout", "10");
  // A server that is gone without a word is lost after a minute, not after hours.
  add("keepalives_idle", "30");
  add("keepalives_interval", "10");
  add("keepalives_count", "3");
  add("tcp_user_timeout", "60000");
  if (parts->password.empty()) add("password", "");
  return whole;
}

}  // namespace assay::lab
