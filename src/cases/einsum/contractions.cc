// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/einsum/contractions.h"

#include <cmath>

#include "base/error.h"
#include "cases/einsum/written_pair.h"
#include "lab/record/case.h"
#include "lab/record/point.h"
#include "tensor/fill.h"

namespace assay::cases::einsum {
namespace {

// Two tensors: every label once.
Contraction pair(const char* name, const char* expression, std::vector<std::int64_t> extents) {
  Contraction pair{name, expression, std::move(extents), 0, {{0, 1}}};
  pair.flop = flop_of_pair(pair);
  return pair;
}

// One term after the other.
PlainPath in_turn(std::vector<int> order) {
  PlainPath path;
  const int terms = static_cast<int>(order.size());
  int made = order[0];
  for (int i = 1; i < terms; ++i) {
    path.emplace_back(made, order[static_cast<std::size_t>(i)]);
    made = terms + i - 1;
  }
  return path;
}

}  // namespace

double flop_of_pair(const Contraction& pair) {
  const auto output = pair.output();
  double products = 1;
  bool sums = false;
  for (const auto& [label, extent] : pair.extent_of()) {
    products *= static_cast<double>(extent);
    sums = sums || (extent > 1 && output.find(label) == std::string::npos);
  }
  return sums ? 2 * products : products;
}

const std::vector<Contraction>& pair_contractions() {
  static const std::vector<Contraction> kTable = {
      pair("small", "ap,bp->ab", {48, 128, 48}),
      pair("half_transform_8", "mi,mnP->inP", {32, 8, 32, 64}),
      pair("matmul_512", "ij,jk->ik", {512, 512, 512}),
      pair("matmul_1024", "ij,jk->ik", {1024, 1024, 1024}),
      pair("matmul_2048", "ij,jk->ik", {2048, 2048, 2048}),
      pair("batch_16x256", "bij,bjk->bik", {16, 256, 256, 256}),
      pair("batch_32x1024", "bij,bjk->bik", {32, 1024, 1024, 1024}),
      pair("transposed_512", "ij,jk->ki", {512, 512, 512}),
      pair("transposed_1024", "ij,jk->ki", {1024, 1024, 1024}),
      pair("tccg_1", "abcd,dbea->ec", {32, 64, 48, 24, 96}),
      pair("tccg_2", "abcde,efbad->cf", {16, 16, 48, 16, 32, 48}),
      pair("tccg_3", "abcd,aebf->cdef", {24, 24, 32, 32, 32, 32}),
      pair("tccg_4", "abc,acd->bd", {64, 128, 64, 128}),
      pair("tccg_5", "abcdef,dfgb->aceg", {12, 12, 12, 12, 12, 12, 48}),
      pair("tccg_6", "aibj,jick->abck", {32, 24, 32, 24, 32, 32}),
      // No faster than memory.
      pair("matvec", "ij,j->i", {2048, 2048}),
      pair("hadamard", "ij,ij->ij", {2048, 2048}),
      pair("outer", "i,j->ij", {2048, 2048}),
      pair("two_sums", "abcd,bd->ac", {64, 64, 64, 64}),
      // Products that no matrix product helps: read once, permuted, summed.
      pair("batched_sum", "edb,aedbc->bcad", {24, 64, 4, 16, 24}),
      pair("scaled_transpose", "bdac,bc->cda", {50, 50, 16, 16}),
      pair("batched_rows", "bda,dbca->dca", {50, 50, 64, 5}),
  };
  return kTable;
}

const std::vector<Contraction>& network_contractions() {
  using Extents = std::vector<std::int64_t>;
  static const std::vector<Contraction> kTable = {
      {"chain_3", "ij,jk,kl->il", {100, 200, 5, 50}, 250000, {{0, 1}, {3, 2}}},
      {"chain_4", "ij,jk,kl,lm->im", {100, 200, 5, 50, 3}, 127500, {{2, 3}, {1, 4}, {0, 5}}},
      {"chain_6",
       "ab,bc,cd,de,ef,fg->ag",
       {30, 35, 15, 5, 10, 20, 25},
       30250,
       {{1, 2}, {0, 6}, {3, 4}, {8, 5}, {7, 9}}},
      {"attention",
       "xyf,xtf,ytpf,fr->tpr",
       {35, 37, 59, 51, 51, 27},
       27436062,
       {{0, 1}, {4, 2}, {5, 3}}},
      {"transform_4",
       "ea,fb,abcd,gc,hd->efgh",
       Extents(8, 50),
       2.5e9,
       {{0, 2}, {1, 5}, {3, 6}, {4, 7}}},
      {"half_transform", "mi,na,mnP->iaP", {256, 16, 256, 128, 512}, 1610612736, {{0, 2}, {1, 3}}},
      {"peps",
       "abc,bdef,fghj,cem,mhk,ljk->adgl",
       Extents(12, 5),
       106250,
       {{0, 3}, {6, 1}, {4, 5}, {8, 2}, {7, 9}}},
      {"tetrahedron", "abc,cfd,dbe,efa->", Extents(6, 20), 12816000, {{0, 1}, {4, 2}, {5, 3}}},
      {"thc",
       "iP,sP,PQ,jQ,tQ,ti,sj->",
       {300, 2000, 50, 2000, 300, 50},
       924030000,
       {{6, 3}, {1, 7}, {8, 2}, {9, 4}, {10, 0}, {11, 5}}},
      {"conv",
       "mn,nr,fcr,nh,octh->oftm",
       {8, 10, 3, 100, 300, 10, 100, 75},
       5071800000,
       {{2, 1}, {4, 3}, {6, 5}, {7, 0}}},
      {"lattice_4x4", "ab,acd,cef,eg,bhi,dhjk,fjlm,gln,iop,koqr,mqst,nsu,pv,rvw,twx,ux->",
       Extents(24, 4), 59424, in_turn({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})},
      {"mps_norm_8",
       "aA,AbB,BcC,CdD,DeE,EfF,FgG,Gh,aH,HbI,IcJ,JdK,KeL,LfM,MgN,Nh->",
       {2, 32, 2, 32, 2, 32, 2, 32, 2, 32, 2, 32, 2, 32, 2, 32, 32, 32, 32, 32, 32, 32},
       262272,
       in_turn({0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15})},
  };
  return kTable;
}

std::vector<std::string> Contraction::terms() const {
  std::vector<std::string> found(1);
  for (const char c : expression.substr(0, expression.find("->"))) {
    if (c == ',') {
      found.emplace_back();
    } else {
      found.back() += c;
    }
  }
  return found;
}

std::string Contraction::output() const { return expression.substr(expression.find("->") + 2); }

std::map<char, std::int64_t> Contraction::extent_of() const {
  std::map<char, std::int64_t> found;
  std::size_t next = 0;
  for (const auto& term : terms()) {
    for (const char c : term) {
      if (!found.contains(c)) found[c] = extents.at(next++);
    }
  }
  check(next == extents.size(), "a contraction has an extent for each label");
  return found;
}

ContractionPoint::ContractionPoint(const Json& point, const std::vector<Contraction>& table)
    : dtype(dtype_from_name(lab::point_word(point, "dtype"), "point")),
      seed(lab::point_int(point, "seed")) {
  if (point.contains("expression")) {
    contraction =
        written_pair(lab::point_word(point, "expression"), lab::point_word(point, "extents"));
  } else {
    const auto name = lab::point_word(point, "contraction");
    for (const auto& c : table) {
      if (c.name == name) contraction = c;
    }
    check(!contraction.name.empty(), "a point's contraction is in the table");
  }
  const auto extent_of = contraction.extent_of();
  const auto shape_of = [&](const std::string& labels) {
    std::vector<std::int64_t> extents;
    for (const char l : labels) extents.push_back(extent_of.at(l));
    return Shape(extents);
  };
  for (const auto& term : contraction.terms()) shapes.push_back(shape_of(term));
  output = shape_of(contraction.output());
  bytes = static_cast<double>(output.element_count());
  for (const auto& shape : shapes) bytes += static_cast<double>(shape.element_count());
  bytes *= static_cast<double>(size_of(dtype));
  for (const auto& [label, extent] : extent_of) product_of_extents *= static_cast<double>(extent);
}

std::vector<Tensor> make_operands(const ContractionPoint& point) {
  std::vector<Tensor> operands;
  for (const auto& shape : point.shapes) operands.emplace_back(point.dtype, shape);
  return operands;
}

void fill_operands(const ContractionPoint& point, int set, std::vector<Tensor>& operands) {
  const double width = std::sqrt(3.0);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    fill_uniform(operands[i].mutable_view(),
                 lab::input_stream(point.seed, fmt::format("op{}", i), set), -width, width);
  }
}

const std::vector<ContractionTable>& contraction_tables() {
  static const std::vector<Contraction> kNone;
  static const std::vector<ContractionTable> kTables = {{"einsum_pair", &pair_contractions()},
                                                        {"einsum_network", &network_contractions()},
                                                        {"einsum_expression", &kNone}};
  return kTables;
}

}  // namespace assay::cases::einsum
