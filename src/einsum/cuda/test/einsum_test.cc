// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// The device held to the CPU: copies, contractions by every kernel and in every dtype, plans in
// slices, views, the DF-MP2 energy, decompositions. `einsum_cuda_test small` is short enough for
// compute-sanitizer, `einsum_cuda_test time` measures. Status 1: something is wrong.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>

#include "base/error.h"
#include "base/json.h"
#include "einsum/cuda/calibrate.h"
#include "einsum/cuda/device_engine.h"
#include "einsum/cuda/mp2.h"
#include "einsum/cuda/permute.h"
#include "einsum/cuda/run_step.h"
#include "einsum/cuda/test/decompose_test.h"
#include "einsum/cuda/test/einsum_times.h"
#include "einsum/cuda/test/random_tensor.h"
#include "einsum/kernels/strided.h"
#include "einsum/mp2/mp2_synthetic.h"
#include "tensor/convert.h"
#include "tensor/fill.h"

namespace assay::einsum::cuda {
namespace {

int failures = 0, checks = 0;

void expect(bool holds, const std::string& what) {
  ++checks;
  if (holds) return;
  if (++failures <= 40) std::puts(("FAILED " + what).c_str());
}

template <typename F>
void expect_refused(const std::string& what, F&& f) {
  try {
    f();
    expect(false, what + " was not refused");
  } catch (const UserError&) {
    expect(true, "");
  } catch (const kernels::cuda::DeviceError& e) {
    expect(false, what + ": " + e.what());
  }
}

// Copies.

template <typename T>
void test_permute(const std::vector<std::int64_t>& extents, const std::vector<Label>& order,
                  T alpha, T beta) {
  std::vector<Label> natural;
  for (std::size_t l = 0; l < extents.size(); ++l) natural.push_back(static_cast<Label>(l));
  const auto loops =
      fused_loops(loops_over(dense_layout(natural, extents), {}, dense_layout(order, extents)));
  const std::int64_t elements = iterations(loops);
  const Tensor a = random_tensor(kDTypeOf<T>, Shape({elements}), 1);
  Tensor c = random_tensor(kDTypeOf<T>, Shape({elements}), 2);
  kernels::cuda::OwnStream stream;
  kernels::cuda::Memory memory;
  const std::size_t bytes = a.bytes().size();
  auto* const from = static_cast<T*>(memory.allocate(bytes));
  auto* const to = static_cast<T*>(memory.allocate(bytes));
  kernels::cuda::copy_to_device(from, a.bytes().data(), bytes, stream.get());
  kernels::cuda::copy_to_device(to, c.bytes().data(), bytes, stream.get());
  permute<T>(loops, from, to, alpha, beta, stream.get());
  Tensor found(kDTypeOf<T>, Shape({elements}));
  kernels::cuda::copy_to_host(found.bytes().data(), to, bytes, stream.get());
  einsum::permute<T>(loops, a.as<T>().data(), c.as<T>().data(), alpha, beta, 1);
  double worst = 0;
  for (std::int64_t i = 0; i < elements; ++i) {
    worst =
        std::max(worst, static_cast<double>(std::abs(found.as<T>()[static_cast<std::size_t>(i)] -
                                                     c.as<T>()[static_cast<std::size_t>(i)])));
  }
  // One product and one sum of numbers up to 3: exact without them, else two roundings that a
  // fused multiply-add may not have.
  const bool plain = alpha == T(1) && beta == T(0);
  const double most = plain ? 0
                            : 16 * (sizeof(T) / (std::is_floating_point_v<T> ? 1 : 2) == 4
                                        ? std::numeric_limits<float>::epsilon()
                                        : std::numeric_limits<double>::epsilon());
  expect(worst <= most,
         fmt::format("permute {} of {} bytes: {:.3g}", fmt::join(extents, "x"), sizeof(T), worst));
}

void test_permutes() {
  const std::vector<std::pair<std::vector<std::int64_t>, std::vector<Label>>> cases = {
      {{1}, {0}},
      {{7, 5}, {1, 0}},
      {{64, 64}, {1, 0}},
      {{65, 63}, {1, 0}},
      {{129, 1000}, {1, 0}},
      {{3, 5000}, {1, 0}},
      {{5000, 3}, {1, 0}},
      {{1000}, {0}},
      {{5, 70, 9}, {0, 2, 1}},
      {{33, 2, 65}, {1, 0, 2}},
      {{17, 16, 15, 14}, {3, 1, 0, 2}},
      {{10, 10, 10, 10, 10}, {2, 0, 3, 1, 4}},
      {{3, 3, 3, 3, 3, 3, 3}, {6, 4, 2, 0, 1, 3, 5}},
      {{70, 70, 2}, {2, 1, 0}},
      {{31, 33, 37}, {2, 1, 0}},
      // Turned in squares: whole, cut, narrow, and with loops before, between and behind.
      {{128, 128}, {1, 0}},
      {{132, 1004}, {1, 0}},
      {{16, 4100}, {1, 0}},
      {{4100, 16}, {1, 0}},
      {{5, 36, 76}, {0, 2, 1}},
      {{36, 5, 76}, {2, 1, 0}},
      {{20, 7, 9, 28}, {2, 3, 1, 0}}};
  for (const auto& [extents, order] : cases) {
    test_permute<float>(extents, order, 1, 0);
    test_permute<double>(extents, order, 1, 0);
    test_permute<std::complex<float>>(extents, order, 1, 0);
    test_permute<std::complex<double>>(extents, order, 1, 0);
    test_permute<float>(extents, order, 0.5f, 1.5f);
    test_permute<double>(extents, order, -2, 0);
    test_permute<std::complex<double>>(extents, order, {0, 1}, {0.5, -1});
  }
}

// Contractions.

double epsilon_of(DType dtype) {
  return dtype == DType::kBF16                          ? 0x1p-8
         : dtype == DType::kF32 || dtype == DType::kC64 ? std::numeric_limits<float>::epsilon()
                                                        : std::numeric_limits<double>::epsilon();
}

Tensor wide(const TensorView& view) {
  return Tensor::converted(view, is_complex(view.dtype()) ? DType::kC128 : DType::kF64);
}

// The device's answer held to the reference's, element by element: the error of a sum of products
// is bounded by a few roundings of the sum of their moduli for each step and doubling of terms.
void expect_close(const std::string& what, const Tensor& found, const Tensor& right,
                  const Tensor& moduli, double epsilon) {
  const Tensor f = wide(found.view()), r = wide(right.view());
  const auto size = static_cast<std::size_t>(f.view().element_count());
  double worst = 0;
  const auto look = [&](const auto& x, const auto& y) {
    for (std::size_t i = 0; i < size; ++i) {
      const bool both_nan = std::isnan(std::abs(x[i])) && std::isnan(std::abs(y[i]));
      if (both_nan || x[i] == y[i]) continue;
      const double error = std::abs(x[i] - y[i]) / (epsilon * moduli.as<double>()[i]);
      worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
    }
  };
  is_complex(f.dtype()) ? look(f.as<std::complex<double>>(), r.as<std::complex<double>>())
                        : look(f.as<double>(), r.as<double>());
  constexpr double kMost = 64;
  expect(worst <= kMost, fmt::format("{}: {:.3g} epsilons", what, worst));
}

double epsilon_of(const Plan& plan) {
  const auto elements = static_cast<double>(plan.output_shape().element_count());
  const double terms = std::max(1.0, plan.mac / std::max(1.0, elements));
  return std::max(epsilon_of(plan.compute), epsilon_of(plan.result)) *
         (1 + std::log2(terms) + std::sqrt(terms) / 4);
}

struct Asked {
  std::string expression;
  std::vector<Shape> shapes;
  DType dtype = DType::kF32;
  CallOptions call;
  double scale = 1;
  std::function<void(std::vector<Tensor>&)> spoil;  // puts NaN and infinities somewhere
};

Tensor moduli_of(const Tensor& t) {
  const Tensor w = wide(t.view());
  Tensor m(DType::kF64, t.shape());
  for (std::size_t i = 0; i < m.as<double>().size(); ++i) {
    const double x = is_complex(w.dtype()) ? std::abs(w.as<std::complex<double>>()[i])
                                           : std::abs(w.as<double>()[i]);
    m.as<double>()[i] = std::isfinite(x) ? x : 1;
  }
  return m;
}

void test_contraction(DeviceEngine& engine, const Asked& asked) {
  std::vector<Tensor> tensors, moduli;
  for (const auto& shape : asked.shapes) {
    tensors.push_back(random_tensor(asked.dtype, shape, tensors.size() + 1, asked.scale));
  }
  if (asked.spoil) asked.spoil(tensors);
  for (const auto& t : tensors) moduli.push_back(moduli_of(t));
  std::vector<TensorView> views, bounds;
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    views.push_back(tensors[i].view());
    bounds.push_back(moduli[i].view());
    // Every other one is there before.
    operands.push_back(i % 2 == 0 ? Operand(views[i]) : Operand(engine.to_device(views[i])));
  }
  Engine reference({.backend = Backend::kReference});
  auto call = asked.call;
  call.beta = 0;
  call.memory.reset();
  const auto plan = engine.plan(asked.expression, operands, asked.call);
  Tensor right = reference.einsum(asked.expression, views, call);
  Tensor bound = reference.einsum(asked.expression, bounds);
  std::vector<DeviceTensor> there;
  for (const auto& operand : operands) {
    there.push_back(std::holds_alternative<DeviceTensor>(operand)
                        ? std::get<DeviceTensor>(operand)
                        : engine.to_device(std::get<TensorView>(operand)));
  }
  DeviceTensor out(plan->result, plan->output_shape());
  if (asked.call.beta != 0.0) {
    const Tensor before = random_tensor(plan->result, plan->output_shape(), 77);
    out = engine.to_device(before.view());
    Tensor kept = random_tensor(plan->result, plan->output_shape(), 77);
    reference.einsum_into(asked.expression, views, kept.mutable_view(), asked.call);
    right = std::move(kept);
    for (auto& x : bound.as<double>()) x += 4;
  } else {
    kernels::cuda::fill_bytes(out.data(), 0xFF, std::max<std::size_t>(out.byte_count(), 1));
  }
  const double alpha = std::abs(asked.call.alpha);
  for (auto& x : bound.as<double>()) x *= std::max(1.0, alpha);
  engine.run_into(*plan, there, out, {.alpha = asked.call.alpha, .beta = asked.call.beta});
  const Tensor found = engine.to_host(out);
  expect_close(fmt::format("{} {} scale {:g}{}", asked.expression, name_of(asked.dtype),
                           asked.scale, plan->slices.empty() ? "" : " in slices"),
               found, right, bound, epsilon_of(*plan));
  for (const auto& step : plan->steps) {
    expect(step.lowered.kernel != Kernel::kGett && step.lowered.kernel != Kernel::kGemv,
           asked.expression + ": a kernel that the device does not have");
  }
}

using Cases = std::vector<std::pair<std::string, std::vector<Shape>>>;

Cases small_cases() {
  return {
      {"ij,jk->ik", {{17, 33}, {33, 9}}},
      {"ij,jk->ki", {{64, 31}, {31, 70}}},
      {"ji,kj->ik", {{5, 66}, {41, 5}}},
      {"bij,bjk->bik", {{3, 17, 20}, {3, 20, 33}}},
      {"ijb,bjk->bki", {{17, 20, 6}, {6, 20, 33}}},
      {"abij,bajk->abik", {{5, 7, 6, 9}, {7, 5, 9, 8}}},
      {"aibj,jick->abck", {{4, 5, 6, 7}, {7, 5, 8, 9}}},
      {"abcd,dbea->ec", {{8, 9, 10, 7}, {7, 9, 11, 8}}},
      {"ij,j->i", {{70, 33}, {33}}},
      {"ji,j->i", {{33, 70}, {33}}},
      {"bij,bj->bi", {{9, 33, 65}, {9, 65}}},
      {"ij,ij->ij", {{33, 65}, {33, 65}}},
      {"ij,ji->ij", {{33, 65}, {65, 33}}},
      {"i,j->ij", {{100}, {67}}},
      // Rows of sixteen bytes: both along them, either, and behind a gap that is none.
      {"i,j->ij", {{33}, {68}}},
      {"ij,ij->ij", {{33, 64}, {33, 64}}},
      {"ij,i->ij", {{33, 64}, {33}}},
      {"i,ji->ji", {{64}, {33, 64}}},
      {"ijk,ik->ijk", {{5, 7, 12}, {5, 12}}},
      {"ijk,ij->ijk", {{5, 7, 12}, {5, 7}}},
      {"i,i->", {{1000}, {1000}}},
      {"ij->ji", {{33, 65}}},
      {"ijk->j", {{9, 65, 33}}},
      {"ijk->ki", {{9, 65, 33}}},
      {"ij->", {{33, 65}}},
      {"ii->i", {{33, 33}}},
      {"ii,i->", {{33, 33}, {33}}},
      {"i,->i", {{5}, {}}},
      {",->", {{}, {}}},
      {"ij,ik,il->jkl", {{6, 9}, {6, 10}, {6, 11}}},
      {"ij,jk,kl,lm->im", {{10, 20}, {20, 5}, {5, 30}, {30, 3}}},
      {"abc,cfd,dbe,efa->", {{6, 6, 6}, {6, 6, 6}, {6, 6, 6}, {6, 6, 6}}},
      {"ij,jk->ik", {{1, 1}, {1, 1}}},
      {"ij,jk->ik", {{1, 300}, {300, 1}}},
      {"ij,jk->ik", {{0, 5}, {5, 4}}},
      {"ij,jk->ik", {{3, 0}, {0, 4}}},
      {"ij,jk->ik", {{3, 1}, {7, 4}}},
      {"bda,dbca->dca", {{10, 11, 5}, {11, 10, 12, 5}}},
      {"edb,aedbc->bcad", {{6, 8, 4}, {9, 6, 8, 4, 7}}},
      {"bdac,bc->cda", {{13, 11, 4, 6}, {13, 6}}},
  };
}

void test_contractions(DeviceEngine& engine, bool small) {
  auto cases = small_cases();
  if (!small) {
    cases.push_back({"i,i->", {{3000001}, {3000001}}});
    cases.push_back({"ij,jk->ik", {{513, 1025}, {1025, 259}}});
    cases.push_back({"abij,bajk->abik", {{9, 10, 33, 20}, {10, 9, 20, 17}}});
    // Long products with a narrow factor: terms last, first and between, the new label first and
    // last.
    cases.push_back({"hd,abcd->habc", {{50, 49}, {11, 12, 13, 49}}});
    cases.push_back({"ea,abcd->bcde", {{27, 50}, {50, 11, 12, 13}}});
    cases.push_back({"fb,abc->afc", {{10, 9}, {3, 9, 1500}}});
    cases.push_back({"bi,bi->b", {{3, 200001}, {3, 200001}}});
    cases.push_back({"abcdef,dfgb->aceg", {{6, 7, 8, 9, 5, 4}, {9, 4, 11, 7}}});
  }
  for (const auto& [expression, shapes] : cases) {
    for (const DType dtype : {DType::kF32, DType::kF64, DType::kC64, DType::kC128, DType::kBF16}) {
      test_contraction(engine, {expression, shapes, dtype, {}, 1, {}});
    }
    // Of two factors: products of more leave the range of f32, which intermediates have to keep.
    for (const double scale : {1e-15, 1e15}) {
      if (shapes.size() > 2) continue;
      test_contraction(engine, {expression, shapes, DType::kF32, {}, scale, {}});
      test_contraction(engine, {expression, shapes, DType::kF64, {}, std::pow(scale, 8), {}});
    }
    test_contraction(engine,
                     {expression, shapes, DType::kF64, {.alpha = -1.5, .beta = 0.5}, 1, {}});
    test_contraction(engine, {expression, shapes, DType::kF32, {.alpha = 2, .beta = 1}, 1, {}});
    test_contraction(engine,
                     {expression, shapes, DType::kC64, {.alpha = {0, 1}, .beta = {1, 1}}, 1, {}});
    test_contraction(engine,
                     {expression, shapes, DType::kF32, {.precision = Precision::kDouble}, 1, {}});
    test_contraction(engine, {expression, shapes, DType::kF32, {.dtype = DType::kF64}, 1, {}});
  }
  // What is not a number goes where the plain loops put it.
  const auto spoil = [](std::vector<Tensor>& tensors) {
    tensors[0].as<double>()[1] = std::numeric_limits<double>::quiet_NaN();
    tensors[0].as<double>()[7] = std::numeric_limits<double>::infinity();
  };
  for (const char* expression : {"ij,jk->ik", "ij,jk->ki"}) {
    test_contraction(engine, {expression, {{6, 5}, {5, 4}}, DType::kF64, {}, 1, spoil});
  }
  test_contraction(engine, {"ij,ij->i", {{6, 5}, {6, 5}}, DType::kF64, {}, 1, spoil});
}

void test_memory(DeviceEngine& engine, bool small) {
  const std::vector<Shape> chain = {{40, 50}, {50, 60}, {60, 70}};
  const double fixed = 8.0 * (40 * 50 + 50 * 60 + 60 * 70 + 40 * 70);
  const auto bound = static_cast<std::uint64_t>(fixed + 8 * 40 * 20);
  test_contraction(engine, {"ij,jk,kl->il", chain, DType::kF64, {.memory = bound}, 1, {}});
  expect_refused("a bound below the operands", [&] {
    std::vector<OperandSpec> specs;
    for (const auto& shape : chain) specs.push_back(OperandSpec::dense(DType::kF64, shape));
    engine.plan("ij,jk,kl->il", specs, {.memory = std::uint64_t{1000}});
  });
  expect_refused("tensors beyond the device's memory", [&] {
    const std::int64_t n = std::int64_t{1} << 18;
    const std::vector<OperandSpec> specs = {OperandSpec::dense(DType::kF64, Shape({n, n})),
                                            OperandSpec::dense(DType::kF64, Shape({n, n}))};
    engine.plan("ij,jk->ik", specs, {});
  });
  // compute-sanitizer reports every call that fails.
  if (small) return;
  try {
    const DeviceTensor huge(DType::kF64, Shape({std::int64_t{1} << 45}));
    expect(false, "there is no such memory");
  } catch (const kernels::cuda::DeviceError& e) {
    expect(e.trouble() == kernels::cuda::Trouble::kMemory, "out of memory is called that");
  }
  // The device goes on afterwards.
  test_contraction(engine, {"ij,jk->ik", {{7, 8}, {8, 9}}, DType::kF64, {}, 1, {}});
}

void test_refusals(DeviceEngine& engine) {
  const Tensor a = random_tensor(DType::kF32, Shape({3, 4}), 1);
  const auto there = engine.to_device(a.view());
  const std::vector<Operand> operands = {there, there};
  const auto plan = engine.plan("ij,ij->ij", operands);
  const std::vector<DeviceTensor> tensors = {there, there};
  expect_refused("an out that is an operand", [&] { engine.run_into(*plan, tensors, there); });
  expect_refused("an out of another shape", [&] {
    engine.run_into(*plan, tensors, DeviceTensor(DType::kF32, Shape({4, 3})));
  });
  expect_refused("a complex factor", [&] {
    engine.run_into(*plan, tensors, DeviceTensor(DType::kF32, Shape({3, 4})), {.alpha = {0, 1}});
  });
}

// Tensors that lie within others, each beginning beside every boundary but that of an element.
enum class Lie { kShifted, kGaps, kSteps, kTurned, kBackwards, kRepeated };
constexpr const char* kLies[] = {"shifted", "gaps", "steps", "turned", "backwards", "repeated"};

struct Within {
  Shape shape;
  Axes strides;
  std::int64_t begin, elements;  // of the tensor around it

  Within(const Shape& of, Lie lie) : shape(of), strides(of.rank()) {
    const std::size_t rank = of.rank();
    std::int64_t step = lie == Lie::kSteps ? 2 : 1;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::size_t axis = lie == Lie::kTurned ? i : rank - 1 - i;
      strides[axis] = step;
      step *= std::max<std::int64_t>(1, of[axis]) + (lie == Lie::kGaps && i == 0 ? 3 : 0);
    }
    begin = 1;
    elements = begin + step;
    if (rank > 0 && lie == Lie::kRepeated) strides[0] = 0;
    if (rank > 0 && lie == Lie::kBackwards) {
      begin += std::max<std::int64_t>(0, of[0] - 1) * strides[0];
      strides[0] = -strides[0];
    }
  }
  TensorView in(const Tensor& whole) const {
    const auto* bytes =
        whole.bytes().data() + static_cast<std::size_t>(begin) * size_of(whole.dtype());
    return {whole.dtype(), bytes, shape, strides};
  }
  DeviceTensor in(const DeviceTensor& whole) const {
    auto* bytes = static_cast<std::byte*>(whole.data());
    return {whole.dtype(), shape, strides,
            bytes + static_cast<std::size_t>(begin) * size_of(whole.dtype())};
  }
};

void test_view(DeviceEngine& engine, const std::string& expression,
               const std::vector<Shape>& shapes, DType dtype, Lie lie, const RunOptions& options) {
  std::vector<Tensor> wholes, moduli;
  std::vector<DeviceTensor> sent, there;
  std::vector<TensorView> views, bounds;
  wholes.reserve(shapes.size()), moduli.reserve(shapes.size());
  for (const auto& shape : shapes) {
    const Within place(shape, lie);
    wholes.push_back(random_tensor(dtype, Shape({place.elements}), wholes.size() + 1));
    views.push_back(place.in(wholes.back()));
    moduli.push_back(moduli_of(Tensor::converted(views.back(), dtype)));
    bounds.push_back(moduli.back().view());
    sent.push_back(engine.to_device(wholes.back().view()));
    there.push_back(place.in(sent.back()));
  }
  const auto plan = engine.plan(expression, std::vector<Operand>(there.begin(), there.end()));
  Engine reference({.backend = Backend::kReference});
  Tensor bound = reference.einsum(expression, bounds);
  for (auto& x : bound.as<double>()) x = 2 * x + (options.beta == 0.0 ? 0 : 4);
  // An out whose elements overlap is refused.
  const Within place(plan->output_shape(), lie == Lie::kRepeated ? Lie::kGaps : lie);
  Tensor before = random_tensor(plan->result, Shape({place.elements}), 77);
  const auto around = engine.to_device(before.view());
  engine.run_into(*plan, there, place.in(around), options);
  const Tensor after = engine.to_host(around);
  Tensor right = Tensor::converted(place.in(before), plan->result);
  reference.einsum_into(expression, views, right.mutable_view(),
                        {.alpha = options.alpha, .beta = options.beta});
  const auto what = fmt::format("{} {} {}{}", expression, name_of(dtype),
                                kLies[static_cast<int>(lie)], options.beta == 0.0 ? "" : " added");
  expect_close(what, Tensor::converted(place.in(after), plan->result), right, bound,
               epsilon_of(*plan));
  // What lies between the elements is as it was.
  Tensor kept = engine.to_host(around);
  convert_into(place.in(before),
               {plan->result,
                kept.bytes().data() + static_cast<std::size_t>(place.begin) * size_of(plan->result),
                place.shape, place.strides});
  expect(std::ranges::equal(kept.bytes(), before.bytes()), what + ": between the elements");
}

void test_views_there(DeviceEngine& engine, bool small) {
  for (const auto& [expression, shapes] : small_cases()) {
    for (int lie = 0; lie < static_cast<int>(std::size(kLies)); ++lie) {
      for (const DType dtype :
           {DType::kF32, DType::kF64, DType::kC64, DType::kC128, DType::kBF16}) {
        if (small && dtype != DType::kF32 && dtype != DType::kC128) continue;
        test_view(engine, expression, shapes, dtype, static_cast<Lie>(lie), {});
      }
      test_view(engine, expression, shapes, DType::kF32, static_cast<Lie>(lie),
                {.alpha = 2, .beta = 1});
    }
  }
  for (int lie = 0; lie < static_cast<int>(std::size(kLies)); ++lie) {
    // Longer than a list of addresses is worth, aligned in all but their beginning.
    for (const DType dtype : {DType::kF32, DType::kC64, DType::kBF16}) {
      test_view(engine, "abij,bajk->abik", {{8, 12, 16, 32}, {12, 8, 32, 64}}, dtype,
                static_cast<Lie>(lie), {});
      test_view(engine, "ij,jk->ik", {{128, 256}, {256, 64}}, dtype, static_cast<Lie>(lie), {});
    }
  }
  const DeviceTensor whole(DType::kF32, Shape({64}));
  const auto view = [&](const Shape& shape, const Axes& strides, std::size_t begin) {
    return DeviceTensor(DType::kF32, shape, strides, static_cast<float*>(whole.data()) + begin);
  };
  const auto a = view(Shape({4, 3}), Axes{8, 1}, 0);
  const std::vector<Operand> operands = {a};
  const auto plan = engine.plan("ij->ij", operands);
  expect_refused("an out that begins in an operand", [&] {
    engine.run_into(*plan, std::vector{a}, view(Shape({4, 3}), Axes{8, 1}, 26));
  });
  expect_refused("an out whose elements overlap", [&] {
    engine.run_into(*plan, std::vector{a}, view(Shape({4, 3}), Axes{1, 1}, 32));
  });
  expect_refused("an operand that lies otherwise than the plan's", [&] {
    engine.run_into(*plan, std::vector{view(Shape({4, 3}), Axes{3, 1}, 0)},
                    view(Shape({4, 3}), Axes{3, 1}, 32));
  });
}

// A host's view with gaps and negative strides is sent as it is meant.
void test_views(DeviceEngine& engine) {
  const Tensor a = random_tensor(DType::kF64, Shape({6, 8}), 1);
  const TensorView turned(DType::kF64, a.as<double>().data() + 5 * 8 + 7, Shape({4, 3}),
                          Axes{-2, -8});
  Engine reference({.backend = Backend::kReference});
  const TensorView views[] = {turned, turned};
  const Tensor right = reference.einsum("ij,kj->ik", views);
  const auto found = engine.to_host(engine.einsum("ij,kj->ik", {turned, turned}));
  Tensor bound(DType::kF64, right.shape());
  for (auto& x : bound.as<double>()) x = 3;
  expect_close("a strided view", found, right, bound, 1e-15);
}

// DF-MP2.

void test_mp2(std::int64_t nocc, std::int64_t nvir, std::int64_t naux, const Mp2Options& options,
              const DeviceMp2Options& tiles = {}) {
  const auto s = synthetic_mp2(nocc, nvir, naux);
  const auto right = einsum::mp2_energy(s.b.view(), s.occupied, s.virtuals, options);
  const auto found = device_mp2_energy(s.b.view(), s.occupied, s.virtuals, options);
  const auto close = [&](double x, double y, const char* which) {
    expect(
        std::abs(x - y) <= 1e-12 * std::abs(right.total),
        fmt::format("mp2 {},{},{} {}: {:.17g} instead of {:.17g}", nocc, nvir, naux, which, x, y));
  };
  close(found.total, right.total, "total");
  close(found.opposite_spin, right.opposite_spin, "opposite");
  close(found.same_spin, right.same_spin, "same");
  // A few pairs at a time, on one stream, twice: the same bits each time.
  if (options.frozen_occupied + options.frozen_virtual > 0) return;
  kernels::cuda::OwnStream stream;
  kernels::cuda::Memory memory;
  auto* const b = static_cast<double*>(memory.allocate(s.b.bytes().size()));
  auto* const energy = static_cast<double*>(memory.allocate(3 * sizeof(double)));
  kernels::cuda::copy_to_device(b, s.b.bytes().data(), s.b.bytes().size(), stream.get());
  DeviceMp2 mp2(s.occupied, s.virtuals, naux, tiles);
  double e[2][3];
  for (auto& one : e) {
    mp2.enqueue(b, energy, stream.get());
    kernels::cuda::copy_to_host(one, energy, sizeof one, stream.get());
  }
  close(e[0][0], right.total, "in tiles");
  expect(std::memcmp(e[0], e[1], sizeof e[0]) == 0, "mp2 has the same bits twice");
}

void test_mp2s(bool small) {
  test_mp2(2, 3, 5, {});
  test_mp2(5, 19, 72, {});
  test_mp2(5, 19, 72, {.frozen_occupied = 2, .frozen_virtual = 3});
  test_mp2(3, 65, 7, {}, {.streams = 1, .tile_bytes = 1});
  test_mp2(4, 130, 33, {}, {.streams = 2, .tile_bytes = std::size_t{300} << 10});
  test_mp2(1, 1, 1, {});
  if (!small) test_mp2(16, 128, 128, {});
  auto s = synthetic_mp2(2, 3, 5);
  const Tensor narrow = Tensor::converted(s.b.view(), DType::kF32);
  const double one = device_mp2_energy(narrow.view(), s.occupied, s.virtuals).total;
  const double two = einsum::mp2_energy(narrow.view(), s.occupied, s.virtuals).total;
  expect(std::abs(one - two) <= 1e-14, "mp2 of f32 integrals");
  expect_refused("a gap that is not positive", [&] {
    device_mp2_energy(s.b.view(), std::vector<double>{-1, 5}, s.virtuals);
  });
  s.b.as<double>()[4] = std::numeric_limits<double>::quiet_NaN();
  expect_refused("an integral that is no number",
                 [&] { device_mp2_energy(s.b.view(), s.occupied, s.virtuals); });
}

int run(const std::string& what) {
  if (what == "time") {
    time_all();
    return 0;
  }
  if (what == "calibrate") {
    std::puts(pretty_json(to_json(calibrate())).c_str());
    return 0;
  }
  const bool small = what == "small";
  test_permutes();
  DeviceEngine engine;
  test_contractions(engine, small);
  test_memory(engine, small);
  test_refusals(engine);
  test_views(engine);
  test_views_there(engine, small);
  test_mp2s(small);
  test_decompositions(engine, small, expect);
  std::puts(fmt::format("{} checks, {} failed", checks, failures).c_str());
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace assay::einsum::cuda

int main(int argc, char** argv) {
  try {
    return assay::einsum::cuda::run(argc > 1 ? argv[1] : "");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
