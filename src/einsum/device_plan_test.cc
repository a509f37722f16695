// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans for a GPU, on a machine that needs none: lowering, boxes, dealing out of loops, transfers,
// dispatch. einsum/cuda/test has what needs a device.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "einsum/einsum.h"
#include "einsum/kernels/device_time_model.h"
#include "einsum/lower/device_nest.h"
#include "einsum/lower/permute_boxes.h"
#include "einsum/lower/permute_turns.h"
#include "einsum/plan/dispatch.h"
#include "einsum/plan/explain.h"

namespace assay::einsum {
namespace {

Engine device_planner() {
  return Engine({.backend = Backend::kCuda, .model = default_device_model()});
}

std::vector<OperandSpec> dense_specs(std::initializer_list<Shape> shapes,
                                     DType dtype = DType::kF32) {
  std::vector<OperandSpec> specs;
  for (const auto& shape : shapes) specs.push_back(OperandSpec::dense(dtype, shape));
  return specs;
}

// What the kernel does, element by element: reads in one order, writes in the other.
void expect_boxes_copy_all(const std::vector<Loop>& loops, std::size_t element_size) {
  const auto p = permute_boxes(loops, element_size);
  ASSERT_TRUE(p);
  EXPECT_LE(p->elements, 4096);
  std::map<std::int64_t, std::int64_t> copied;  // from c to a
  for (int box = 0; box < p->boxes; ++box) {
    int rest = box;
    std::int64_t base_a = 0, base_c = 0;
    std::vector<int> first(loops.size(), 0);
    for (int l = 0; l < p->loops; ++l) {
      first[static_cast<std::size_t>(l)] = rest % p->parts[l] * p->box[l];
      rest /= p->parts[l];
      base_a += first[static_cast<std::size_t>(l)] * p->a[l];
      base_c += first[static_cast<std::size_t>(l)] * p->c[l];
    }
    const auto walk = [&](const int* order, int e, const auto& use) {
      std::int64_t a = base_a, c = base_c;
      const int number = e;
      int held = 0;
      bool inside = true;
      for (int i = 0; i < p->in_box; ++i) {
        const int l = order[i], x = e % p->box[l];
        e /= p->box[l];
        a += x * p->a[l];
        c += x * p->c[l];
        held += x * p->stride_a[l];
        inside &= first[static_cast<std::size_t>(l)] + x < p->extent[l];
      }
      bool exists = true;  // as the kernel asks
      for (int k = 0; k < p->cuts; ++k) {
        const int l = p->cut[k];
        const int stride = order == p->order_a ? p->cut_in_a[k] : p->cut_in_c[k];
        exists &= first[static_cast<std::size_t>(l)] + number / stride % p->box[l] < p->extent[l];
      }
      EXPECT_EQ(exists, inside);
      if (inside) use(a, c, held);
    };
    std::map<int, std::int64_t> block;
    for (int e = 0; e < p->elements; ++e) {
      walk(p->order_a, e, [&](std::int64_t a, std::int64_t, int held) {
        EXPECT_EQ(held, e);
        block[held + (held >> p->pad_shift)] = a;
        EXPECT_LT(held + (held >> p->pad_shift), p->padded_elements());
      });
    }
    for (int e = 0; e < p->elements; ++e) {
      walk(p->order_c, e, [&](std::int64_t a, std::int64_t c, int held) {
        const auto at = block.find(held + (held >> p->pad_shift));
        ASSERT_NE(at, block.end());
        EXPECT_EQ(at->second, a);
        EXPECT_TRUE(copied.emplace(c, a).second) << "written twice";
      });
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(copied.size()), iterations(loops));
  Odometer at(loops);
  at.seek(0);
  for (std::int64_t i = 0; i < iterations(loops); ++i, at.next()) {
    EXPECT_EQ(copied.at(at.c()), at.a());
  }
}

Layout dense_of(const std::vector<Label>& order, const std::vector<std::int64_t>& extents) {
  return dense_layout(order, extents);
}

TEST(DevicePermute, BoxesCopyEveryElementOnce) {
  const std::vector<std::pair<std::vector<std::int64_t>, std::vector<Label>>> cases = {
      {{1, 1}, {1, 0}},
      {{7, 5}, {1, 0}},
      {{64, 64}, {1, 0}},
      {{65, 63}, {1, 0}},
      {{129, 33}, {1, 0}},
      {{3, 500}, {1, 0}},
      {{500, 3}, {1, 0}},
      {{100}, {0}},
      {{5, 70, 9}, {0, 2, 1}},
      {{33, 2, 65}, {1, 0, 2}},
      {{7, 6, 5, 4}, {3, 1, 0, 2}},
      {{10, 10, 10, 10}, {2, 0, 3, 1}},
      {{3, 3, 3, 3, 3, 3, 3}, {6, 4, 2, 0, 1, 3, 5}},
      {{70, 70, 2}, {2, 1, 0}},
  };
  for (const auto& [extents, order] : cases) {
    std::vector<Label> natural;
    for (std::size_t l = 0; l < extents.size(); ++l) natural.push_back(static_cast<Label>(l));
    for (const std::size_t size : {4u, 8u, 16u}) {
      SCOPED_TRACE(fmt::format("{} size {}", fmt::join(extents, "x"), size));
      expect_boxes_copy_all(
          fused_loops(loops_over(dense_of(natural, extents), {}, dense_of(order, extents))), size);
    }
  }
}

TEST(DevicePermute, WhatNumbersOfThirtyOneBitsCannotSayHasNoBoxes) {
  EXPECT_FALSE(permute_boxes(std::vector<Loop>{{std::int64_t{1} << 32, 1, 0, 1}}, 4));
  EXPECT_FALSE(
      permute_boxes(std::vector<Loop>{{64, std::int64_t{1} << 30, 0, 1}, {64, 1, 0, 64}}, 4));
  EXPECT_TRUE(permute_boxes({}, 4));
}

// What the kernel does, square by square.
void expect_turns_copy_all(const std::vector<Loop>& loops, std::size_t element_size) {
  const auto t = permute_turns(loops, element_size);
  ASSERT_TRUE(t);
  std::map<std::int64_t, std::int64_t> copied;  // from c to a
  for (int block = 0; block < t->blocks; ++block) {
    for (int thread = 0; thread < 1 << PermuteTurns::kThreadBits; ++thread) {
      const auto at = place_of(*t, block, thread);
      if (at.p >= t->p_squares) continue;
      for (int turn = 0; turn < t->turns; ++turn) {
        const int further = turn * t->q_lanes();
        if (at.q + further >= t->q_squares) continue;
        const std::int64_t a = at.a + at.p * t->side + t->a_along_q(at.q + further);
        const std::int64_t c = at.c + (at.q + further) * t->side + t->c_along_p(at.p);
        EXPECT_EQ(a % t->side, 0);
        EXPECT_EQ(c % t->side, 0);
        for (int i = 0; i < t->side; ++i) {
          for (int j = 0; j < t->side; ++j) {
            EXPECT_TRUE(copied.emplace(c + j * t->c_p + i, a + i * t->a_q + j).second);
          }
        }
      }
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(copied.size()), iterations(loops));
  Odometer at(loops);
  at.seek(0);
  for (std::int64_t i = 0; i < iterations(loops); ++i, at.next()) {
    EXPECT_EQ(copied.at(at.c()), at.a());
  }
}

std::vector<Loop> loops_of_order(const std::vector<std::int64_t>& extents,
                                 const std::vector<Label>& order) {
  std::vector<Label> natural;
  for (std::size_t l = 0; l < extents.size(); ++l) natural.push_back(static_cast<Label>(l));
  return fused_loops(loops_over(dense_of(natural, extents), {}, dense_of(order, extents)));
}

TEST(DevicePermute, TurnsCopyEveryElementOnce) {
  const std::vector<std::pair<std::vector<std::int64_t>, std::vector<Label>>> cases = {
      {{64, 64}, {1, 0}},
      {{68, 132}, {1, 0}},
      {{16, 500}, {1, 0}},
      {{500, 16}, {1, 0}},
      {{3, 64, 36}, {0, 2, 1}},
      {{64, 3, 36}, {2, 1, 0}},
      {{64, 6, 5, 24}, {2, 3, 1, 0}},
      {{64, 5, 3, 40}, {3, 1, 2, 0}},
      {{20, 6, 5, 24}, {2, 3, 1, 0}},         // b follows a in the copy
      {{24, 6, 3, 5, 16}, {1, 3, 2, 4, 0}},   // d follows e in the source
      {{32, 3, 2, 5, 16}, {1, 3, 2, 4, 0}},   // both sides have one
      {{16, 12, 16}, {2, 1, 0}},              // the same loop follows both
      {{32, 6, 4, 8, 16}, {1, 3, 2, 4, 0}}};  // as tccg_2 turns a factor
  for (const auto& [extents, order] : cases) {
    for (const std::size_t size : {4u, 8u}) {
      SCOPED_TRACE(fmt::format("{} size {}", fmt::join(extents, "x"), size));
      expect_turns_copy_all(loops_of_order(extents, order), size);
    }
  }
}

// Sources that are repeated, backwards and with gaps, as views of others' tensors are.
TEST(DevicePermute, ViewsAreCopiedAsTheyLie) {
  for (const auto& loops :
       std::vector<std::vector<Loop>>{{{65, 1, 0, 70}, {70, 0, 0, 1}},
                                      {{65, 1, 0, 70}, {70, -100, 0, 1}},
                                      {{65, -1, 0, 70}, {70, 100, 0, 1}},
                                      {{33, 201, 0, 65}, {65, 2, 0, 1}},
                                      {{9, 0, 0, 33 * 65}, {33, -130, 0, 65}, {65, -2, 0, 1}}}) {
    for (const std::size_t size : {4u, 8u, 16u}) expect_boxes_copy_all(loops, size);
  }
  for (const std::int64_t rows : {-128, 0, 256}) {
    const std::vector<Loop> turned = {{64, 1, 0, 64}, {64, rows, 0, 1}};
    for (const std::size_t size : {4u, 8u}) expect_turns_copy_all(turned, size);
  }
  EXPECT_FALSE(permute_turns(std::vector<Loop>{{64, -1, 0, 64}, {64, 128, 0, 1}}, 4));
  EXPECT_FALSE(permute_turns(std::vector<Loop>{{64, 1, 0, 64}, {64, 65, 0, 1}}, 4));
}

TEST(DevicePermute, SquaresThatEndBetweenBoundariesAreNotTurned) {
  EXPECT_FALSE(permute_turns(loops_of_order({64, 64}, {0, 1}), 4));  // no turn
  EXPECT_FALSE(permute_turns(loops_of_order({64, 62}, {1, 0}), 4));  // half a square
  EXPECT_TRUE(permute_turns(loops_of_order({64, 62}, {1, 0}), 8));
  EXPECT_FALSE(permute_turns(loops_of_order({63, 62}, {1, 0}), 8));
  EXPECT_FALSE(permute_turns(loops_of_order({64, 64}, {1, 0}), 16));  // nothing to turn inside
  EXPECT_FALSE(permute_turns(loops_of_order({4096, 8}, {1, 0}), 4));  // short runs
  EXPECT_FALSE(permute_turns(loops_of_order({16, 16}, {1, 0}), 4));   // idle lanes
  EXPECT_FALSE(permute_turns(loops_of_order({99, 16, 32}, {0, 2, 1}), 4));
  EXPECT_TRUE(permute_turns(loops_of_order({2048, 4096}, {1, 0}), 4));
  EXPECT_TRUE(permute_turns(loops_of_order({4096, 4096}, {1, 0}), 4));
  EXPECT_TRUE(permute_turns(loops_of_order({4096, 4096}, {1, 0}), 8));
  EXPECT_FALSE(
      permute_turns(std::vector<Loop>{{64, 1, 0, 66}, {64, 64, 0, 1}, {2, 4096, 0, 5}}, 4));
}

TEST(DeviceNest, NeighboursReadNeighbours) {
  // mk,k->m: terms of a row lie together, rows far apart: threads share a row.
  const auto rows = device_nest({{4096, 4096, 0, 1}, {4096, 1, 1, 0}}, 4);
  EXPECT_EQ(rows.lanes, kWarpLanes);
  // km,k->m: rows lie together.
  const auto columns = device_nest({{1 << 20, 1, 0, 1}, {64, 1 << 20, 1, 0}}, 4);
  EXPECT_EQ(columns.lanes, 1);
  // One long sum takes the whole device.
  const auto dot = device_nest({{1 << 24, 1, 1, 0}}, 8);
  EXPECT_EQ(dot.lanes, kBlockLanes);
  EXPECT_DOUBLE_EQ(dot.work.flop, 2.0 * (1 << 24));
  // An outer product is written in rows.
  const auto outer = device_nest({{100, 1, 0, 300}, {300, 0, 1, 1}}, 4);
  EXPECT_EQ(outer.lanes, 1);
  EXPECT_EQ(outer.loops.back().c, 1);
  // Nothing at all to loop over.
  EXPECT_EQ(device_nest({}, 8).loops.size(), 0u);
}

TEST(DevicePlan, TakesOnlyKernelsThatADeviceHas) {
  auto planner = device_planner();
  const std::set<Kernel> known = {
      Kernel::kCopy,        Kernel::kDot,        Kernel::kOuter,
      Kernel::kHadamard,    Kernel::kLoops,      Kernel::kGemm,
      Kernel::kBatchedGemm, Kernel::kLoopedGemm, Kernel::kTransposeGemm};
  for (const char* expression :
       {"ij,jk->ik", "ij,kj->ki", "bij,bjk->bik", "ijk,kjl->il", "ij,j->i", "ij,ij->", "ij,ij->ij",
        "ij->ji", "ij->", "ii,i->i", "ijk,jil->klji", "ij,jk,kl,lm->im"}) {
    const auto notation = parse_notation(expression);
    std::vector<OperandSpec> specs;
    for (const auto& term : notation.inputs) {
      specs.push_back(
          OperandSpec::dense(DType::kF64, Shape(std::vector<std::int64_t>(term.size(), 6))));
    }
    const auto plan = planner.plan(expression, specs, {.backend = Backend::kCuda});
    for (const auto& step : plan->steps) {
      EXPECT_TRUE(known.contains(step.lowered.kernel))
          << expression << " " << name_of(step.lowered.kernel);
    }
    EXPECT_GT(plan->predicted_s, plan->transfers.seconds);
  }
}

// Four products with a narrow factor, each of which takes the first label away and puts its own
// last; a copy would take as long as a product.
TEST(DevicePlan, ATransformOfFourLabelsCopiesNothing) {
  auto planner = device_planner();
  const Shape matrix({50, 50});
  const auto plan =
      planner.plan("ea,fb,abcd,gc,hd->efgh",
                   dense_specs({matrix, matrix, Shape({50, 50, 50, 50}), matrix, matrix}),
                   {.backend = Backend::kCuda});
  ASSERT_EQ(plan->steps.size(), 4u);
  for (const auto& step : plan->steps) {
    EXPECT_EQ(step.lowered.kernel, Kernel::kGemm) << step.expression;
    EXPECT_EQ(step.lowered.copies, 0) << step.expression;
  }
}

// A batch label that lies innermost stays there where the next step reads it so.
TEST(DevicePlan, ABatchLabelStaysLast) {
  auto planner = device_planner();
  const auto plan = planner.plan("xyf,xtf,ytpf,fr->tpr",
                                 dense_specs({Shape({35, 37, 59}), Shape({35, 51, 59}),
                                              Shape({37, 51, 51, 59}), Shape({59, 27})}),
                                 {.backend = Backend::kCuda});
  ASSERT_EQ(plan->steps.size(), 3u);
  EXPECT_EQ(plan->steps[0].expression, "xyf,xtf->ytf");
  EXPECT_EQ(plan->steps[1].expression, "ytf,ytpf->tpf");
  for (const auto& step : plan->steps) EXPECT_EQ(step.lowered.copies, 0) << step.expression;
}

TEST(DevicePlan, NarrowProductsAreAPartOfTheirOwn) {
  const auto model = default_device_model();
  EXPECT_EQ(model.gemm_part_of(50, 125000, 50), Part::kSmallGemm);
  EXPECT_EQ(model.gemm_part_of(125000, 64, 64), Part::kSmallGemm);
  EXPECT_EQ(model.gemm_part_of(65, 125000, 50), Part::kGemm);
  EXPECT_EQ(model.gemm_part_of(50, 125000, 65), Part::kGemm);
  EXPECT_EQ(model.gemm_part_of(50, 50, 50), Part::kGemm);
  EXPECT_EQ(model.gemm_part_of(1, 125000, 50), Part::kThinGemm);
  EXPECT_EQ(TimeModel().gemm_part_of(50, 125000, 50), Part::kGemm);
}

TEST(DevicePlan, OnlyWhatIsNotThereCrossesTheBus) {
  auto planner = device_planner();
  auto specs = dense_specs({Shape({100, 200}), Shape({200, 50})});
  PlanOptions options{.backend = Backend::kCuda};
  const auto both = planner.plan("ij,jk->ik", specs, options);
  EXPECT_DOUBLE_EQ(both->transfers.to_bytes, 4.0 * (100 * 200 + 200 * 50));
  EXPECT_DOUBLE_EQ(both->transfers.from_bytes, 4.0 * 100 * 50);
  specs[0].resident = true;
  const auto one = planner.plan("ij,jk->ik", specs, options);
  EXPECT_DOUBLE_EQ(one->transfers.to_bytes, 4.0 * 200 * 50);
  EXPECT_LT(one->predicted_s, both->predicted_s);
  specs[1].resident = true;
  options.result_stays = true;
  const auto none = planner.plan("ij,jk->ik", specs, options);
  EXPECT_EQ(none->transfers.to_bytes, 0);
  EXPECT_EQ(none->transfers.from_bytes, 0);
  EXPECT_EQ(none->transfers.seconds, 0);
}

// Views of what lies on the device already are multiplied as they are, where a library can be told.
TEST(DevicePlan, ViewsThatAreThereAreNotCopied) {
  auto planner = device_planner();
  const auto step_of = [&](const Shape& a, const Axes& strides, const char* expression) {
    const std::vector<OperandSpec> specs = {
        {DType::kF32, a, strides, true},
        {DType::kF32, Shape({64, 96}), row_major_strides(Shape({64, 96})), true}};
    const auto plan =
        planner.plan(expression, specs, {.backend = Backend::kCuda, .result_stays = true});
    EXPECT_EQ(plan->transfers.seconds, 0);
    EXPECT_EQ(plan->operand_strides[0], strides);
    EXPECT_EQ(plan->steps.size(), 1u);
    return plan->steps[0].lowered;
  };
  const Shape matrix({80, 64}), batch({6, 80, 64});
  for (const auto& strides : {Axes{64, 1}, Axes{1, 80}, Axes{200, 1}, Axes{1, 333}}) {
    const auto step = step_of(matrix, strides, "ij,jk->ik");
    EXPECT_EQ(step.kernel, Kernel::kGemm);
    EXPECT_EQ(step.copies, 0);
  }
  // Repeated, backwards and with gaps between the matrices.
  for (const std::int64_t stride : {0, -5120, 7000}) {
    const auto step = step_of(batch, {stride, 64, 1}, "bij,jk->bik");
    EXPECT_EQ(step.copies, 0) << stride;
    ASSERT_EQ(step.gemm.free.size(), 1u) << stride;
    EXPECT_EQ(step.gemm.swapped ? step.gemm.free[0].b : step.gemm.free[0].a, stride);
  }
  // No matrix of a library's: rows backwards, rows that are one, elements apart.
  for (const auto& strides : {Axes{-64, 1}, Axes{0, 1}, Axes{128, 2}}) {
    const auto step = step_of(matrix, strides, "ij,jk->ik");
    EXPECT_TRUE(step.kernel != Kernel::kGemm || step.copies == 1);
    if (step.packed_a == 0) continue;
    EXPECT_EQ(iterations(step.pack_a), 80 * 64);
  }
}

// Narrow elements are made wide without gaps, wherever they lie.
TEST(DevicePlan, NarrowViewsAreWidenedDense) {
  auto planner = device_planner();
  const OperandSpec turned{DType::kBF16, Shape({80, 64}), {1, 80}, true};
  const auto plan = planner.plan("ij,ij->i", std::vector<OperandSpec>{turned, turned},
                                 {.backend = Backend::kCuda});
  EXPECT_EQ(plan->compute, DType::kF32);
  EXPECT_EQ(plan->operand_strides[0], (Axes{64, 1}));
}

TEST(DevicePlan, TheProcessorRefusesIt) {
  auto planner = device_planner();
  const auto plan = planner.plan("i->", dense_specs({Shape({3})}), {.backend = Backend::kCuda});
  Tensor x(DType::kF32, Shape({3})), out(DType::kF32, Shape());
  Workspace workspace;
  const TensorView views[] = {x.view()};
  EXPECT_THROW(plan->run_into(views, out.mutable_view(), workspace), UserError);
  Engine processor({.backend = Backend::kCuda});
  EXPECT_THROW(processor.einsum("i->", {x.view()}), UserError);
}

TEST(DeviceDispatch, IsByPredictedTimesAndSaysSo) {
  auto planner = device_planner();
  Engine processor;
  const auto ask = [&](std::int64_t n, bool resident) {
    auto specs = dense_specs({Shape({n, n}), Shape({n, n})});
    const auto there = processor.plan("ij,jk->ik", specs, {});
    for (auto& spec : specs) spec.resident = resident;
    const auto device = planner.plan("ij,jk->ik", specs, {.backend = Backend::kCuda});
    return std::pair{choose_place(*there, *device, std::nullopt), device};
  };
  EXPECT_EQ(ask(16, false).first.chosen, Backend::kBlas);
  EXPECT_EQ(ask(4096, false).first.chosen, Backend::kCuda);
  const auto [large, plan] = ask(4096, false);
  EXPECT_LT(large.device_s, large.processor_s);
  const auto text = dispatch_text(large, *plan);
  EXPECT_NE(text.find("device: chosen"), std::string::npos) << text;
  EXPECT_NE(text.find("128.0 MiB"), std::string::npos) << text;
  const auto json = to_json(large, *plan);
  EXPECT_TRUE(json["chosen"]);
  EXPECT_EQ(json["to_device_bytes"], 8.0 * 4096 * 4096);
}

TEST(DeviceDispatch, ANumberOfOperationsOverridesIt) {
  auto planner = device_planner();
  Engine processor;
  const auto specs = dense_specs({Shape({8, 8}), Shape({8, 8})});
  const auto there = processor.plan("ij,jk->ik", specs, {});
  const auto device = planner.plan("ij,jk->ik", specs, {.backend = Backend::kCuda});
  EXPECT_EQ(choose_place(*there, *device, 0).chosen, Backend::kCuda);
  EXPECT_EQ(choose_place(*there, *device, 1024).chosen, Backend::kCuda);
  EXPECT_EQ(choose_place(*there, *device, 1025).chosen, Backend::kBlas);
}

TEST(DeviceDispatch, TheEnvironmentIsReadStrictly) {
  const auto with = [](const char* value) {
    setenv("ASSAY_EINSUM_DEVICE_MIN_FLOP", value, 1);
    struct Unset {
      ~Unset() { unsetenv("ASSAY_EINSUM_DEVICE_MIN_FLOP"); }
    } unset;
    return device_min_flop();
  };
  EXPECT_FALSE(device_min_flop());
  EXPECT_FALSE(with(""));
  EXPECT_EQ(with("0"), 0);
  EXPECT_EQ(with("2e9"), 2e9);
  EXPECT_THROW(with("-1"), UserError);
  EXPECT_THROW(with("nan"), UserError);
  EXPECT_THROW(with("2 GFLOP"), UserError);
}

}  // namespace
}  // namespace assay::einsum
