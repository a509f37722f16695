// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/surface/surface_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/input_file.h"
#include "transport/surface/namelist.h"

namespace assay::transport {
namespace {

// What a file says twice, in as many digits as people write.
constexpr double kEqualIota = 1e-2, kEqualField = 1e-3;

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n,");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n,") - first + 1);
}

std::optional<double> mean_field(const Series& series) {
  for (const auto& h : series) {
    if (h.m == 0 && h.n == 0) return h.cosine;
  }
  return std::nullopt;
}

// The mean field must be there: everything is normalised by it.
void set_mean_field(Surface& s) {
  s.b0 = mean_field(s.b);
  if (!s.b0) fail("{}: no mean field: the mode (m, n) = (0, 0) is missing", s.name);
}

void check_last_line(std::string_view text, const std::string& file) {
  if (!text.empty() && !text.ends_with('\n')) {
    fail("{}: the last line has no end: was the file cut short?", file);
  }
}

int periods_of(double value, const char* what, const std::string& file) {
  if (!(value >= 1 && value <= kMostPeriods) || value != std::floor(value)) {
    fail("{}: {} must be an integer from 1 to {}, got {}", file, what, kMostPeriods, value);
  }
  return static_cast<int>(value);
}

bool is_mode_number(int number) { return std::abs(number) <= kLargestModeNumber; }

// A range of subscripts, "i" or "i:j".
struct Range {
  int first = 0, last = 0;
};

std::optional<Range> range_of(std::string_view text) {
  const auto colon = text.find(':');
  const auto first = fortran_integer(trim(text.substr(0, colon)));
  const auto last =
      colon == std::string_view::npos ? first : fortran_integer(trim(text.substr(colon + 1)));
  if (!first || !last) return std::nullopt;
  return Range{*first, *last};
}

// Applies assignments to borbi(n,m) one after the other.
class Spectrum {
 public:
  explicit Spectrum(Surface& surface) : surface_(surface) {}

  void apply(const NamelistItem& item) {
    const auto comma = item.subscripts.find(',');
    const auto count = item.subscripts.empty() ? 0 : 1 + std::ranges::count(item.subscripts, ',');
    if (count != 2) reject(item, "borbi needs two indices (n, m), got {}", count);
    const auto n = range_of(std::string_view(item.subscripts).substr(0, comma));
    const auto m = range_of(std::string_view(item.subscripts).substr(comma + 1));
    if (!n || !m) reject(item, "borbi: expected integer indices, got '({})'", item.subscripts);
    if (!is_mode_number(n->first) || !is_mode_number(n->last) || !is_mode_number(m->first) ||
        !is_mode_number(m->last)) {
      reject(item, "borbi: indices may be from -{0} to {0}, got '({1})'", kLargestModeNumber,
             item.subscripts);
    }
    // In Fortran's order the first index runs fastest. Without a range it runs on to the end of the
    // array, whose length differs from program to program: nothing may hang on that.
    const bool section = item.subscripts.find(':') != std::string::npos;
    int at_n = n->first, at_m = m->first;
    for (const auto& value : item.values) {
      if (at_m > m->last || (!section && at_n > kLargestModeNumber)) {
        reject(item, "borbi({}): more values than elements, got {}", item.subscripts,
               item.values.size());
      }
      if (value) put(item, at_n, at_m, *value);
      ++at_n;
      if (section && at_n > n->last) {
        at_n = n->first;
        ++at_m;
      }
    }
  }

 private:
  template <typename... A>
  [[noreturn]] void reject(const NamelistItem& item, fmt::format_string<A...> format, A&&... a) {
    fail("{}:{}: {}", surface_.name, item.line, fmt::format(format, std::forward<A>(a)...));
  }

  void put(const NamelistItem& item, int n, int m, const std::string& text) {
    const auto value = fortran_number(text);
    if (!value) reject(item, "borbi: expected a number, got '{}'", text);
    const auto [place, is_new] = place_.try_emplace({n, m}, surface_.b.size());
    if (is_new) surface_.b.push_back({m, n, 0, 0});
    surface_.b[place->second].cosine = *value;
  }

  Surface& surface_;
  std::map<std::pair<int, int>, std::size_t> place_;
};

}  // namespace

Surface parse_dkes(std::string_view text, std::string name) {
  Surface s;
  s.name = std::move(name);
  Spectrum spectrum(s);
  std::map<std::string, double> scalars;
  for (auto& item : read_namelists(text, "datain", "borbi", s.name)) {
    if (item.name == "borbi") {
      spectrum.apply(item);
      continue;
    }
    const bool wanted = item.name == "nzperiod" || item.name == "psip" || item.name == "chip" ||
                        item.name == "btheta" || item.name == "bzeta";
    while (!item.values.empty() && !item.values.back()) item.values.pop_back();
    if (!wanted || item.values.empty()) continue;
    const auto value = item.values[0] ? fortran_number(*item.values[0]) : std::nullopt;
    if (item.values.size() > 1 || !value || !item.subscripts.empty()) {
      fail("{}:{}: {}: expected a number, got '{}'{}", s.name, item.line, item.name,
           item.values[0].value_or(""),
           item.values.size() > 1 ? fmt::format(" and {} more", item.values.size() - 1) : "");
    }
    scalars[item.name] = *value;
  }
  const auto scalar = [&](const char* key) {
    const auto it = scalars.find(key);
    if (it == scalars.end()) fail("{}: missing value '{}'", s.name, key);
    return it->second;
  };
  s.nfp = periods_of(scalar("nzperiod"), "nzperiod", s.name);
  s.psi_prime = scalar("psip");
  if (s.psi_prime == 0) fail("{}: psip must not be 0", s.name);
  s.iota = -scalar("chip") / s.psi_prime;
  s.b_theta = scalar("btheta");
  s.b_zeta = scalar("bzeta");
  set_mean_field(s);
  validate(s);
  check_last_line(text, s.name);
  return s;
}

Surface read_dkes(const std::string& path) { return parse_dkes(read_input_file(path), path); }

namespace {

// "label = value", "label : value" or "label value", where the label is one of these, whole.
struct Labelled {
  std::string label;
  std::string_view value;
};

std::optional<Labelled> labelled(std::string_view line) {
  static const std::vector<std::string> kLabels = {
      "number of periods", "psi_p", "chi_p", "iota", "b00", "b_theta", "b_zeta"};
  const std::string small = to_lower(line);
  for (const auto& label : kLabels) {
    if (!small.starts_with(label)) continue;
    auto rest = line.substr(label.size());
    if (!rest.empty() && std::string_view(" \t:=").find(rest.front()) == std::string_view::npos) {
      continue;  // B00/(B_zeta+iota*B_theta) is not B00
    }
    rest = trim(rest);
    while (!rest.empty() && (rest.front() == ':' || rest.front() == '='))
      rest = trim(rest.substr(1));
    return Labelled{label, rest};
  }
  return std::nullopt;
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (auto rest = line; !rest.empty();) {
    const auto space = rest.find_first_of(" \t,");
    cells.push_back(rest.substr(0, space));
    rest = space == std::string_view::npos ? std::string_view{} : trim(rest.substr(space));
  }
  return cells;
}

bool contradict(double a, double b, double tolerance) {
  return !(std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b)));
}

// The rows of the spectrum, each mode once.
class Rows {
 public:
  explicit Rows(Surface& surface) : surface_(surface) {}

  void add(const std::vector<std::string_view>& cells, std::string_view line, int number) {
    const auto& name = surface_.name;
    const auto refuse = [&] { fail("{}:{}: expected 'm n B_mn', got '{}'", name, number, line); };
    if (cells.size() != 3 && cells.size() != 4) refuse();
    const auto m = fortran_integer(cells[0]), n = fortran_integer(cells[1]);
    const auto value = fortran_number(cells[2]), share = fortran_number(cells.back());
    if (!m || !n || !value || !share) refuse();
    if (!is_mode_number(*m) || !is_mode_number(*n)) {
      fail("{}:{}: mode numbers may be from -{} to {}, got '{}'", name, number, kLargestModeNumber,
           kLargestModeNumber, line);
    }
    if (columns_ != 0 && columns_ != cells.size()) {
      fail("{}:{}: expected {} columns as in the rows above, got '{}'", name, number, columns_,
           line);
    }
    columns_ = cells.size();
    const auto [first, is_new] = line_of_.try_emplace({*m, *n}, number);
    if (!is_new) {
      fail("{}:{}: the mode ({}, {}) stood on line {} already", name, number, *m, *n,
           first->second);
    }
    surface_.b.push_back({*m, *n, *value, 0});
    if (columns_ == 4) shares_.push_back({number, *value, *share});
  }

  // The fourth column, which is B_mn/B00: a row that was cut short shows there.
  void check_shares(double b00) const {
    for (const auto& [number, value, share] : shares_) {
      if (contradict(value, share * b00, kEqualField)) {
        fail("{}:{}: the fourth column must be B_mn/B00 = {}, got {}", surface_.name, number,
             value / b00, share);
      }
    }
  }

 private:
  struct Share {
    int line;
    double value, share;
  };
  Surface& surface_;
  std::size_t columns_ = 0;
  std::map<std::pair<int, int>, int> line_of_;
  std::vector<Share> shares_;
};

}  // namespace

Surface parse_surface_text(std::string_view text, std::string name) {
  Surface s;
  s.name = std::move(name);
  Rows rows(s);
  std::map<std::string, double> scalars;
  int number = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = trim(text.substr(at, end - at));
    at = end + 1;
    ++number;
    if (line.empty() || line.front() == '#' || line.front() == '!') continue;
    if (const auto found = labelled(line)) {
      const auto value = fortran_number(found->value);
      if (!value) {
        fail("{}:{}: {}: expected a number, got '{}'", s.name, number, found->label, found->value);
      }
      if (!scalars.try_emplace(found->label, *value).second) {
        fail("{}:{}: {} is there twice", s.name, number, found->label);
      }
      continue;
    }
    const auto cells = cells_of(line);
    if (s.b.empty() && !fortran_integer(cells[0])) continue;  // a heading, or another label
    rows.add(cells, line, number);
  }
  const auto scalar = [&](const char* key) {
    const auto it = scalars.find(key);
    if (it == scalars.end()) fail("{}: missing line '{}'", s.name, key);
    return it->second;
  };
  check_last_line(text, s.name);
  if (s.b.empty()) fail("{}: no row 'm n B_mn': the file ends before its spectrum", s.name);
  s.nfp = periods_of(scalar("number of periods"), "Number of periods", s.name);
  s.psi_prime = scalar("psi_p");
  if (s.psi_prime == 0) fail("{}: psi_p must not be 0", s.name);
  s.iota = scalars.contains("iota") ? scalar("iota") : -scalar("chi_p") / s.psi_prime;
  // By modulus: DKES and MONKES write chi_p with opposite signs.
  if (scalars.contains("chi_p") &&
      contradict(std::abs(s.iota), std::abs(scalar("chi_p") / s.psi_prime), kEqualIota)) {
    fail("{}: iota contradicts chi_p/psi_p = {}, got {}", s.name, scalar("chi_p") / s.psi_prime,
         s.iota);
  }
  s.b_theta = scalar("b_theta");
  s.b_zeta = scalar("b_zeta");
  if (scalars.contains("b00")) {
    const auto mean = mean_field(s.b);
    s.b0 = scalar("b00");
    if (mean && contradict(*mean, *s.b0, kEqualField)) {
      fail("{}: B00 contradicts the row 0 0, which has {}, got {}", s.name, *mean, *s.b0);
    }
    if (!mean) s.b.insert(s.b.begin(), {0, 0, *s.b0, 0});
  } else {
    set_mean_field(s);
  }
  validate(s);
  rows.check_shares(*s.b0);
  return s;
}

Surface read_surface_text(const std::string& path) {
  return parse_surface_text(read_input_file(path), path);
}

}  // namespace assay::transport
