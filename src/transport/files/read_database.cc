// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "transport/files/netcdf_reader.h"
#include "transport/files/profile_data.h"

namespace assay::transport {
namespace {

// A case of the file, and where it goes: fields are given for ascending |Ê|, each once.
std::vector<std::size_t> fields_in_order(std::span<const double> er) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < er.size(); ++i) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return std::abs(er[i]); });
  const auto same = [&](std::size_t a, std::size_t b) {
    return std::abs(er[a]) == std::abs(er[b]);
  };
  order.erase(std::ranges::unique(order, same).begin(), order.end());
  return order;
}

std::vector<std::size_t> collisionalities_in_order(std::span<const double> nu) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < nu.size(); ++i) order.push_back(i);
  std::ranges::sort(order, {}, [&](std::size_t i) { return nu[i]; });
  return order;
}

std::vector<std::size_t> chosen_radii(const std::string& path, const std::vector<double>& there,
                                      const std::vector<double>& wanted) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; wanted.empty() && i < there.size(); ++i) chosen.push_back(i);
  for (const double rho : wanted) {
    const auto it = std::ranges::find_if(there, [&](double r) { return std::abs(r - rho) < 1e-6; });
    if (it == there.end()) {
      fail("{}: the database has rho = {}, not {}", path, fmt::join(there, ", "), rho);
    }
    chosen.push_back(static_cast<std::size_t>(it - there.begin()));
  }
  return chosen;
}

}  // namespace

std::vector<CoefficientTable> read_database(const std::string& path,
                                            const std::vector<double>& rho) {
  const NetcdfReader file(path);
  const auto radii = file.vector("rho"), nu = file.vector("nu_v");
  const auto n_rho = radii.size(), n_nu = nu.size();
  const auto columns = [&](const char* name, std::size_t size) {
    auto values = file.values(name);
    if (values.size() != size) {
      fail("{}: expected {} values, got {}: '{}'", path, size, values.size(), name);
    }
    return values;
  };
  const auto er = file.values("Er");
  if (n_rho == 0 || n_nu == 0 || er.size() % n_rho != 0 || er.empty()) {
    fail("{}: 'Er' must have a row for each rho, got {} values", path, er.size());
  }
  const std::size_t n_er = er.size() / n_rho, size = n_rho * n_nu * n_er;
  const auto drds = columns("drds", n_rho), b00 = columns("B00", n_rho);
  const auto d11 = columns("D11", size), d13 = columns("D13", size), d33 = columns("D33", size);
  const auto d33_spitzer = columns("D33_spitzer", size);
  auto d31 = file.has("D31") ? columns("D31", size) : d13;
  if (!file.has("D31")) {
    for (auto& d : d31) d = -d;
  }

  std::vector<CoefficientTable> tables;
  for (const std::size_t i : chosen_radii(path, radii, rho)) {
    CoefficientTable t;
    const double stretch = drds[i];
    if (!(radii[i] > 0 && stretch > 0 && b00[i] != 0)) {
      fail("{}: rho, drds and B00 must be positive, got {}, {}, {}", path, radii[i], stretch,
           b00[i]);
    }
    t.rho = radii[i];
    t.r = 2 * radii[i] * radii[i] * stretch;  // s = ρ², r = aρ: dr/ds = a/(2ρ)
    t.b0 = std::abs(b00[i]);
    const auto row = std::span(er).subspan(i * n_er, n_er);
    const auto fields = fields_in_order(row), order = collisionalities_in_order(nu);
    for (const auto e : fields) t.er_hat.push_back(std::abs(row[e]));
    for (const auto k : order) {
      t.nu_hat.push_back(nu[k]);
      for (const auto e : fields) {
        const std::size_t at = (i * n_nu + k) * n_er + e;
        t.d11.push_back(d11[at] * stretch * stretch);
        t.d31.push_back(d31[at] * stretch);
        t.d13.push_back(d13[at] * stretch);
        t.d33.push_back(d33[at]);
        t.d33_spitzer.push_back(d33_spitzer[at]);
      }
    }
    tables.push_back(std::move(t));
  }
  return tables;
}

}  // namespace assay::transport
