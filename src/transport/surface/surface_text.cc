// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/surface/surface_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/input_file.h"

namespace assay::transport {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (auto& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// A Fortran number: 1.0, -.94228E-01, 2.5D+00, +3. Nothing if it is none.
std::optional<double> fortran_number(std::string_view text) {
  std::string s = lower(text);
  std::ranges::replace(s, 'd', 'e');
  if (s.starts_with('+')) s.erase(0, 1);
  double value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error != std::errc() || end != s.data() + s.size()) return std::nullopt;
  return value;
}

std::optional<int> integer(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n,");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n,") - first + 1);
}

// The mean field must be there: everything is normalised by it.
void set_mean_field(Surface& s) {
  for (const auto& h : s.b) {
    if (h.m == 0 && h.n == 0) s.b0 = h.cosine;
  }
  if (!s.b0) fail("{}: no mean field: the mode (m, n) = (0, 0) is missing", s.name);
}

struct Assignment {
  std::string name;  // without the indices
  std::vector<int> index;
  std::string value;
};

// "name = value" and "name(i,j) = value", one after another, however they are broken into lines.
std::vector<Assignment> assignments(std::string_view text, const std::string& file) {
  std::vector<Assignment> found;
  std::size_t at = 0;
  while ((at = text.find('=', at)) != std::string_view::npos) {
    std::size_t end = at;
    while (end > 0 && std::isspace(static_cast<unsigned char>(text[end - 1]))) --end;
    std::size_t begin = end;
    if (end > 0 && text[end - 1] == ')') {
      begin = text.rfind('(', end - 1);
      if (begin == std::string_view::npos) fail("{}: a ')' without '('", file);
    }
    const std::size_t name_end = begin;
    while (begin > 0 &&
           (std::isalnum(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == '_')) {
      --begin;
    }
    Assignment a;
    a.name = lower(text.substr(begin, name_end - begin));
    std::string_view indices = text.substr(name_end, end - name_end);
    if (!indices.empty()) {
      indices = indices.substr(1, indices.size() - 2);
      while (true) {
        const auto comma = indices.find(',');
        const auto value = integer(trim(indices.substr(0, comma)));
        if (!value) fail("{}: {}: expected integer indices, got '({})'", file, a.name, indices);
        a.index.push_back(*value);
        if (comma == std::string_view::npos) break;
        indices.remove_prefix(comma + 1);
      }
    }
    // The value ends where the next thing begins.
    std::size_t from = at + 1;
    while (from < text.size() && std::isspace(static_cast<unsigned char>(text[from]))) ++from;
    const auto stop = text.find_first_of(" \t\r\n,/", from);
    a.value = text.substr(from, stop == std::string_view::npos ? stop : stop - from);
    found.push_back(std::move(a));
    ++at;
  }
  return found;
}

}  // namespace

Surface parse_dkes(std::string_view text, std::string name) {
  Surface s;
  s.name = std::move(name);
  if (lower(text).find("&datain") == std::string::npos) {
    fail("{}: no namelist '&datain'", s.name);
  }
  std::map<std::string, double> scalars;
  for (const auto& a : assignments(text, s.name)) {
    const bool wanted = a.name == "nzperiod" || a.name == "psip" || a.name == "chip" ||
                        a.name == "btheta" || a.name == "bzeta" || a.name == "borbi";
    if (!wanted) continue;
    const auto value = fortran_number(a.value);
    if (!value) fail("{}: {}: expected a number, got '{}'", s.name, a.name, a.value);
    if (a.name != "borbi") {
      scalars[a.name] = *value;
      continue;
    }
    if (a.index.size() != 2)
      fail("{}: borbi needs two indices (n, m), got {}", s.name, a.index.size());
    s.b.push_back({a.index[1], a.index[0], *value, 0});
  }
  const auto scalar = [&](const char* key) {
    const auto it = scalars.find(key);
    if (it == scalars.end()) fail("{}: missing value '{}'", s.name, key);
    return it->second;
  };
  const double periods = scalar("nzperiod");
  if (!(periods >= 1 && periods <= 1e6))
    fail("{}: nzperiod must be at least 1, got {}", s.name, periods);
  s.nfp = static_cast<int>(periods);
  s.psi_prime = scalar("psip");
  if (s.psi_prime == 0) fail("{}: psip must not be 0", s.name);
  s.iota = -scalar("chip") / s.psi_prime;
  s.b_theta = scalar("btheta");
  s.b_zeta = scalar("bzeta");
  set_mean_field(s);
  validate(s);
  return s;
}

Surface read_dkes(const std::string& path) { return parse_dkes(read_input_file(path), path); }

Surface parse_surface_text(std::string_view text, std::string name) {
  static const std::vector<std::string> kLabels = {
      "number of periods", "psi_p", "chi_p", "iota", "b00", "b_theta", "b_zeta"};
  Surface s;
  s.name = std::move(name);
  std::map<std::string, double> scalars;
  int number = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = trim(text.substr(at, end - at));
    at = end + 1;
    ++number;
    if (line.empty() || line.front() == '#' || line.front() == '!') continue;
    const std::string small = lower(line);
    const auto label =
        std::ranges::find_if(kLabels, [&](const auto& l) { return small.starts_with(l); });
    if (label != kLabels.end()) {
      auto rest = trim(line.substr(label->size()));
      while (!rest.empty() && (rest.front() == ':' || rest.front() == '='))
        rest = trim(rest.substr(1));
      const auto value = fortran_number(rest);
      if (!value) fail("{}:{}: {}: expected a number, got '{}'", s.name, number, *label, rest);
      scalars[*label] = *value;
      continue;
    }
    std::vector<std::string_view> cells;
    for (auto rest = line; !rest.empty();) {
      const auto space = rest.find_first_of(" \t,");
      cells.push_back(rest.substr(0, space));
      rest = space == std::string_view::npos ? std::string_view{} : trim(rest.substr(space));
    }
    const auto m = integer(cells[0]);
    if (!m && s.b.empty()) continue;  // a heading
    const auto n = cells.size() == 3 ? integer(cells[1]) : std::nullopt;
    const auto value = cells.size() == 3 ? fortran_number(cells[2]) : std::nullopt;
    if (!m || !n || !value) fail("{}:{}: expected 'm n B_mn', got '{}'", s.name, number, line);
    s.b.push_back({*m, *n, *value, 0});
  }
  const auto scalar = [&](const char* key) {
    const auto it = scalars.find(key);
    if (it == scalars.end()) fail("{}: missing line '{}'", s.name, key);
    return it->second;
  };
  s.nfp = static_cast<int>(scalar("number of periods"));
  s.psi_prime = scalar("psi_p");
  s.iota = scalars.contains("iota") ? scalar("iota") : -scalar("chi_p") / s.psi_prime;
  s.b_theta = scalar("b_theta");
  s.b_zeta = scalar("b_zeta");
  if (scalars.contains("b00")) {
    s.b0 = scalar("b00");
    const bool in_rows =
        std::ranges::any_of(s.b, [](const auto& h) { return h.m == 0 && h.n == 0; });
    if (!in_rows) s.b.insert(s.b.begin(), {0, 0, *s.b0, 0});
  } else {
    set_mean_field(s);
  }
  validate(s);
  return s;
}

Surface read_surface_text(const std::string& path) {
  return parse_surface_text(read_input_file(path), path);
}

}  // namespace assay::transport
