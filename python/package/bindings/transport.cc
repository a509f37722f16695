// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// The drift-kinetic solver: assay.transport.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "bindings/argument.h"
#include "bindings/frameworks.h"
#include "bindings/module.h"
#include "bindings/texts.h"
#include "bindings/threads.h"
#include "transport/derivative.h"
#include "transport/quality.h"
#include "transport/scan/scan.h"
#include "transport/solve.h"
#include "transport/surface/surface_text.h"

namespace assay::python {
namespace {

namespace nb = nanobind;
using namespace assay::transport;

Surface spelled(const std::string& name, int nfp, double iota, double psi_prime, double b_theta,
                double b_zeta, const std::vector<std::vector<double>>& modes,
                std::optional<double> b0) {
  Surface surface{.name = name,
                  .nfp = nfp,
                  .iota = iota,
                  .psi_prime = psi_prime,
                  .b_theta = b_theta,
                  .b_zeta = b_zeta,
                  .b0 = b0};
  for (const auto& mode : modes) {
    if (mode.size() != 3 && mode.size() != 4) {
      fail("surface: a mode is m, n, the cosine and perhaps the sine term, not {} numbers",
           mode.size());
    }
    try {
      add_mode(surface.b, mode[0], mode[1], mode[2], mode.size() == 4 ? mode[3] : 0);
    } catch (const UserError& e) {
      fail("surface: modes: {}", e.what());
    }
  }
  validate(surface);
  return surface;
}

nb::object to_array(const std::vector<double>& values, const Shape& shape) {
  Tensor tensor(DType::kF64, shape);
  std::copy(values.begin(), values.end(), tensor.as<double>().begin());
  return to_numpy(std::move(tensor));
}

// A field of the grid as an array, ζ by θ.
nb::object field(const Prepared& prepared, const Field& values) {
  return to_array(values, Shape({prepared.grid().n_zeta, prepared.grid().n_theta}));
}

nb::dict fields(const Prepared& prepared) {
  const auto& geometry = prepared.geometry();
  nb::dict result;
  result["b"] = field(prepared, geometry.b);
  result["jacobian"] = field(prepared, geometry.jacobian);
  result["drift"] = field(prepared, geometry.drift);
  result["nfp"] = geometry.nfp;
  result["iota"] = geometry.iota;
  result["psi_prime"] = geometry.psi_prime;
  result["b0"] = geometry.b0;
  result["mean_b2"] = geometry.mean_b2;
  result["notes"] = quoting_texts(prepared.notes());
  result["warnings"] = quoting_texts(prepared.field_warnings());
  return result;
}

// Solutions as one array for each number, in the order of the cases.
nb::dict table(const std::vector<Solution>& solutions) {
  const auto column = [&](auto&& of) {
    std::vector<double> values;
    for (const auto& solution : solutions) values.push_back(of(solution));
    return to_array(values, Shape({static_cast<std::int64_t>(values.size())}));
  };
  nb::dict result;
  result["d11"] = column([](const Solution& s) { return s.d.d11; });
  result["d31"] = column([](const Solution& s) { return s.d.d31; });
  result["d13"] = column([](const Solution& s) { return s.d.d13; });
  result["d33"] = column([](const Solution& s) { return s.d.d33; });
  result["d33_spitzer"] = column([](const Solution& s) { return s.d.d33_spitzer; });
  result["residual"] = column([](const Solution& s) { return residual(s); });
  result["onsager"] = column([](const Solution& s) { return s.onsager; });
  nb::list methods, warnings, notes;
  for (const auto& solution : solutions) {
    methods.append(std::string(name_of(solution.method)));
    warnings.append(quoting_texts(solution.warnings));
    notes.append(quoting_texts(solution.notes));
  }
  result["method"] = methods;
  result["warnings"] = warnings;
  result["notes"] = notes;
  return result;
}

nb::dict scan(const Prepared& prepared, const std::vector<double>& nu_hat,
              const std::vector<double>& epsi_hat, const std::string& method,
              const std::string& journal) {
  const auto cases = case_grid(nu_hat, epsi_hat);
  const ScanOptions options{
      .method = method_from_name(method), .threads = threads_of_call(), .journal = journal};
  const auto result = without_gil([&] { return solve_scan(prepared, cases, options); });
  return table(result.solutions);
}

nb::dict derivatives(const Prepared& prepared, double nu_hat, double epsi_hat) {
  const auto found = without_gil(
      [&] { return differentiate(prepared, {.nu_hat = nu_hat, .epsi_hat = epsi_hat}); });
  const auto of = [](const Coefficients& d) {
    nb::dict result;
    result["d11"] = d.d11;
    result["d31"] = d.d31;
    result["d13"] = d.d13;
    result["d33"] = d.d33;
    return result;
  };
  nb::dict result;
  result["by_nu_hat"] = of(found.by_nu_hat);
  result["by_epsi_hat"] = of(found.by_epsi_hat);
  return result;
}

}  // namespace

void bind_transport(nb::module_& module) {
  nb::class_<Surface> surface_class(module, "Surface");
  refuse_pickling(surface_class, "surfaces are not pickled: transport.surface() makes them again");
  surface_class
      .def_prop_ro("name", [](const Surface& surface) { return quoting_text(surface.name); })
      .def_ro("nfp", &Surface::nfp)
      .def_ro("iota", &Surface::iota)
      .def_ro("psi_prime", &Surface::psi_prime)
      .def_ro("psi_n", &Surface::psi_n)
      .def_ro("minor_radius", &Surface::minor_radius)
      .def_ro("psi_edge", &Surface::psi_edge)
      .def_prop_ro("notes", [](const Surface& surface) { return quoting_texts(surface.notes); })
      .def_prop_ro("warnings",
                   [](const Surface& surface) { return quoting_texts(surface.warnings); })
      .def("in_vmec_angles", [](const Surface& surface) { return surface.vmec.has_value(); })
      .def("modes", [](const Surface& surface) {
        std::vector<std::vector<double>> modes;
        for (const auto& mode : surface.b) {
          modes.push_back(
              {static_cast<double>(mode.m), static_cast<double>(mode.n), mode.cosine, mode.sine});
        }
        return modes;
      });
  module.def("surface_names", [] { return builtin_names(); });
  module.def("surface_builtin", [](const std::string& name) { return builtin_surface(name); });
  module.def("surface_dkes", &read_dkes);
  module.def("surface_text", &read_surface_text);
  module.def("surface_spelled", &spelled, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
             nb::arg(), nb::arg(), nb::arg().none());
  nb::class_<Prepared> prepared_class(module, "Prepared");
  refuse_pickling(prepared_class, "what was prepared is not pickled: transport.prepare() makes it");
  prepared_class.def("fields", &fields);
  module.def("check_grid", [](int n_theta, int n_zeta, int n_xi) {
    validate(Grid{n_theta, n_zeta, n_xi});
  });
  module.def("prepare", [](const Surface& surface, int n_theta, int n_zeta, int n_xi,
                           bool adjoint_consistent) {
    return without_gil([&] {
      return prepare(surface, Grid{n_theta, n_zeta, n_xi},
                     {.adjoint_consistent = adjoint_consistent});
    });
  });
  module.def("transport_scan", &scan);
  module.def("transport_derivatives", &derivatives);
  module.def("epsi_of_er", [](double er_hat, double psi_prime) {
    return case_of_er(1.0, er_hat, psi_prime).epsi_hat;
  });
}

}  // namespace assay::python
