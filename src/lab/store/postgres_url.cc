// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/postgres_url.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"

namespace assay::lab {
namespace {

constexpr std::string_view kAfterScheme = "://";
// Parameters that are shown.
constexpr auto kShownParameters = std::to_array<std::string_view>(
    {"host", "hostaddr", "port", "dbname", "user", "sslmode", "application_name"});
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

struct Parameter {
  std::string_view name, value;
};

// The parts as PostgreSQL's library cuts them.
struct UrlParts {
  std::string_view scheme, user, password, hosts, database;
  std::vector<Parameter> parameters;
};

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

// None where the library would stumble.
std::optional<UrlParts> parts_of(std::string_view url) {
  UrlParts parts;
  const auto scheme = url.find(kAfterScheme);
  if (scheme == std::string_view::npos || !escapes_are_whole(url)) return std::nullopt;
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
    if (value.empty() || std::ranges::find(kKnownParameters, name) == kKnownParameters.end())
      return std::nullopt;
    parts.parameters.push_back({name, value.substr(1)});
    if (parts.parameters.back().value.find('=') != std::string_view::npos) return std::nullopt;
  }
  return parts;
}

// By how they are shown.
std::map<std::string, std::string>& typed_urls() {
  static std::map<std::string, std::string> urls;
  return urls;
}

}  // namespace

bool is_postgres_url(std::string_view text) {
  return text.starts_with("postgresql://") || text.starts_with("postgres://");
}

std::string without_password(std::string_view text) {
  const auto scheme = text.find(kAfterScheme);
  if (scheme == std::string_view::npos) return std::string(text);
  const auto parts = is_postgres_url(text) ? parts_of(text) : std::nullopt;
  if (!parts) {
    // A URL of another kind has nothing to hide where it has no user and no parameters.
    const bool plain =
        !is_postgres_url(text) && text.find_first_of("@?", scheme) == std::string_view::npos;
    return plain ? std::string(text) : fmt::format("{}…", text.substr(0, scheme + 3));
  }
  auto shown = std::string(parts->scheme);
  if (!parts->user.empty()) shown.append(parts->user).append("@");
  shown.append(parts->hosts);
  if (!parts->database.empty()) shown.append("/").append(parts->database);
  char before = '?';
  for (const auto& [name, value] : parts->parameters) {
    if (std::ranges::find(kShownParameters, name) == kShownParameters.end()) continue;
    shown.append(1, before).append(name).append("=").append(value);
    before = '&';
  }
  return shown;
}

void check_postgres_url(const std::string& url) {
  if (!parts_of(url)) {
    fail(
        "the store's URL is not postgresql://USER@HOST:PORT/DATABASE?PARAMETER=VALUE as PostgreSQL "
        "reads it (in a password, write % / : ? # [ ] @ & = as %25 %2F %3A …); it is not shown, as "
        "it may hold one: '{}'",
        without_password(url));
  }
}

std::string connection_url(const std::string& url) {
  const auto parts = parts_of(url);
  check(parts.has_value(), "the URL was checked");
  auto whole = url;
  const auto add = [&](std::string_view name, std::string_view value) {
    if (std::ranges::find(parts->parameters, name, &Parameter::name) != parts->parameters.end()) {
      return;
    }
    const auto last = whole.back();
    if (last != '?' && last != '&') whole += parts->parameters.empty() && whole == url ? '?' : '&';
    whole.append(name).append("=").append(value);
  };
  add("application_name", "assay");
  add("connect_timeout", "10");
  if (parts->password.empty()) add("password", "");
  return whole;
}

void take_passwords(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto begin = word.find("postgre");  // a mistyped scheme has a password as well
    if (begin == std::string_view::npos) continue;
    const std::string url(word.substr(begin));
    auto shown = without_password(url);
    if (shown == url) continue;
    if (shown.size() > url.size()) shown.resize(url.size());  // "…" is three bytes
    typed_urls()[shown] = url;
    const auto place = std::span(argv[i], word.size()).subspan(begin);
    std::ranges::fill(place, '\0');
    std::ranges::copy(shown, place.begin());
  }
}

std::string with_password(const std::string& url) {
  const auto typed = typed_urls().find(url);
  return typed == typed_urls().end() ? url : typed->second;
}

}  // namespace assay::lab
