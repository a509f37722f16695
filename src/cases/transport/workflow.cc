// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/transport/workflow.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "base/clock.h"
#include "base/file.h"
#include "cases/transport/engine_point.h"
#include "kernels/blas/blas.h"
#include "tensor/safetensors.h"
#include "transport/scan/energy.h"
#include "transport/scan/scan.h"
#include "transport/surface/surface_text.h"

namespace assay::cases::transport {
namespace {

// Seconds of stages that follow each other.
class Stages {
 public:
  void begin(const char* name) {
    end();
    times_.emplace_back(name, 0);
    start_ = monotonic_ns();
  }
  void end() {
    if (!times_.empty() && times_.back().second == 0) {
      times_.back().second = 1e-9 * static_cast<double>(monotonic_ns() - start_);
    }
  }
  const std::vector<std::pair<std::string, double>>& times() const { return times_; }

 private:
  std::vector<std::pair<std::string, double>> times_;
  std::int64_t start_ = 0;
};

// Coefficients over ν̂ for each coefficient and field: what an energy integral reads.
struct Database {
  std::vector<double> nu_hat, epsi_hat;
  std::vector<double> d;  // [coefficient][field][ν̂]

  // Cases in the order of a grid, ν̂ slowest.
  Database(std::span<const tr::Solution> solutions, std::size_t fields) {
    const std::size_t n = solutions.size() / fields;
    for (std::size_t i = 0; i < n; ++i) nu_hat.push_back(solutions[i * fields].at.nu_hat);
    for (std::size_t f = 0; f < fields; ++f) epsi_hat.push_back(solutions[f].at.epsi_hat);
    d.reserve(kCoefficients * solutions.size());
    for (const auto member : {&tr::Coefficients::d11, &tr::Coefficients::d31,
                              &tr::Coefficients::d13, &tr::Coefficients::d33}) {
      for (std::size_t f = 0; f < fields; ++f) {
        for (std::size_t i = 0; i < n; ++i) d.push_back(solutions[i * fields + f].d.*member);
      }
    }
  }
  std::span<const double> table(std::size_t coefficient, std::size_t field) const {
    return std::span(d).subspan((coefficient * epsi_hat.size() + field) * nu_hat.size(),
                                nu_hat.size());
  }
};

// [field][ν̂_th][coefficient][order]
std::vector<double> integrals(const Database& base, std::span<const double> thermal) {
  std::vector<double> out;
  for (std::size_t f = 0; f < base.epsi_hat.size(); ++f) {
    for (const double nu : thermal) {
      for (std::size_t c = 0; c < kCoefficients; ++c) {
        for (int order = 0; order < kOrders; ++order) {
          out.push_back(tr::energy_integral(base.nu_hat, base.table(c, f), nu, order));
        }
      }
    }
  }
  return out;
}

Tensor tensor_of(std::span<const double> values, std::int64_t columns) {
  Tensor t(DType::kF64, Shape({static_cast<std::int64_t>(values.size()) / columns, columns}));
  std::ranges::copy(values, t.as<double>().begin());
  return t;
}

class Workflow : public lab::Workload {
 public:
  Workflow(const TransportPoint& point, int threads) : point_(point), threads_(threads) {
    write_file_atomically(surface_path(), surface_file(engine_surface(point)));
  }

  void load(int slot, int set) override {
    slots_.at(static_cast<std::size_t>(slot)) = {engine_cases(point_, set),
                                                 thermal_collisionalities(point_, set)};
  }

  void call(int slot) override {
    const auto& [cases, thermal] = slots_.at(static_cast<std::size_t>(slot));
    Stages stages;
    stages.begin("surface");
    const auto surface = tr::read_surface_text(surface_path());
    stages.begin("prepare");
    const auto prepared = tr::prepare(surface, engine_grid(point_));
    stages.begin("scan");
    tr::ScanOptions options;
    options.threads = threads_;
    const auto solutions = tr::solve_scan(prepared, cases, options).solutions;
    stages.begin("database");
    const Database base(solutions, static_cast<std::size_t>(point_.fields));
    stages.begin("integrals");
    const auto values = integrals(base, thermal);
    stages.begin("output");
    std::vector<double> rows;
    for (const auto& s : solutions) rows.insert(rows.end(), {s.d.d11, s.d.d31, s.d.d13, s.d.d33});
    const auto d = tensor_of(rows, kCoefficients), i = tensor_of(values, kCoefficients * kOrders),
               nu = tensor_of(base.nu_hat, 1), epsi = tensor_of(base.epsi_hat, 1);
    write_safetensors(
        output_path(),
        {{"d", d.view()}, {"i", i.view()}, {"nu_hat", nu.view()}, {"epsi_hat", epsi.view()}});
    stages.end();
    stages_ = stages.times();
  }

  // What is judged is the file that the call wrote.
  void poison_outputs() override { std::filesystem::remove(output_path()); }
  void write_outputs(const std::string& path) override {
    write_file_atomically(path, read_file(output_path()));
  }

  std::vector<std::pair<std::string, double>> stages() const override { return stages_; }
  std::map<std::string, double> metrics() const override {
    return {{"lanes", static_cast<double>(threads_)}};
  }
  std::map<std::string, std::string> versions() const override {
    return {{"blas", blas::description() + "; 1 thread"}};
  }

 private:
  std::string surface_path() const { return folder_.path() + "/surface.txt"; }
  std::string output_path() const { return folder_.path() + "/workflow.safetensors"; }

  struct Inputs {
    std::vector<tr::Case> cases;
    std::vector<double> thermal;
  };
  TransportPoint point_;
  int threads_;
  TemporaryDirectory folder_;
  std::array<Inputs, 2> slots_;
  std::vector<std::pair<std::string, double>> stages_;
};

}  // namespace

std::string surface_file(const tr::Surface& s) {
  std::string text = fmt::format(
      "Number of periods: {}\npsi_p: {:.17g}\niota: {:.17g}\nB_theta: {:.17g}\nB_zeta: {:.17g}\n",
      s.nfp, s.psi_prime, s.iota, s.b_theta, s.b_zeta);
  for (const auto& h : s.b) text += fmt::format("{} {} {:.17g}\n", h.m, h.n, h.cosine);
  return text;
}

std::unique_ptr<lab::Workload> make_workflow(const Json& point, int threads) {
  return std::make_unique<Workflow>(TransportPoint(point), threads);
}

}  // namespace assay::cases::transport
