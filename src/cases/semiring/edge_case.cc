// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "cases/semiring/case_list.h"
#include "cases/semiring/edge_inputs.h"
#include "cases/semiring/oracle/plain_loops.h"
#include "cases/semiring/peers.h"
#include "cases/semiring/tolerance.h"
#include "lab/record/sample_rows.h"
#include "semiring/ref/naive.h"

namespace assay::cases::semiring {
namespace {

using lab::Provider;
using lab::Skip;

constexpr double kOracleTerms = 0x1p26;  // products with W in the oracle
constexpr std::int64_t kFewestEdgeRows = 8;
constexpr std::uint64_t kEdgeWorkerBytes = 64 << 20;  // a worker before it has inputs

class EllEdgeAggregate : public lab::Case {
 public:
  std::string_view suite() const override { return "semiring"; }
  std::string_view name() const override { return "ell_edge_aggregate"; }
  std::string_view description() const override {
    return "out_i = ⊕_p v_ip (W x_idx(i,p)) over padded neighbour lists, ⊕ = sum or max";
  }
  const lab::PointSchema& schema() const override {
    static const lab::PointSchema kSchema(
        {{"reduce", "⊕ over the slots", 0, 0, {"sum", "max"}, ""},
         {"dtype", "of features and weights", 0, 0, {"f32", "f64"}, ""},
         {"n", "vertices", 1, 1 << 21, {}, ""},
         {"k", "slots of a vertex", 1, 1024, {}, ""},
         {"d", "features in and out", 1, 4096, {}, ""},
         {"degrees", "present slots", 0, 0, {"full", "power_law"}, ""},
         {"seed", "of the inputs", 0, 1 << 30, {}, ""}});
    return kSchema;
  }
  std::vector<Json> representative_points() const override {
    return {point(16384, 64, "sum", "full"), point(16384, 64, "max", "full")};
  }
  std::vector<Json> standard_points() const override {
    std::vector<Json> points;
    for (const char* reduce : {"sum", "max"}) {
      for (const char* degrees : {"full", "power_law"}) {
        for (const int n : {4096, 16384, 262144}) points.push_back(point(n, 64, reduce, degrees));
        for (const int d : {8, 256}) points.push_back(point(16384, d, reduce, degrees));
      }
    }
    return points;
  }
  std::vector<Provider> providers() const override {
    return with_peers(
        {
            {.id = "reference",
             .description = "plain loops in f64: W x once for each vertex, then weighted per edge"},
            {.id = "naive",
             .description = "W x once for each vertex, all weighted edges in memory, then reduced"},
            {.id = "assay-simd",
             .description = "vector kernels; W before the edges for max, after them for sum"},
            {.id = "numpy",
             .description =
                 "NumPy: x Wᵀ once for each vertex, gathered over blocks of vertices, then reduced",
             .runtime = lab::Runtime::kPython,
             .modules = {"numpy"}},
        },
        with_peers(device_edge_providers(), edge_peers()));
  }
  std::string_view baseline() const override { return "reference"; }
  std::optional<Skip> why_not(const Json& json, std::string_view provider,
                              std::string_view platform) const override {
    if (provider == "pyg" && platform == "cuda" && json.at("reduce") == "max") {
      return Skip{"provider_not_applicable", "torch.sparse.mm has no maximum on a GPU"};
    }
    return std::nullopt;
  }

  std::uint64_t memory_estimate(const Json& json, std::string_view provider) const override {
    const EdgePoint p(json);
    const double size = static_cast<double>(size_of(p.dtype));
    const double vertices = static_cast<double>(p.n), d = static_cast<double>(p.d),
                 k = static_cast<double>(p.k);
    double bytes =
        2 * (vertices * (d + k) * size + 4 * vertices * k + d * d * size) + vertices * d * size;
    if (provider == "naive") {
      bytes += assay::semiring::naive_ell_edge_aggregate_bytes(p.dtype, p.n, p.k, p.n, p.d);
    } else {
      bytes += 3 * vertices * d * 8;  // W x, and the result before it is rounded
    }
    if (keeps_all_edges(provider, p.k)) bytes += 2 * vertices * k * d * size;
    return static_cast<std::uint64_t>(bytes) + kEdgeWorkerBytes + framework_bytes(provider);
  }

  // The cheapest arithmetic: W x once for each vertex, then a multiply and a reduction per edge.
  // Bytes are those of the gather: every edge reads its source, its index and its weight.
  std::map<std::string, double> work(const Json& json) const override {
    const EdgePoint p(json);
    const double edges = static_cast<double>(count_edges(p, 0));
    const double vertices = static_cast<double>(p.n), d = static_cast<double>(p.d);
    const double size = static_cast<double>(size_of(p.dtype));
    return {{"edges", edges},
            {"flops", 2 * vertices * d * d + 2 * edges * d},
            {"bytes", edges * d * size + vertices * d * size + edges * (4 + size)}};
  }

  // W x at the multiply-add ceiling, then the gather at the bandwidth of the level that x fits. A
  // cache that holds a part of x beats that level: a goal, not a bound.
  std::optional<lab::Limit> limit(const Json& json, int cores,
                                  const lab::Ceilings& ceilings) const override {
    const EdgePoint p(json);
    const double vertices = static_cast<double>(p.n), d = static_cast<double>(p.d);
    const double x_bytes = vertices * d * static_cast<double>(size_of(p.dtype));
    const auto name = fmt::format("fma_{}", name_of(p.dtype));
    const auto fma = ceilings.rate(name, cores), read = ceilings.read_rate(x_bytes, cores);
    if (!fma || !read) return std::nullopt;
    return lab::Limit{vertices * d * d / *fma + work(json).at("bytes") / *read, name + " + read",
                      false};
  }

  std::vector<lab::Expectation> expect(const Json& json, int set,
                                       std::int64_t draw) const override {
    const EdgePoint p(json);
    EdgeInputs inputs(p);
    fill_inputs(p, set, inputs);
    const auto sample = lab::sample_rows(p.n, static_cast<double>(p.k * p.d * p.d), kOracleTerms,
                                         kFewestEdgeRows, draw);
    const auto tolerance = edge_tolerance(p.dtype, p.d, p.k);
    lab::Expectation e;
    e.output = "out";
    e.dtype = name_of(p.dtype);
    e.shape = {p.n, p.d};
    e.rows = sample.rows;
    e.sample_seed = sample.seed;
    e.values = oracle::edge_rows(p.reduce == assay::semiring::EdgeReduce::kSum, inputs.v.view(),
                                 inputs.idx.view(), inputs.x.view(), inputs.w.view(), sample.rows);
    e.rtol = tolerance.rtol;
    e.atol = tolerance.atol;
    e.oracle = "plain loops, W x of each edge, summed in long double";
    return {e};
  }

 private:
  static Json point(int n, int d, const char* reduce, const char* degrees) {
    return {{"reduce", reduce}, {"dtype", "f32"},     {"n", n},   {"k", 16},
            {"d", d},           {"degrees", degrees}, {"seed", 0}};
  }
};

}  // namespace

std::unique_ptr<lab::Case> ell_edge_aggregate_case() {
  return std::make_unique<EllEdgeAggregate>();
}

}  // namespace assay::cases::semiring
