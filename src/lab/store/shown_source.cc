// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/shown_source.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>
#include <utility>

#include "base/password.h"
#include "lab/store/postgres_url.h"

namespace assay::lab {
namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::string_view kSpace = " \t\r\n\f\v";
constexpr std::string_view kHidden = "…";
// Parameters that are shown, where nothing but a name is their value.
constexpr auto kShownParameters = std::to_array<std::string_view>(
    {"host", "hostaddr", "port", "dbname", "user", "sslmode", "application_name"});

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string lower(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return std::tolower(c); });
  return small;
}

// Escapes undone, those of escapes as well; half a one stays.
std::string decoded(std::string_view text) {
  std::string plain(text);
  for (bool changed = true; std::exchange(changed, false);) {
    std::string next;
    for (std::size_t i = 0; i < plain.size(); ++i) {
      int value = 0;
      const auto digits = std::string_view(plain).substr(i + 1, 2);
      const bool is_escape =
          plain[i] == '%' && digits.size() == 2 &&
          std::ranges::all_of(digits, [](unsigned char c) { return std::isxdigit(c) != 0; });
      if (is_escape) value = std::stoi(std::string(digits), nullptr, 16);
      next += is_escape ? static_cast<char>(value) : plain[i];
      if (is_escape) i += 2;
      changed = changed || is_escape;
    }
    plain = std::move(next);
  }
  return plain;
}

// Of pages these open doors, too.
constexpr auto kKeys = std::to_array<std::string_view>({"key", "auth", "sig", "cred"});

bool is_like_postgres(std::string_view scheme) {
  const auto small = lower(scheme.substr(0, scheme.find_first_of(":/%")));
  return small.starts_with("postg") || small.starts_with("pgs") || small.starts_with("psql") ||
         small == "pg" || small == "pq";
}

// The letters of a scheme and what stands between them and the rest: "postgresql://", "pg:/",
// "postgresql//"; a colon alone where the letters are PostgreSQL's.
std::string_view scheme_of(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return {};
  std::size_t end = 0;
  while (end < text.size() &&
         (is_word(text[end]) || text[end] == '+' || text[end] == '.' || text[end] == '-')) {
    ++end;
  }
  const auto letters = text.substr(0, end);
  auto rest = end;
  while (rest < text.size() && (text[rest] == ':' || text[rest] == '/')) ++rest;
  const auto between = text.substr(end, rest - end);
  const bool is_scheme =
      between.starts_with("//") || between.starts_with(":/") ||
      (is_like_postgres(letters) && (between == ":" || text.substr(end).starts_with("%")));
  return is_scheme ? text.substr(0, rest) : std::string_view();
}

// Text as psql takes it: names and values in pairs, a value in quotes or without a space.
bool is_like_pairs(std::string_view text) {
  const auto first = text.find('=');
  if (first == npos) return false;
  const auto name = name_before(text, first);
  if (name.empty() ||
      text.find_first_not_of(kSpace) != static_cast<std::size_t>(name.data() - text.data())) {
    return false;
  }
  if (is_called_like(name, kPasswordNames) || is_postgres_parameter(name)) return true;
  const auto second = text.find('=', first + 1);
  if (second == npos) return false;
  const auto other = name_before(text, second);
  const auto before = static_cast<std::size_t>(other.data() - text.data());
  return !other.empty() && before > first && kSpace.find(text[before - 1]) != npos;
}

bool may_hold_password(std::string_view text) {
  const bool is_path = text.starts_with("sqlite:") && !text.starts_with("sqlite://");
  if (is_path) return false;
  const auto plain = decoded(text);
  const auto at = plain.rfind('@');
  if (at != npos && plain.find(':') < at - std::min<std::size_t>(at, 1)) return true;
  if (gives_value_to(plain) || is_like_pairs(plain)) return true;
  const auto scheme = scheme_of(plain);
  const auto parameters = plain.find('?');
  if (!scheme.empty() && parameters != npos) {
    const bool is_page = lower(scheme) == "http://" || lower(scheme) == "https://";
    return !is_page || gives_value_to(plain, kKeys);
  }
  return is_like_postgres(scheme);  // what follows may be anything
}

// A name and no more: nothing that an address or a list of parameters would need.
bool is_name(std::string_view text) { return decoded(text).find_first_of("@:=?;&#\\") == npos; }
// Some have an @ in theirs.
bool is_user(std::string_view text) { return decoded(text).find_first_of(":=?;&#\\") == npos; }

bool is_host(std::string_view text) {
  const auto plain = decoded(text);
  const bool is_number = plain.find_first_not_of("0123456789abcdefABCDEF:.[],") == npos;
  return is_number || is_name(text);
}

bool is_shown(std::string_view name) {
  return std::ranges::find(kShownParameters, name) != kShownParameters.end();
}

// None where a part may be more than it should be.
std::optional<std::string> shown_url(std::string_view text) {
  const auto url = parse_postgres_url(text);
  if (!url || !is_user(url->user) || !is_name(url->database)) return std::nullopt;
  const auto hosts = decoded(url->hosts);
  if (hosts.find_first_of("@=?;&#\\") != npos ||
      std::ranges::count(hosts, ':') != std::ranges::count(url->hosts, ':')) {
    return std::nullopt;
  }
  auto shown = std::string(url->scheme);
  if (!url->user.empty()) shown.append(url->user).append("@");
  shown.append(url->hosts);
  if (!url->database.empty()) shown.append("/").append(url->database);
  char before = '?';
  for (const auto& [name, value] : url->parameters) {
    if (!is_shown(name)) continue;
    if (!(name.starts_with("host") ? is_host(value) : is_name(value))) return std::nullopt;
    shown.append(1, before).append(name).append("=").append(value);
    before = '&';
  }
  return shown;
}

// None where it is not as psql takes it.
std::optional<std::string> shown_pairs(std::string_view text) {
  std::string shown;
  const auto skip = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  };
  for (skip(); !text.empty(); skip()) {
    const auto equals = text.find('=');
    if (equals == npos) return std::nullopt;
    const auto name = name_before(text, equals);
    if (name.empty() || name.data() != text.data()) return std::nullopt;
    text.remove_prefix(equals + 1);
    skip();
    const bool is_quoted = text.starts_with('\'');
    std::size_t end = is_quoted ? 1 : 0;
    while (end < text.size() && (is_quoted ? text[end] != '\'' : kSpace.find(text[end]) == npos)) {
      end += text[end] == '\\' ? 2 : 1;
    }
    if (end > text.size() || (is_quoted && end == text.size())) return std::nullopt;
    const auto value = text.substr(is_quoted ? 1 : 0, is_quoted ? end - 1 : end);
    text.remove_prefix(is_quoted ? end + 1 : end);
    if (!is_postgres_parameter(name)) return std::nullopt;
    if (!is_shown(name)) continue;
    if (!(name.starts_with("host") ? is_host(value) : is_name(value))) return std::nullopt;
    shown.append(shown.empty() ? "" : " ").append(name).append("=");
    is_quoted ? shown.append("'").append(value).append("'") : shown.append(value);
  }
  return shown.empty() ? std::nullopt : std::optional(shown);
}

}  // namespace

std::string shown_source(std::string_view text) {
  if (!may_hold_password(text)) return std::string(text);
  if (is_postgres_url(text)) {
    if (auto shown = shown_url(text)) return *shown;
  } else if (is_like_pairs(text)) {
    if (auto shown = shown_pairs(text)) return *shown;
  }
  return std::string(scheme_of(text)).append(kHidden);
}

bool is_address(std::string_view text) {
  return !scheme_of(text).empty() && shown_source(text) != text;
}

namespace {

bool sets_password(std::string_view command) {
  for (auto at = command.find('='); at != npos; at = command.find('=', at + 1)) {
    const auto value = command.substr(at + 1, command.find_first_of(" \t\r\n", at + 1) - at - 1);
    const bool is_empty = value.find_first_not_of("\"'") == npos;
    if (!is_empty && is_password_name(name_before(command, at)) && !is_shell_variable(value))
      return true;
  }
  return false;
}

}  // namespace

bool command_has_password(std::string_view command) {
  if (sets_password(command)) return true;
  for (auto at = command.find("://"); at != npos; at = command.find("://", at + 1)) {
    const auto rest = command.substr(at + 3);
    if (has_password(rest.substr(0, rest.find_first_of(" \t\r\n\"'")))) return true;
  }
  while (!command.empty()) {
    command.remove_prefix(
        std::min(command.find_first_not_of(" \t\r\n\"'=;|&<>()`"), command.size()));
    const auto word = command.substr(0, command.find_first_of(" \t\r\n\"'"));
    const auto scheme = scheme_of(word);
    command.remove_prefix(scheme.empty() ? std::min(word.find('='), word.size()) : word.size());
    if (scheme.empty()) continue;
    if (is_like_postgres(scheme) && gives_value_to(decoded(word))) return true;
    if (has_password(word.substr(scheme.size()))) return true;
  }
  return false;
}

}  // namespace assay::lab
