// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "cases/einsum/case_list.h"
#include "cases/einsum/contraction_expectation.h"
#include "cases/einsum/contractions.h"
#include "cases/einsum/written_pair.h"

namespace assay::cases::einsum {
namespace {

using lab::Provider;
using lab::Skip;

// einsum_expression: the seed of its random pairs, how many a plain run has, and how many there
// are.
constexpr std::uint64_t kDrawn = 401;
constexpr int kStandardPairs = 20, kAllPairs = 200;
constexpr double kReferenceTerms = 0x1p28;         // above, loops over all labels take minutes
constexpr std::uint64_t kWorkerBytes = 192 << 20;  // a worker with BLAS before it has inputs

// What einsum_pair and einsum_network share: only their tables differ.
class ContractionCase : public lab::Case {
 public:
  explicit ContractionCase(const std::vector<Contraction>& table)
      : ContractionCase(table, which_one(table)) {}

  std::string_view suite() const override { return "einsum"; }
  const lab::PointSchema& schema() const override { return schema_; }
  std::vector<Json> standard_points() const override {
    std::vector<Json> points;
    for (const auto& c : table_) points.push_back(point(c.name, "f32"));
    return points;
  }
  std::vector<Json> all_points() const override {
    auto points = standard_points();
    for (const auto& c : table_) points.push_back(point(c.name, "f64"));
    return points;
  }
  std::vector<Provider> providers() const override {
    return {
        {.id = "assay-blas",
         .description = "this engine: planned, lowered to OpenBLAS and loops",
         .library = "libopenblas.so.0"},
        {.id = "assay-planned",
         .description = "the same, planned before the calls",
         .library = "libopenblas.so.0"},
        {.id = "assay-tuned",
         .description =
             "the same by the kernel that was fastest when all were tried before the calls",
         .library = "libopenblas.so.0"},
        {.id = "reference", .description = "plain loops over all labels, sums in f64"},
        {.id = "numpy",
         .description = "numpy.einsum with optimize=True",
         .runtime = lab::Runtime::kPython,
         .modules = {"numpy"}},
        {.id = "numpy-plain",
         .description = "numpy.einsum without optimize",
         .runtime = lab::Runtime::kPython,
         .modules = {"numpy"}},
        {.id = "opt_einsum",
         .description = "opt_einsum.contract over NumPy, path found before the timed calls",
         .runtime = lab::Runtime::kPython,
         .modules = {"opt_einsum", "numpy"}},
        {.id = "torch",
         .description = "torch.einsum",
         .runtime = lab::Runtime::kPython,
         .platforms = {"cpu", "cuda"},
         .modules = {"torch", "numpy"}},
        {.id = "assay",
         .description = "this engine on a GPU: planned before the calls, operands and result there",
         .platforms = {"cuda"},
         .library = "libcublas.so"},
        {.id = "cupy",
         .description = "cupy.einsum with optimize=True",
         .runtime = lab::Runtime::kPython,
         .platforms = {"cuda"},
         .modules = {"cupy"}},
        {.id = "jax",
         .description = "jax.numpy.einsum, jitted, in the precision of the operands",
         .runtime = lab::Runtime::kPython,
         .platforms = {"cuda"},
         .modules = {"jax", "jaxlib"}},
    };
  }
  std::string_view baseline() const override { return "assay-blas"; }
  std::optional<Skip> why_not(const Json& json, std::string_view provider,
                              std::string_view) const override {
    const ContractionPoint p(json, table_);
    if (provider == "assay-tuned" && p.shapes.size() > 2) {
      return Skip{"provider_not_applicable", "tries kernels for one pair of tensors"};
    }
    const bool loops = provider == "reference" || provider == "numpy-plain";
    if (loops && p.product_of_extents > kReferenceTerms) {
      return Skip{"provider_not_applicable",
                  fmt::format("plain loops over {:.2g} terms take minutes", p.product_of_extents)};
    }
    return std::nullopt;
  }
  std::uint64_t memory_estimate(const Json& json, std::string_view) const override {
    const ContractionPoint p(json, table_);
    return static_cast<std::uint64_t>(8 * p.bytes) + (std::uint64_t{2} << 30) + kWorkerBytes;
  }
  std::map<std::string, double> work(const Json& json) const override {
    const ContractionPoint p(json, table_);
    return {{"flops", p.contraction.flop}, {"bytes", p.bytes}};
  }
  // The fewest operations at the rate of multiply-adds, or every tensor once at the rate of memory,
  // whichever takes longer. The second is no bound: what fits into a cache may be faster.
  std::optional<lab::Limit> limit(const Json& json, int cores,
                                  const lab::Ceilings& ceilings) const override {
    const ContractionPoint p(json, table_);
    const auto product = ceilings.product_time(p.contraction.flop / 2, name_of(p.dtype), cores);
    if (!product) return std::nullopt;
    const lab::Limit arithmetic{product->seconds, product->ceiling};
    const auto triad = ceilings.rate("triad", cores);
    if (!triad || p.bytes / *triad <= arithmetic.seconds) return arithmetic;
    return lab::Limit{p.bytes / *triad, "triad", false};
  }

  std::vector<lab::Expectation> expect(const Json& json, int set,
                                       std::int64_t draw) const override {
    return expectations(ContractionPoint(json, table_), set, draw);
  }

 protected:
  ContractionCase(const std::vector<Contraction>& table, std::vector<lab::Parameter> first)
      : table_(table), schema_(with_dtype(std::move(first))) {}
  static Json point(const std::string& name, const char* dtype) {
    return {{"contraction", name}, {"dtype", dtype}, {"seed", 0}};
  }

 private:
  static std::vector<lab::Parameter> which_one(const std::vector<Contraction>& table) {
    std::vector<std::string> names;
    for (const auto& c : table) names.push_back(c.name);
    return {{"contraction", "which one", 0, 0, names, ""}};
  }
  static std::vector<lab::Parameter> with_dtype(std::vector<lab::Parameter> parameters) {
    parameters.push_back({"dtype", "of operands and result", 0, 0, {"f32", "f64"}, ""});
    parameters.push_back({"seed", "of the operands", 0, 1 << 30, {}, ""});
    return parameters;
  }

  const std::vector<Contraction>& table_;
  lab::PointSchema schema_;
};

class EinsumPair : public ContractionCase {
 public:
  EinsumPair() : ContractionCase(pair_contractions()) {}
  std::string_view name() const override { return "einsum_pair"; }
  std::string_view description() const override {
    return "two tensors: matrix products, batches, transposed results, contractions of chemistry";
  }
  std::vector<Json> representative_points() const override { return {point("matmul_1024", "f32")}; }
};

class EinsumNetwork : public ContractionCase {
 public:
  EinsumNetwork() : ContractionCase(network_contractions()) {}
  std::string_view name() const override { return "einsum_network"; }
  std::string_view description() const override {
    return "networks of three to sixteen tensors whose best orders are known";
  }
  std::vector<Json> representative_points() const override { return {point("attention", "f32")}; }
};

// Any pair that somebody writes down; without that, drawn ones.
class EinsumExpression : public ContractionCase {
 public:
  EinsumExpression()
      : ContractionCase(kNoTable,
                        {{.name = "expression", .description = "ij,jk->ik", .text = true},
                         {.name = "extents",
                          .description = "of the labels in order of appearance: 512x64x512",
                          .text = true}}) {}
  std::string_view name() const override { return "einsum_expression"; }
  std::string_view description() const override {
    return "two tensors contracted as a point spells it out; else random pairs";
  }
  Json complete_point(const Json& given, const Json& defaults) const override {
    auto point = schema().complete(given, defaults);
    written_pair(lab::point_word(point, "expression"), lab::point_word(point, "extents"));
    return point;
  }
  std::vector<Json> representative_points() const override { return drawn_points(1); }
  std::vector<Json> standard_points() const override { return drawn_points(kStandardPairs); }
  std::vector<Json> all_points() const override { return drawn_points(kAllPairs); }

 private:
  static std::vector<Json> drawn_points(int count) {
    std::vector<Json> points;
    for (const auto& pair : random_pairs(count, kDrawn)) {
      points.push_back({{"expression", pair.expression},
                        {"extents", extents_text(pair)},
                        {"dtype", points.size() % 2 == 0 ? "f32" : "f64"},
                        {"seed", 0}});
    }
    return points;
  }
  inline static const std::vector<Contraction> kNoTable = {};
};

}  // namespace

std::unique_ptr<lab::Case> einsum_expression_case() { return std::make_unique<EinsumExpression>(); }
std::unique_ptr<lab::Case> einsum_pair_case() { return std::make_unique<EinsumPair>(); }
std::unique_ptr<lab::Case> einsum_network_case() { return std::make_unique<EinsumNetwork>(); }

}  // namespace assay::cases::einsum
