// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/transport/cases.h"

#include <algorithm>
#include <memory>

#include "cases/transport/engine_point.h"
#include "cases/transport/expectation.h"
#include "cases/transport/figures.h"

namespace assay::cases::transport {
namespace {

using lab::Parameter;
using lab::Provider;
using lab::Skip;

constexpr std::uint64_t kWorkerBytes = 64 << 20;  // a worker before it has inputs

Json grid_point(const char* surface, int n_theta, int n_zeta, int n_xi) {
  return {
      {"surface", surface}, {"n_theta", n_theta}, {"n_zeta", n_zeta}, {"n_xi", n_xi}, {"seed", 0}};
}

Json with(Json point, const Json& more) {
  point.update(more);
  return point;
}

std::vector<Parameter> parameters(std::vector<Parameter> more) {
  std::vector<Parameter> all = {{"surface", "built-in flux surface", 0, 0, tr::builtin_names(), ""},
                                {"n_theta", "poloidal points", 3, 255, {}, ""},
                                {"n_zeta", "toroidal points", 3, 255, {}, ""},
                                {"n_xi", "highest Legendre index", 2, 1000, {}, ""}};
  for (auto& p : more) all.push_back(std::move(p));
  all.push_back({"seed", "of the inputs", 0, 1 << 30, {}, ""});
  return all;
}

Parameter cases_of_a_call() { return {"cases", "of a call", 1, 4096, {}, ""}; }

std::vector<Parameter> scan_parameters() {
  return {cases_of_a_call(),
          {"layout",
           "pairs along a ladder, a grid with twelve fields, or collisionalities without a field",
           0,
           0,
           {"ladder", "grid", "zero"},
           ""},
          {"batch", "cases handed out at a time", 1, 4096, {}, ""}};
}

// A case of the suite: they differ in their parameters, points and providers only.
struct Definition {
  std::string name, description, baseline;
  std::vector<Parameter> parameters;
  std::vector<Json> representative, standard;
  std::vector<Provider> providers;
  std::vector<lab::FigureRecipe> figures;
};

class TransportCase : public lab::Case {
 public:
  explicit TransportCase(Definition d) : d_(std::move(d)), schema_(parameters(d_.parameters)) {}

  std::string_view suite() const override { return "transport"; }
  std::string_view name() const override { return d_.name; }
  std::string_view description() const override { return d_.description; }
  const lab::PointSchema& schema() const override { return schema_; }
  std::vector<Json> representative_points() const override { return d_.representative; }
  std::vector<Json> standard_points() const override { return d_.standard; }
  std::vector<Provider> providers() const override { return d_.providers; }
  std::string_view baseline() const override { return d_.baseline; }
  std::vector<lab::FigureRecipe> figures() const override { return d_.figures; }

  std::optional<Skip> why_not(const Json& json, std::string_view provider,
                              std::string_view) const override {
    if (provider == "assay-parity" && TransportPoint(json).field) {
      return Skip{"provider_not_applicable", "the parity solver needs a zero electric field"};
    }
    return std::nullopt;
  }

  std::uint64_t memory_estimate(const Json& json, std::string_view provider) const override {
    const TransportPoint p(json);
    const double block = 8.0 * p.grid_points() * p.grid_points();
    const double lanes = provider == "serial" || p.cases == 1 ? 1 : p.lanes > 0 ? p.lanes : 64;
    const double blocks = provider == "assay-mixed" ? 10 + p.n_xi
                          : provider == "jax"       ? 30 + 10.0 * std::min(p.batch, p.cases)
                                                    : 10 * lanes;
    return static_cast<std::uint64_t>(block * blocks) + 4 * kWorkerBytes;
  }

  // The flops of the plain elimination, whatever a provider makes of them.
  std::map<std::string, double> work(const Json& json) const override {
    const TransportPoint p(json);
    const double n = p.grid_points();
    return {{"flops", 14.0 / 3 * p.n_xi * n * n * n * p.cases},
            {"cases", static_cast<double>(p.cases)}};
  }

  std::vector<lab::Expectation> expect(const Json& json, int set,
                                       std::int64_t draw) const override {
    const TransportPoint point(json);
    auto expected = expectations(point, set, draw);
    if (point.cases > 1 && !expected.empty()) add_serial_lane(point, set, expected.front());
    return expected;
  }

 private:
  Definition d_;
  lab::PointSchema schema_;
};

std::vector<Provider> lane_providers() {
  return {{.id = "serial", .description = "one case after another on one core"},
          {.id = "threads", .description = "one case for each thread, single-threaded BLAS"},
          {.id = "processes", .description = "one share of the cases for each forked process"},
          {.id = "mpi",
           .description = "mpirun of assay-transport scan, one rank for each core",
           .unequal_work = "each call starts the ranks and prepares the surface in each of them"}};
}

std::vector<Provider> python_providers() {
  return {{.id = "numpy",
           .description =
               "NumPy and SciPy on one thread: the dense elimination, one case after another",
           .runtime = lab::Runtime::kPython,
           .modules = {"numpy", "scipy"},
           .threads = 1},
          {.id = "jax",
           .description = "JAX: the dense elimination under jit, f64, vmap over a batch of cases",
           .runtime = lab::Runtime::kPython,
           .platforms = {"cpu", "cuda"},
           .modules = {"jax"}}};
}

std::vector<Provider> device_providers() {
  return {
      {.id = "assay",
       .description = "CUDA: all cases of a batch go through the Legendre blocks together, f64; "
                      "blocks inverted by products, parity without a field; all modes refined "
                      "and assessed",
       .platforms = {"cuda"},
       .library = "libcublas.so"},
      {.id = "assay-dense",
       .description = "the same with rows exchanged in every block, and no parity",
       .platforms = {"cuda"},
       .library = "libcublas.so"},
      {.id = "torch",
       .description = "PyTorch: the dense elimination of a batch of cases, f64, batched LU, "
                      "solve and product",
       .runtime = lab::Runtime::kPython,
       .platforms = {"cuda"},
       .modules = {"torch"}}};
}

Definition solve_definition() {
  Definition d;
  d.name = "transport_solve";
  d.description = "monoenergetic coefficients of one case on a prepared flux surface";
  d.baseline = "assay-dense";
  d.parameters = {{"field", "radial electric field, on (1e-3) or zero", 0, 0, {"on", "zero"}, ""}};
  for (const char* field : {"on", "zero"}) {
    const Json on = {{"field", field}};
    d.representative.push_back(with(grid_point("example", 17, 25, 16), on));
    d.standard.push_back(with(grid_point("example", 9, 11, 6), on));
    d.standard.push_back(with(grid_point("example", 17, 25, 16), on));
    d.standard.push_back(with(grid_point("example", 25, 25, 60), on));
  }
  d.providers = {
      {.id = "assay-dense", .description = "block elimination by LU, solve and product, f64"},
      {.id = "assay-structured",
       .description = "sparse operators, inversion without pivoting by products, f64"},
      {.id = "assay-parity", .description = "the same on half the unknowns, zero field only"},
      {.id = "assay-mixed", .description = "f32 factors of every block, f64 residuals"}};
  for (auto& p : python_providers()) d.providers.push_back(std::move(p));
  return d;
}

Definition scan_definition() {
  Definition d;
  d.name = "transport_scan";
  d.description = "coefficients over collisionality and field on one surface";
  d.baseline = "serial";
  d.parameters = scan_parameters();
  const auto ladder = [](Json grid, int cases) {
    return with(std::move(grid), {{"cases", cases}, {"layout", "ladder"}, {"batch", 32}});
  };
  // Small enough for a look at every lane within minutes: 128 cases on the grid of the published
  // ladder, 17 x 25 x 16, take a core half a minute a call.
  d.representative = {ladder(grid_point("sample_dkes", 9, 11, 6), 128)};
  for (const int n : {8, 16, 32, 64, 128, 256}) {
    d.standard.push_back(ladder(grid_point("sample_dkes", 9, 11, 6), n));
  }
  for (const int n : {16, 32, 64, 128}) {
    d.standard.push_back(ladder(grid_point("sample_dkes", 17, 25, 16), n));
  }
  for (const int batch : {16, 32, 192}) {
    d.standard.push_back(with(grid_point("sample_dkes", 25, 25, 60),
                              {{"cases", 192}, {"layout", "grid"}, {"batch", batch}}));
  }
  d.standard.push_back(with(grid_point("w7x_eim_sample", 25, 25, 60),
                            {{"cases", 192}, {"layout", "zero"}, {"batch", 192}}));
  d.providers = lane_providers();
  for (auto& p : python_providers()) d.providers.push_back(std::move(p));
  for (auto& p : device_providers()) d.providers.push_back(std::move(p));
  d.figures = scan_figures();
  return d;
}

Definition strong_scaling_definition() {
  Definition d;
  d.name = "transport_strong_scaling";
  d.description = "128 cases on a fixed number of lanes";
  d.baseline = "serial";
  d.parameters = scan_parameters();
  d.parameters.push_back({"lanes", "threads, processes or ranks", 1, 256, {}, ""});
  for (const int lanes : {1, 2, 4, 8}) {
    d.standard.push_back(
        with(grid_point("sample_dkes", 17, 25, 16),
             {{"cases", 128}, {"layout", "ladder"}, {"lanes", lanes}, {"batch", 128}}));
  }
  d.representative = {with(d.standard[1], {{"n_theta", 9}, {"n_zeta", 11}, {"n_xi", 6}})};
  d.standard.push_back(d.representative.front());
  d.providers = lane_providers();
  d.figures = strong_scaling_figures();
  return d;
}

Definition reuse_definition() {
  Definition d;
  d.name = "transport_prepared_reuse";
  d.description = "what preparing a surface once is worth";
  d.baseline = "direct";
  d.parameters = {cases_of_a_call()};
  for (const int n : {4, 16, 48}) {
    d.standard.push_back(with(grid_point("sample_dkes", 9, 11, 6), {{"cases", n}}));
  }
  d.representative = {d.standard[1]};
  d.providers = {{.id = "direct", .description = "the surface prepared anew for every case"},
                 {.id = "prepared", .description = "prepared in the first call, then used"},
                 {.id = "prepared-batched", .description = "the same, cases over threads"}};
  d.figures = reuse_figures();
  return d;
}

Definition workflow_definition() {
  Definition d;
  d.name = "transport_workflow";
  d.description = "a surface file to a file of coefficients and their energy integrals";
  d.baseline = "assay";
  d.parameters = {{"collisionalities", "of the scan", 2, 256, {}, ""},
                  {"fields", "of the scan", 1, 64, {}, ""}};
  const Json scan = {{"collisionalities", 16}, {"fields", 4}};
  d.representative = {with(grid_point("w7x_eim_sample", 9, 11, 12), scan)};
  d.standard = {d.representative.front(), with(grid_point("w7x_eim_sample", 11, 15, 30), scan)};
  d.providers = {{.id = "assay", .description = "one case after another on one core"},
                 {.id = "assay-threads", .description = "one case for each thread"},
                 {.id = "numpy",
                  .description = "NumPy and SciPy on one thread: the dense elimination",
                  .runtime = lab::Runtime::kPython,
                  .modules = {"numpy", "scipy"},
                  .threads = 1}};
  d.figures = workflow_figures();
  return d;
}

}  // namespace

void add_cases(lab::CaseRegistry& cases) {
  for (auto* make : {solve_definition, scan_definition, strong_scaling_definition, reuse_definition,
                     workflow_definition}) {
    cases.add(std::make_unique<TransportCase>(make()));
  }
}

}  // namespace assay::cases::transport
