// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/password.h"

#include <algorithm>
#include <cctype>

namespace assay {
namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::string_view kHidden = "…";

bool is_word(unsigned char c) { return std::isalnum(c) != 0 || c == '_'; }
bool is_space(unsigned char c) { return std::isspace(c) != 0; }

std::string lower(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return std::tolower(c); });
  return small;
}

}  // namespace

std::string_view name_before(std::string_view text, std::size_t equals) {
  auto end = equals;
  while (end > 0 && is_space(static_cast<unsigned char>(text[end - 1]))) --end;
  auto begin = end;
  while (begin > 0 && is_word(static_cast<unsigned char>(text[begin - 1]))) --begin;
  return text.substr(begin, end - begin);
}

bool is_called_like(std::string_view name, std::span<const std::string_view> parts) {
  const auto small = lower(name);
  return std::ranges::any_of(parts, [&](auto part) { return small.find(part) != small.npos; });
}

bool gives_value_to(std::string_view text, std::span<const std::string_view> parts) {
  for (auto at = text.find('='); at != npos; at = text.find('=', at + 1)) {
    if (is_called_like(name_before(text, at), parts)) return true;
  }
  return false;
}

bool is_shell_variable(std::string_view value) {
  if (value.starts_with('"')) value.remove_prefix(1);
  if (value.starts_with('`') || value.starts_with("$(")) return true;
  if (!value.starts_with('$') || value.size() < 2) return false;
  if (is_word(value[1])) return true;
  const auto end = value.find('}');
  return value[1] == '{' && end != npos && std::ranges::all_of(value.substr(2, end - 2), is_word);
}

bool is_password_name(std::string_view name) {
  const auto small = lower(name);
  return small.ends_with("password") || small.ends_with("passwd") || small.ends_with("passphrase");
}

bool has_password(std::string_view address) {
  const auto user = address.substr(0, std::min(address.find_first_of("@/?#"), address.size()));
  const auto colon = user.find(':');
  const bool ends_well = user.size() < address.size() && address[user.size()] == '@';
  return ends_well && colon != npos && !is_shell_variable(user.substr(colon + 1));
}

namespace {

// What a mistyped address has: a user, a colon, and all up to the last '@'; "12:30@n1" is hidden
// with them. A path from the root begins with no user.
std::string without_bare_password(std::string_view word) {
  const auto name = word.rfind('=', word.find(':')) + 1;  // npos + 1 = 0
  const auto colon = word.find(':', name), at = word.rfind('@');
  const bool is_bare = at != npos && colon < at && colon + 1 < at && at + 1 < word.size();
  if (!is_bare || word.starts_with('/') || word.find("://") != npos ||
      is_shell_variable(word.substr(colon + 1))) {
    return std::string(word);
  }
  return std::string(word.substr(0, colon + 1)).append(kHidden).append(word.substr(at));
}

std::string without_bare_passwords(std::string_view message) {
  constexpr std::string_view kBetween = " \t'\"";
  std::string shown;
  while (!message.empty()) {
    const auto word = message.substr(0, message.find_first_of(kBetween));
    shown += without_bare_password(word);
    message.remove_prefix(word.size());
    const auto next = std::min(message.find_first_not_of(kBetween), message.size());
    shown += message.substr(0, next);
    message.remove_prefix(next);
  }
  return shown;
}

}  // namespace

std::string without_passwords(std::string_view message) {
  std::string shown;
  while (!message.empty()) {
    const auto address = message.find("://"), equals = message.find('=');
    const auto next = std::min(address, equals);
    if (next == npos) break;
    const auto begin = next + (next == address ? 3 : 1);
    shown += message.substr(0, begin);
    const auto word = message.substr(begin, message.find_first_of(" \t'\"", begin) - begin);
    std::size_t hidden_from = 0, hidden_to = 0;
    if (next == address && has_password(word)) {
      hidden_from = word.find(':') + 1;
      hidden_to = word.find('@');
    } else if (next == equals && is_password_name(name_before(message, equals))) {
      hidden_to = word.size();
    }
    if (hidden_to > hidden_from) {
      shown.append(word.substr(0, hidden_from)).append(kHidden);
      message.remove_prefix(begin + hidden_to);
    } else {
      message.remove_prefix(begin);
    }
  }
  return without_bare_passwords(shown.append(message));
}

}  // namespace assay
