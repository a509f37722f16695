// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/einsum/contractions.h"

#include <cmath>

#include "base/error.h"
#include "einsum/example_networks.h"
#include "einsum/plan.h"
#include "lab/record/case.h"
#include "lab/record/point.h"
#include "tensor/fill.h"

namespace assay::cases::einsum {

using assay::einsum::shapes_of;

const std::vector<Contraction>& pair_contractions() {
  static const std::vector<Contraction> kTable = {
      {"small", "ap,bp->ab", {48, 128, 48}},
      {"half_transform_8", "mi,mnP->inP", {32, 8, 32, 64}},
      {"matmul_512", "ij,jk->ik", {512, 512, 512}},
      {"matmul_1024", "ij,jk->ik", {1024, 1024, 1024}},
      {"matmul_2048", "ij,jk->ik", {2048, 2048, 2048}},
      {"batch_16x256", "bij,bjk->bik", {16, 256, 256, 256}},
      {"batch_32x1024", "bij,bjk->bik", {32, 1024, 1024, 1024}},
      {"transposed_512", "ij,jk->ki", {512, 512, 512}},
      {"transposed_1024", "ij,jk->ki", {1024, 1024, 1024}},
      {"tccg_1", "abcd,dbea->ec", {32, 64, 48, 24, 96}},
      {"tccg_2", "abcde,efbad->cf", {16, 16, 48, 16, 32, 48}},
      {"tccg_3", "abcd,aebf->cdef", {24, 24, 32, 32, 32, 32}},
      {"tccg_4", "abc,acd->bd", {64, 128, 64, 128}},
      {"tccg_5", "abcdef,dfgb->aceg", {12, 12, 12, 12, 12, 12, 48}},
      {"tccg_6", "aibj,jick->abck", {32, 24, 32, 24, 32, 32}},
  };
  return kTable;
}

const std::vector<Contraction>& network_contractions() {
  static const std::vector<Contraction> kTable = [] {
    constexpr const char* kNames[] = {"chain_3",     "chain_4",        "chain_6",     "attention",
                                      "transform_4", "half_transform", "peps",        "tetrahedron",
                                      "thc",         "conv",           "lattice_4x4", "mps_norm_8"};
    std::vector<Contraction> table;
    const auto rows = assay::einsum::planner_table();
    for (std::size_t i = 0; i < rows.size(); ++i)
      table.push_back({kNames[i], rows[i].expression, rows[i].extents});
    return table;
  }();
  return kTable;
}

ContractionPoint::ContractionPoint(const Json& point, const std::vector<Contraction>& table)
    : dtype(dtype_from_name(lab::point_word(point, "dtype"), "point")),
      seed(lab::point_int(point, "seed")) {
  const auto name = lab::point_word(point, "contraction");
  for (const auto& c : table) {
    if (c.name == name) contraction = c;
  }
  check(!contraction.name.empty(), "a point's contraction is in the table");
  shapes = shapes_of(contraction.expression, contraction.extents);
  std::vector<assay::einsum::OperandSpec> specs;
  const auto size = static_cast<double>(size_of(dtype));
  for (const auto& shape : shapes) {
    specs.push_back(assay::einsum::OperandSpec::dense(dtype, shape));
    bytes += size * static_cast<double>(shape.element_count());
  }
  const auto plan =
      assay::einsum::make_plan(assay::einsum::parse_notation(contraction.expression), specs,
                               {.objective = assay::einsum::Objective::kFlop}, {});
  output = plan.output_shape();
  bytes += size * static_cast<double>(output.element_count());
  flop = plan.flop;
  for (const auto e : contraction.extents) product_of_extents *= static_cast<double>(e);
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

}  // namespace assay::cases::einsum
