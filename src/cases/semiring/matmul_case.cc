// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/error.h"
#include "cases/semiring/case_list.h"
#include "cases/semiring/matmul_inputs.h"
#include "cases/semiring/oracle/plain_loops.h"
#include "cases/semiring/peers.h"
#include "cases/semiring/tolerance.h"
#include "lab/record/point.h"
#include "lab/record/sample_rows.h"
#include "semiring/problem.h"
#include "semiring/ref/naive.h"

namespace assay::cases::semiring {
namespace {

using lab::Parameter;
using lab::Provider;
using lab::Skip;

constexpr double kOraclePairs = 0x1p27;  // 512³: about a second for log, less for the others
constexpr std::int64_t kFewestRows = 8;
constexpr double kReferencePairs = 0x1p30;        // above, plain loops take minutes
constexpr std::uint64_t kWorkerBytes = 64 << 20;  // a worker before it has inputs

Json with(Json point, const Json& changes) {
  point.update(changes);
  return point;
}

// What semiring_matmul and dense_matmul share: inputs, oracle, work.
class MatmulCase : public lab::Case {
 public:
  std::string_view suite() const override { return "semiring"; }

  std::map<std::string, double> work(const Json& point) const override {
    const MatmulPoint p(point);
    // Operations per pair: multiply and add; add, exp and add; add and compare; subtract, multiply
    // and add.
    const bool three = p.algebra == Algebra::kLog || p.algebra == Algebra::kEuclidean;
    return {{"pairs", p.pairs()}, {"flops", (three ? 3 : 2) * p.pairs()}, {"bytes", p.bytes()}};
  }

  // One multiply-add for each pair, or one addition and one comparison; log and euclidean reduce to
  // a real product.
  std::optional<lab::Limit> limit(const Json& point, int cores,
                                  const lab::Ceilings& ceilings) const override {
    const MatmulPoint p(point);
    if (p.algebra == Algebra::kBoolean) return std::nullopt;
    const bool compares = p.algebra == Algebra::kMaxPlus || p.algebra == Algebra::kMinPlus;
    if (!compares) {
      const auto product = ceilings.product_time(p.pairs(), name_of(p.inputs), cores);
      if (!product) return std::nullopt;
      return lab::Limit{product->seconds, product->ceiling};
    }
    // A GPU has a maximum of three integers.
    const auto dtype = name_of(p.dtype);
    std::string name = fmt::format("add_max3_{}", dtype);
    auto rate = ceilings.rate(name, cores);
    if (!rate) rate = ceilings.rate(name = fmt::format("add_max_{}", dtype), cores);
    if (!rate) return std::nullopt;
    return lab::Limit{p.pairs() / *rate, name};
  }

  std::uint64_t memory_estimate(const Json& point, std::string_view provider) const override {
    const MatmulPoint p(point);
    double bytes = 2 * p.bytes();  // two sets of inputs, and the output
    if (provider == "naive") {
      bytes += assay::semiring::naive_matmul_bytes(p.algebra, p.dtype, 1, p.m, p.k, p.n);
    }
    if (provider == "reference") bytes += 8.0 * static_cast<double>(p.k * p.n + p.m * p.n);
    return static_cast<std::uint64_t>(bytes) + kWorkerBytes + framework_bytes(provider);
  }

  std::vector<lab::Expectation> expect(const Json& point, int set,
                                       std::int64_t draw) const override {
    const MatmulPoint p(point);
    MatmulInputs inputs(p);
    fill_inputs(p, set, inputs);
    const auto sample =
        lab::sample_rows(p.m, static_cast<double>(p.k * p.n), kOraclePairs, kFewestRows, draw);
    const double largest_term = p.spread ? 100 : 2 * std::sqrt(3.0);
    const auto tolerance = matmul_tolerance(p.algebra, p.dtype, p.k, largest_term);
    lab::Expectation e;
    e.output = "c";
    e.dtype = name_of(p.dtype);
    e.shape = {p.m, p.n};
    e.rows = sample.rows;
    e.sample_seed = sample.seed;
    e.values =
        oracle::matmul_rows(name_of(p.algebra), inputs.a.view(), inputs.b.view(), sample.rows);
    e.rtol = tolerance.rtol;
    e.atol = tolerance.atol;
    e.oracle = "plain loops, terms in order of k, summed in long double";
    return {e};
  }

 protected:
  static std::optional<Skip> too_long_for_plain_loops(const MatmulPoint& p,
                                                      std::string_view provider) {
    if (provider != "reference" || p.pairs() <= kReferencePairs) return std::nullopt;
    return Skip{"provider_not_applicable",
                fmt::format("plain loops over {:.2g} pairs take minutes", p.pairs())};
  }
};

class SemiringMatmul : public MatmulCase {
 public:
  std::string_view name() const override { return "semiring_matmul"; }
  std::string_view description() const override {
    return "C_ij = ⊕_k (A_ik ⊗ B_kj) over the real, log, tropical, euclidean and boolean algebras";
  }
  const lab::PointSchema& schema() const override {
    static const lab::PointSchema kSchema(
        {{"algebra",
          "⊗ and ⊕",
          0,
          0,
          {"real", "log", "max_plus", "min_plus", "euclidean", "boolean"},
          ""},
         {"dtype", "of inputs and output", 0, 0, {"f32", "f64", "bool"}, ""},
         {"inputs",
          "what A and B are rounded to, and on a GPU are in",
          0,
          0,
          {"f16", "bf16", "f32", "f64", "bool"},
          "dtype"},
         {"n", "columns of B", 1, 16384, {}, ""},
         {"m", "rows of A", 1, 16384, {}, "n"},
         {"k", "columns of A, rows of B", 0, 1 << 17, {}, "n"},
         {"regime", "of the inputs", 0, 0, {"unit", "spread"}, ""},
         {"seed", "of the inputs", 0, 1 << 30, {}, ""}});
    return kSchema;
  }
  // dtype and regime follow the algebra where they are not given.
  Json complete_point(const Json& given, const Json& defaults) const override {
    Json base = defaults;
    const auto chosen = given.is_object() ? given.value("algebra", Json()) : Json();
    if (chosen == "boolean") base["dtype"] = "bool";
    if (chosen == "boolean" || chosen == "real") base["regime"] = "unit";
    auto point = schema().complete(given, base);
    const bool boolean = point["algebra"] == "boolean";
    if (boolean != (point["dtype"] == "bool")) {
      fail("point: algebra {} does not go with dtype {}", canonical_json(point["algebra"]),
           canonical_json(point["dtype"]));
    }
    if (point.contains("inputs") &&
        (point["dtype"] != "f32" || (point["inputs"] != "f16" && point["inputs"] != "bf16"))) {
      fail("point: inputs of another dtype are f16 or bf16 with dtype \"f32\", got {} with {}",
           canonical_json(point["inputs"]), canonical_json(point["dtype"]));
    }
    if (point["regime"] == "spread" && (boolean || point["algebra"] == "real")) {
      fail("point: regime \"spread\" is not defined for algebra {}",
           canonical_json(point["algebra"]));
    }
    return point;
  }
  std::vector<Json> representative_points() const override {
    std::vector<Json> points;
    for (const char* algebra : {"real", "log", "max_plus", "euclidean"})
      points.push_back(cube(algebra, 512));
    return points;
  }
  std::vector<Json> standard_points() const override { return grid({"f32"}, {"unit"}); }
  std::vector<Json> all_points() const override { return grid({"f32", "f64"}, {"unit", "spread"}); }

  std::vector<Provider> providers() const override {
    return with_peers(
        {
            {.id = "reference", .description = "plain loops, accumulated in f64"},
            {.id = "naive", .description = "all m·k·n terms in memory, then reduced"},
            {.id = "assay-simd",
             .description =
                 "vector kernels; log and euclidean by a real product, certified by entry"},
            {.id = "openblas",
             .description = "OpenBLAS gemm, for the real algebra",
             .library = "libopenblas.so.0"},
            {.id = "blis",
             .description = "BLIS gemm, for the real algebra",
             .library = "libblis.so.4"},
            {.id = "numpy",
             .description =
                 "NumPy: matmul for real, broadcast and reduce over blocks of rows for the others",
             .runtime = lab::Runtime::kPython,
             .modules = {"numpy"}},
        },
        with_peers(device_matmul_providers(), matmul_peers()));
  }
  std::string_view baseline() const override { return "reference"; }
  std::optional<Skip> why_not(const Json& point, std::string_view provider,
                              std::string_view platform) const override {
    const MatmulPoint p(point);
    const bool is_blas = provider == "openblas" || provider == "blis" || provider == "cublas";
    if (is_blas && p.algebra != Algebra::kReal) {
      return Skip{"provider_not_applicable", "BLAS knows the real algebra only"};
    }
    if (auto skip = why_peer_cannot(provider, p.algebra)) return skip;
    if (p.inputs != p.dtype && platform == "cuda" && !takes_halves_on_gpu(provider)) {
      return Skip{"provider_not_applicable",
                  fmt::format("takes no factors in {} here", name_of(p.inputs))};
    }
    return too_long_for_plain_loops(p, provider);
  }

 private:
  static Json cube(const char* algebra, int n) {
    const bool boolean = std::string_view(algebra) == "boolean";
    return {{"algebra", algebra},
            {"dtype", boolean ? "bool" : "f32"},
            {"n", n},
            {"regime", "unit"},
            {"seed", 0}};
  }
  static std::vector<Json> grid(const std::vector<std::string>& dtypes,
                                const std::vector<std::string>& regimes) {
    const std::vector<Json> shapes = {{{"n", 64}},
                                      {{"n", 256}},
                                      {{"n", 512}},
                                      {{"n", 1024}},
                                      {{"n", 2048}},
                                      {{"n", 4096}, {"k", 64}},
                                      {{"n", 64}, {"k", 4096}},
                                      {{"n", 1000}},
                                      {{"m", 513}, {"k", 257}, {"n", 129}}};
    std::vector<Json> points;
    for (const char* algebra : {"real", "log", "max_plus", "min_plus", "euclidean", "boolean"}) {
      const auto base = cube(algebra, 512);
      for (const auto& dtype : dtypes) {
        for (const auto& regime : regimes) {
          if (regime == "spread" && (base["algebra"] == "real" || base["algebra"] == "boolean"))
            continue;
          if (base["algebra"] == "boolean" && dtype != dtypes.front()) continue;
          for (const auto& shape : shapes) {
            auto point = with(with(base, shape), {{"regime", regime}});
            if (base["algebra"] != "boolean") point["dtype"] = dtype;
            points.push_back(point);
          }
        }
      }
    }
    return points;
  }
};

class DenseMatmul : public MatmulCase {
 public:
  std::string_view name() const override { return "dense_matmul"; }
  std::string_view description() const override {
    return "C = A B in f32, with a provider that accumulates in bf16 and must be refused";
  }
  const lab::PointSchema& schema() const override {
    static const lab::PointSchema kSchema(
        {{"dtype", "of inputs and output", 0, 0, {"f32", "f64"}, ""},
         {"n", "columns of B", 1, 16384, {}, ""},
         {"m", "rows of A", 1, 16384, {}, "n"},
         {"k", "columns of A, rows of B", 0, 16384, {}, "n"},
         {"seed", "of the inputs", 0, 1 << 30, {}, ""}});
    return kSchema;
  }
  std::vector<Json> representative_points() const override {
    return {with(cube(512), {{"k", 256}})};
  }
  std::vector<Json> standard_points() const override {
    return {cube(128), representative_points().front(), cube(2048)};
  }
  std::vector<Provider> providers() const override {
    return with_peers(
        {
            {.id = "openblas", .description = "OpenBLAS gemm", .library = "libopenblas.so.0"},
            {.id = "blis", .description = "BLIS gemm", .library = "libblis.so.4"},
            {.id = "assay-simd", .description = "vector kernels"},
            {.id = "reference", .description = "plain loops, accumulated in f64"},
            {.id = "naive", .description = "all m·k·n terms in memory, then reduced"},
            {.id = "numpy",
             .description = "numpy.matmul",
             .runtime = lab::Runtime::kPython,
             .modules = {"numpy"}},
            {.id = "bf16-accumulate",
             .description = "plain loops with a bf16 accumulator: shows what the judge refuses",
             .expected_status = lab::Status::kWrongResult},
        },
        with_peers(device_matmul_providers(), dense_matmul_peers()));
  }
  std::string_view baseline() const override { return "openblas"; }
  std::optional<Skip> why_not(const Json& point, std::string_view provider,
                              std::string_view) const override {
    const MatmulPoint p(point);
    const bool plain = provider == "bf16-accumulate";
    return too_long_for_plain_loops(p, plain ? "reference" : provider);
  }

 private:
  static Json cube(int n) { return {{"dtype", "f32"}, {"n", n}, {"seed", 0}}; }
};

}  // namespace

std::unique_ptr<lab::Case> semiring_matmul_case() { return std::make_unique<SemiringMatmul>(); }
std::unique_ptr<lab::Case> dense_matmul_case() { return std::make_unique<DenseMatmul>(); }

}  // namespace assay::cases::semiring
