// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/input.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/input_file.h"
#include "base/toml.h"
#include "transport/scan/axis.h"
#include "transport/scan/scan.h"

namespace assay::transport {
namespace {

constexpr std::array<const char*, 4> kFileTypes = {"dkes", "text", "vmec", "booz"};
constexpr int kMostOfACount = 1'000'000;

int read_count(const TomlTable& t, const char* key, int least) {
  const auto value = t.integer(key);
  if (value < least || value > kMostOfACount) {
    t.reject(key, "expected an integer from {} to {}, got {}", least, kMostOfACount, value);
  }
  return static_cast<int>(value);
}

void read_mode(const TomlTable& t, const Json& row, Surface& s) {
  const bool fine = row.is_array() && (row.size() == 3 || row.size() == 4) &&
                    row[0].is_number_integer() && row[1].is_number_integer() &&
                    std::all_of(row.begin() + 2, row.end(), [](const Json& value) {
                      return value.is_number() && std::isfinite(value.get<double>());
                    });
  if (!fine) t.reject("b", "expected rows [m, n, B_mn], got {}", canonical_json(row));
  try {
    add_mode(s.b, row[0].get<double>(), row[1].get<double>(), row[2].get<double>(),
             row.size() == 4 ? row[3].get<double>() : 0);
  } catch (const UserError& e) {
    t.reject("b", "{}", e.what());
  }
}

// A surface in Boozer angles, written out.
Surface read_modes(const TomlTable& t) {
  Surface s;
  s.name = "modes";
  s.nfp = read_count(t, "nfp", 1);
  if (s.nfp > kMostPeriods) t.reject("nfp", "expected at most {}, got {}", kMostPeriods, s.nfp);
  s.iota = t.number("iota");
  s.psi_prime = t.number("psi_prime");
  s.b_theta = t.number("b_theta");
  s.b_zeta = t.number("b_zeta");
  const auto rows = t.json("b");
  if (!rows.is_array() || rows.empty()) t.reject("b", "expected a list of rows [m, n, B_mn]");
  for (const auto& row : rows) {
    read_mode(t, row, s);
    const auto& mode = s.b.back();
    if (mode.m == 0 && mode.n == 0) s.b0 = mode.cosine;
  }
  if (t.has("b0")) s.b0 = t.number("b0");
  if (s.b0 && !(*s.b0 > 0)) t.reject("b", "the mode (0, 0) must be positive, got {}", *s.b0);
  try {
    validate(s);
  } catch (const UserError& e) {
    t.reject("b", "{}", e.what());
  }
  return s;
}

}  // namespace

SurfaceRequest read_surface_request(const TomlTable& t, const std::string& input_path) {
  SurfaceRequest s;
  s.type = t.text("type");
  const bool file = std::ranges::find(kFileTypes, s.type) != kFileTypes.end();
  if (s.type == "modes") {
    s.spelled = read_modes(t);
  } else if (!file && std::ranges::find(builtin_names(), s.type) == builtin_names().end()) {
    t.reject("type", "expected {}, {} or modes, got '{}'", fmt::join(builtin_names(), ", "),
             fmt::join(kFileTypes, ", "), s.type);
  }
  const auto from_here = [&](const std::filesystem::path& path) {
    return path.is_absolute() ? path.string()
                              : (std::filesystem::path(input_path).parent_path() / path).string();
  };
  if (file) {
    s.path = from_here(t.text("path"));
  } else if (t.has("path")) {
    t.reject("path", "the surface '{}' has no file", s.type);
  }
  if (t.has("psi_n") && !file) {
    t.reject("psi_n", "'{}' is one surface of its own", s.type);
  }
  if (t.has("psi_n")) {
    s.psi_n = t.number("psi_n");
    if (!(*s.psi_n > 0 && *s.psi_n <= 1)) {
      t.reject("psi_n", "expected a number above 0 and at most 1, got {}", *s.psi_n);
    }
  } else if (s.type == "vmec" || s.type == "booz") {
    t.number("psi_n");  // complains that it is missing
  }
  if (t.has("psi_prime")) s.psi_prime = t.number("psi_prime");
  if (t.has("minor_radius")) {
    if (s.type != "vmec" && s.type != "booz") {
      t.reject("minor_radius", "only 'vmec' and 'booz' have one, got type '{}'", s.type);
    }
    s.minor_radius = t.number("minor_radius");
    if (!(*s.minor_radius > 0)) {
      t.reject("minor_radius", "expected a positive number, got {}", *s.minor_radius);
    }
  }
  if (t.has("wout")) {
    if (s.type != "booz") t.reject("wout", "only 'booz' has one, got type '{}'", s.type);
    s.wout = from_here(t.text("wout"));
  }
  if (t.has("min_bmn")) {
    s.min_bmn = t.number("min_bmn");
    if (s.min_bmn < 0) t.reject("min_bmn", "expected a number of at least 0, got {}", s.min_bmn);
  }
  return s;
}

Grid read_grid(const TomlTable& t) {
  const Grid grid = {read_count(t, "n_theta", 3), read_count(t, "n_zeta", 3),
                     read_count(t, "n_xi", 2)};
  validate(grid);
  return grid;
}

namespace {

std::vector<double> read_axis(const TomlTable& t, const char* key) {
  if (!t.has(key) || !t.json(key).is_string()) return t.numbers(key);
  const auto text = t.text(key);
  try {
    return parse_axis(text, "a list");
  } catch (const UserError& e) {
    t.reject(key, "{}", e.what());
  }
}

void read_case(const TomlTable& t, RunInput& in, const InputNeeds& needs) {
  if (t.has("nu_hat") || needs.cases) in.nu_hat = read_axis(t, "nu_hat");
  for (const double nu : in.nu_hat) {
    if (!(nu > 0)) t.reject("nu_hat", "expected positive numbers, got {}", nu);
  }
  const bool er = t.has("er_hat"), epsi = t.has("epsi_hat");
  if (er && epsi) t.reject("epsi_hat", "give er_hat or epsi_hat, not both");
  if (er || epsi) in.field = read_axis(t, er ? "er_hat" : "epsi_hat");
  in.field_is_er = !epsi;
  if (in.nu_hat.empty()) {
    in.nu_hat = parse_axis(kDefaultNu, "nu_hat");
    if (!er && !epsi) in.field = parse_axis(kDefaultEr, "er_hat");
  }
  in.scan = in.nu_hat.size() > 1 || in.field.size() > 1;
  if (t.has("pairs")) in.pairs = t.flag("pairs");
  if (in.pairs && in.nu_hat.size() != in.field.size()) {
    t.reject("pairs", "needs lists of one length, got {} and {} values", in.nu_hat.size(),
             in.field.size());
  }
}

void read_solver(const TomlTable& t, RunInput& in) {
  if (t.has("method")) {
    try {
      in.method = method_from_name(t.text("method"));
    } catch (const UserError& e) {
      t.reject("method", "{}", e.what());
    }
  }
  if (t.has("threads")) in.threads = read_count(t, "threads", 1);
  in.batch_given = t.has("batch");
  if (in.batch_given) in.batch = read_count(t, "batch", 1);
  if (t.has("adjoint_consistent")) in.adjoint_consistent = t.flag("adjoint_consistent");
}

}  // namespace

std::vector<Case> RunInput::cases(double psi_prime) const {
  std::vector<double> epsi = field;
  if (field_is_er) {
    for (auto& e : epsi) e /= psi_prime;
  }
  if (!pairs) return case_grid(nu_hat, epsi);
  std::vector<Case> list;
  for (std::size_t i = 0; i < epsi.size(); ++i) list.push_back({nu_hat[i], epsi[i]});
  return list;
}

RunInput parse_input(std::string text, const std::string& path, const InputNeeds& needs) {
  RunInput in;
  in.path = path;
  in.text = std::move(text);
  const auto t = TomlTable::parse(in.text, path);
  in.surface = read_surface_request(t.table("surface"), path);
  if (t.has("grid") || needs.grid) in.grid = read_grid(t.table("grid"));
  const bool cases = t.has("case") || needs.cases;
  read_case(cases ? t.table("case") : TomlTable::parse("", path), in, needs);
  if (t.has("solver")) read_solver(t.table("solver"), in);
  if (t.has("output")) {
    const auto output = t.table("output");
    if (output.has("path")) in.output = output.text("path");
    if (output.has("path") && in.output.empty()) output.reject("path", "the name is empty");
    if (output.has("include_modes")) in.include_modes = output.flag("include_modes");
    if (in.include_modes && in.scan) {
      output.reject("include_modes", "modes are kept for a single case, not for a scan");
    }
  }
  t.refuse_unread_keys();
  return in;
}

RunInput read_input(const std::string& path, const InputNeeds& needs) {
  return parse_input(read_input_file(path), path, needs);
}

}  // namespace assay::transport
