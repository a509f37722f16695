// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <functional>
#include <optional>

#include "cases/einsum/case_list.h"
#include "cases/einsum/mp2_inputs.h"
#include "einsum/mp2/mp2.h"
#include "kernels/blas/blas.h"
#include "lab/record/point.h"
#include "tensor/safetensors.h"

namespace assay::cases::einsum {
namespace {

namespace engine = assay::einsum;
using lab::Provider;

// Pair by pair as the formula stands: T of one pair in memory, every element visited.
engine::Mp2Energy by_pairs(const Mp2Problem& s) {
  const auto shape = s.b.shape();
  const std::int64_t nvir = shape[1], naux = shape[2];
  std::vector<double> t(static_cast<std::size_t>(nvir * nvir));
  engine::Mp2Energy e;
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    for (std::int64_t j = 0; j < shape[0]; ++j) {
      const double* b = s.b.as<double>().data();
      blas::gemm<double>(blas::Op::kNone, blas::Op::kTranspose, static_cast<int>(nvir),
                         static_cast<int>(nvir), static_cast<int>(naux), 1, b + i * nvir * naux,
                         static_cast<int>(naux), b + j * nvir * naux, static_cast<int>(naux), 0,
                         t.data(), static_cast<int>(nvir));
      double opposite = 0, same = 0;
      for (std::int64_t a = 0; a < nvir; ++a) {
        for (std::int64_t c = 0; c < nvir; ++c) {
          const double x = t[static_cast<std::size_t>(a * nvir + c)],
                       y = t[static_cast<std::size_t>(c * nvir + a)];
          const double gap =
              s.occupied[static_cast<std::size_t>(i)] + s.occupied[static_cast<std::size_t>(j)] -
              s.virtuals[static_cast<std::size_t>(a)] - s.virtuals[static_cast<std::size_t>(c)];
          opposite += x * x / gap;
          same += x * (x - y) / gap;
        }
      }
      e.opposite_spin += opposite;
      e.same_spin += same;
    }
  }
  e.total = e.opposite_spin + e.same_spin;
  return e;
}

class Mp2EnergyCase : public lab::Case {
 public:
  std::string_view suite() const override { return "einsum"; }
  std::string_view name() const override { return "mp2_energy"; }
  std::string_view description() const override {
    return "density-fitted MP2 correlation energy in f64, from three-index integrals";
  }
  const lab::PointSchema& schema() const override {
    static const lab::PointSchema kSchema({{"nocc", "occupied orbitals", 1, 512, {}, ""},
                                           {"nvir", "virtual orbitals", 1, 4096, {}, ""},
                                           {"naux", "auxiliary functions", 1, 16384, {}, ""},
                                           {"seed", "of the integrals", 0, 1 << 30, {}, ""}});
    return kSchema;
  }
  std::vector<Json> representative_points() const override { return {point(16, 128, 128)}; }
  std::vector<Json> standard_points() const override {
    return {point(5, 19, 72), point(16, 128, 128), point(32, 256, 512)};
  }
  // With one that fills a GPU; its right answer takes minutes of a core.
  std::vector<Json> all_points() const override {
    auto points = standard_points();
    points.push_back(point(64, 512, 1024));
    return points;
  }
  std::vector<Provider> providers() const override {
    return {{.id = "assay-fused",
             .description = "this engine: pairs i ≤ j, tiles in cache",
             .library = "libopenblas.so.0"},
            {.id = "pairs",
             .description = "one OpenBLAS product for every pair, then the formula",
             .library = "libopenblas.so.0"},
            {.id = "numpy",
             .description = "NumPy: loop over pairs i ≤ j",
             .runtime = lab::Runtime::kPython,
             .modules = {"numpy"}},
            {.id = "torch",
             .description = "torch: loop over pairs i ≤ j, on a GPU over i with all j ≥ i at once",
             .runtime = lab::Runtime::kPython,
             .platforms = {"cpu", "cuda"},
             .modules = {"torch", "numpy"}},
            {.id = "assay",
             .description = "this engine on a GPU: products of an i with some j ≥ i, sums behind "
                            "each, on three streams",
             .platforms = {"cuda"},
             .library = "libcublas.so"},
            {.id = "cupy",
             .description = "CuPy: loop over i with all j ≥ i at once",
             .runtime = lab::Runtime::kPython,
             .platforms = {"cuda"},
             .modules = {"cupy"}},
            {.id = "jax",
             .description = "JAX, jitted: loop over i with all j ≥ i at once",
             .runtime = lab::Runtime::kPython,
             .platforms = {"cuda"},
             .modules = {"jax", "jaxlib"}}};
  }
  std::string_view baseline() const override { return "assay-fused"; }
  std::optional<lab::Skip> why_not(const Json&, std::string_view, std::string_view) const override {
    return std::nullopt;
  }
  std::uint64_t memory_estimate(const Json& json, std::string_view) const override {
    const Mp2Point p(json);
    return static_cast<std::uint64_t>(8 * (3 * p.nocc * p.nvir * p.naux + 8 * p.nvir * p.nvir)) +
           (std::uint64_t{1} << 30);
  }
  std::map<std::string, double> work(const Json& json) const override {
    const Mp2Point p(json);
    return {{"flops", engine::mp2_flop(p.nocc, p.nvir, p.naux)},
            {"bytes", 8.0 * static_cast<double>(p.nocc * p.nvir * p.naux)}};
  }
  // All products at the rate of multiply-adds.
  std::optional<lab::Limit> limit(const Json& json, int cores,
                                  const lab::Ceilings& ceilings) const override {
    const auto product = ceilings.product_time(work(json).at("flops") / 2, "f64", cores);
    if (!product) return std::nullopt;
    return lab::Limit{product->seconds, product->ceiling};
  }
  std::vector<lab::Expectation> expect(const Json& json, int set,
                                       std::int64_t /*draw*/) const override {
    const auto e = plain_mp2(make_problem(Mp2Point(json), set));
    lab::Expectation x;
    x.output = "energy";
    x.dtype = "f64";
    x.shape = {3};
    x.rows = {0, 1, 2};
    x.values.assign(e.begin(), e.end());
    x.rtol = 1e-10;  // the suite's bar; f64 sums of 1e9 terms of one sign err by less
    x.oracle = "the formula by plain loops in f64";
    return {x};
  }

 private:
  static Json point(int nocc, int nvir, int naux) {
    return {{"nocc", nocc}, {"nvir", nvir}, {"naux", naux}, {"seed", 0}};
  }
};

class Mp2Workload : public lab::Workload {
 public:
  using Compute = std::function<engine::Mp2Energy(const Mp2Problem&)>;
  Mp2Workload(const Json& point, Compute compute)
      : point_(point), compute_(std::move(compute)), energy_(DType::kF64, Shape({3})) {}
  void load(int slot, int set) override {
    slots_[static_cast<std::size_t>(slot)] = make_problem(point_, set);
  }
  void call(int slot) override {
    const auto e = compute_(*slots_[static_cast<std::size_t>(slot)]);
    const auto out = energy_.as<double>();
    out[0] = e.total;
    out[1] = e.opposite_spin;
    out[2] = e.same_spin;
  }
  void poison_outputs() override {
    std::memset(energy_.bytes().data(), 0xFF, energy_.bytes().size());
  }
  void write_outputs(const std::string& path) override {
    write_safetensors(path, {{"energy", energy_.view()}});
  }
  std::map<std::string, std::string> versions() const override {
    return {{"openblas", blas::description()}};
  }

 private:
  Mp2Point point_;
  Compute compute_;
  std::array<std::optional<Mp2Problem>, 2> slots_;
  Tensor energy_;
};

}  // namespace

std::unique_ptr<lab::Case> mp2_energy_case() { return std::make_unique<Mp2EnergyCase>(); }

void add_mp2_workloads(lab::WorkloadRegistry& w) {
  w.add("mp2_energy", "assay-fused", [](const Json& point, int cores) {
    return std::make_unique<Mp2Workload>(point, [cores](const Mp2Problem& s) {
      return engine::mp2_energy(s.b.view(), s.occupied, s.virtuals, {.threads = cores});
    });
  });
  w.add("mp2_energy", "pairs",
        [](const Json& point, int) { return std::make_unique<Mp2Workload>(point, by_pairs); });
}

}  // namespace assay::cases::einsum
