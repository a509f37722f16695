// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Equilibria from files, databases over them, and what plasmas do: assay.transport.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "bindings/argument.h"
#include "bindings/frameworks.h"
#include "bindings/module.h"
#include "bindings/texts.h"
#include "bindings/threads.h"
#include "transport/files/database.h"
#include "transport/files/equilibrium.h"
#include "transport/files/profile_data.h"

namespace assay::python {
namespace {

namespace nb = nanobind;
using namespace assay::transport;

// `type` is "vmec" or "booz"; `wout` is the VMEC file that a Boozer file was made of.
Surface equilibrium(const std::string& type, const std::string& path, double psi_n,
                    const std::string& wout, std::optional<double> psi_prime,
                    std::optional<double> minor_radius, double min_bmn) {
  if (!(psi_n > 0 && psi_n <= 1)) fail("psi_n: above 0 and at most 1, not {}", psi_n);
  if (minor_radius && !(*minor_radius > 0)) {
    fail("minor_radius: above 0, not {}", *minor_radius);
  }
  if (!(min_bmn >= 0 && min_bmn < 1)) fail("min_bmn: from 0 to below 1, not {}", min_bmn);
  return without_gil([&] {
    return load_surface({.type = type,
                         .path = path,
                         .psi_n = psi_n,
                         .psi_prime = psi_prime,
                         .minor_radius = minor_radius,
                         .wout = wout,
                         .spelled = {},
                         .min_bmn = min_bmn});
  });
}

// {"variables": {name: (dimensions, array, unit, description)}, "texts": …, "numbers": …}
nb::dict contents(const DataFile& data) {
  const auto extent_of = [&](const std::string& dimension) {
    const auto at =
        std::ranges::find(data.dimensions, dimension, &std::pair<std::string, std::size_t>::first);
    check(at != data.dimensions.end(), "every dimension has an extent");
    return static_cast<std::int64_t>(at->second);
  };
  nb::dict variables, texts, numbers, result;
  for (const auto& variable : data.variables) {
    std::vector<std::int64_t> extents;
    for (const auto& dimension : variable.dimensions) extents.push_back(extent_of(dimension));
    Tensor tensor(DType::kF64, Shape(extents));
    std::ranges::copy(variable.values, tensor.as<double>().begin());
    variables[variable.name.c_str()] = nb::make_tuple(
        variable.dimensions, to_numpy(std::move(tensor)), variable.unit, variable.description);
  }
  for (const auto& [name, text] : data.texts) texts[name.c_str()] = quoting_text(text);
  for (const auto& [name, number] : data.numbers) numbers[name.c_str()] = number;
  result["variables"] = variables;
  result["texts"] = texts;
  result["numbers"] = numbers;
  return result;
}

DataFile database(const std::string& wout, const std::string& booz, const std::vector<double>& rho,
                  const std::vector<double>& nu_v, const std::vector<double>& er_tilde,
                  const std::vector<int>& grid, std::optional<double> accuracy, double min_bmn,
                  const std::string& method, const std::string& journal) {
  DatabaseRequest request{.wout = wout,
                          .booz = booz,
                          .rho = rho,
                          .nu_v = nu_v,
                          .er_tilde = er_tilde,
                          .grid = {},
                          .accuracy = {},
                          .min_bmn = min_bmn,
                          .scan = {},
                          .solver = {}};
  if (accuracy) {
    if (!(*accuracy > 0 && *accuracy < 1)) fail("accuracy: between 0 and 1, not {}", *accuracy);
    request.accuracy = AccuracyOptions{.accuracy = *accuracy};
  } else {
    if (grid.size() != 3) fail("grid: three numbers, not {}", grid.size());
    request.grid = {grid[0], grid[1], grid[2]};
    validate(request.grid);
  }
  request.scan.method = method_from_name(method);
  request.scan.threads = threads_of_call();
  request.scan.journal = journal;
  auto made = without_gil([&] { return make_database(request); });
  std::vector<std::string> warnings;
  for (const auto& surface : made.surfaces) {
    for (const auto& warning : surface.warnings) {
      warnings.push_back(fmt::format("rho {:g}: {}", surface.rho, warning));
    }
  }
  made.data.texts["warnings"] = fmt::format("{}", fmt::join(warnings, "\n"));
  return std::move(made.data);
}

std::vector<CoefficientTable> solved_tables(const ProfilesInput& input, const std::string& method,
                                            int threads, std::vector<std::string>& warnings) {
  ScanOptions options;
  options.method = method_from_name(method);
  options.threads = threads;
  std::vector<CoefficientTable> tables;
  for (const auto& at : input.surfaces) {
    tables.push_back(make_table(load_surface(at.surface), input.grid, at.rho,
                                at.rho * input.minor_radius.value(), input.nu_hat, input.er_hat,
                                options, warnings));
  }
  return tables;
}

// `path` is a file of docs/transport-profiles.md, or the name of `text`; coefficients come from the
// database of that name, or where there is none from surfaces that the text spells out.
DataFile profiles(const std::optional<std::string>& text, const std::string& path,
                  const std::string& database_path, const std::string& method) {
  const int threads = threads_of_call();
  return without_gil([&] {
    const auto input = text ? parse_profiles(*text, path) : read_profiles(path);
    if (database_path.empty() == input.surfaces.empty()) {
      fail("{}: coefficients come from a database or from surfaces, {}", path,
           input.surfaces.empty() ? "neither was given" : "not from both");
    }
    std::vector<std::string> warnings;
    const auto tables = database_path.empty() ? solved_tables(input, method, threads, warnings)
                                              : read_database(database_path, input.rho);
    std::vector<RadiusAnswer> answers;
    for (const auto& table : tables) answers.push_back(answer(input, table));
    auto data = profile_data(input, answers);
    auto& said = data.texts["warnings"];
    said = fmt::format("{}{}{}", fmt::join(warnings, "\n"), warnings.empty() ? "" : "\n", said);
    Variable determined{"Er_determined",
                        {"radius"},
                        {},
                        "1",
                        "whether any field makes J_r vanish: 0 in symmetric B"};
    for (const auto& one : answers) determined.values.push_back(one.search.determined ? 1 : 0);
    data.variables.push_back(std::move(determined));
    return data;
  });
}

}  // namespace

void bind_transport_files(nb::module_& module) {
  module.def("surface_equilibrium", &equilibrium, nb::arg(), nb::arg(), nb::arg(), nb::arg(),
             nb::arg().none(), nb::arg().none(), nb::arg());
  nb::class_<DataFile> data_file(module, "DataFile");
  refuse_pickling(data_file, "databases and profiles are not pickled: .save() writes a file");
  data_file.def("contents", &contents)
      .def("write", [](const DataFile& data, const std::string& path) {
        check_data_path(path);
        without_gil([&] { write_data_file(path, data); });
      });
  module.def("transport_database", &database, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
             nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg());
  module.def("transport_profiles", &profiles, nb::arg().none(), nb::arg(), nb::arg(), nb::arg());
}

}  // namespace assay::python
