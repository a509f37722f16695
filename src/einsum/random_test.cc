// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Random expressions in all of the notation's features against the plain loops, which are
// themselves held to a brute force that shares no code with them.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

#include "base/philox.h"
#include "einsum/plan/plan.h"
#include "tensor/fill.h"

namespace assay::einsum {
namespace {

constexpr int kCases = 24000;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed, stream_key("random")) {}
  int below(int bound) {
    return static_cast<int>(uniform_below(random_[at_++], static_cast<std::uint64_t>(bound)));
  }
  bool chance(int percent) { return below(100) < percent; }
  double unit() { return unit_interval(random_[at_++]); }

 private:
  Philox random_;
  std::uint64_t at_ = 0;
};

// An expression with its operands. Views may be transposed, strided or broadcast copies of memory.
struct Sample {
  std::string text;
  std::vector<Tensor> storage;
  std::vector<TensorView> views;
  std::vector<std::string> terms;  // one character for each axis: letters, then digits for "..."
  std::string output;
  std::map<char, std::int64_t> extents;
};

TensorView shuffled_view(Draw& draw, Tensor& storage, const std::vector<std::int64_t>& shape) {
  // The storage has the axes in another order, and every second element of some of them.
  std::vector<std::size_t> order(shape.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(draw.below(static_cast<int>(i)))]);
  }
  std::vector<std::int64_t> stored(shape.size());
  std::vector<int> steps(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    steps[i] = draw.chance(15) ? 2 : 1;
    stored[i] = shape[order[i]] * steps[i];
  }
  storage = Tensor(storage.dtype(), Shape(stored));
  TensorView view = storage.view();
  for (std::size_t i = 0; i < stored.size(); ++i) {
    if (steps[i] == 2) view = view.slice(i, 0, stored[i], 2);
  }
  std::vector<std::size_t> back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[order[i]] = i;
  view = view.permute(back);
  // Some axes run backwards.
  std::vector<std::int64_t> strides(view.strides().begin(), view.strides().end());
  const auto* data = static_cast<const char*>(view.raw_data());
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (shape[i] == 0 || !draw.chance(8)) continue;
    data += (shape[i] - 1) * strides[i] * static_cast<std::int64_t>(size_of(view.dtype()));
    strides[i] = -strides[i];
  }
  return TensorView(view.dtype(), data, view.shape(), strides);
}

DType draw_dtype(Draw& draw) {
  constexpr DType kAll[] = {DType::kF32, DType::kF64, DType::kC64, DType::kC128, DType::kBF16};
  return kAll[draw.below(5)];
}

Sample make_sample(std::uint64_t seed) {
  Draw draw(seed);
  Sample s;
  const int operands = 1 + draw.below(5);
  const int letters = 1 + draw.below(6);
  const bool zero = draw.chance(4);
  // Larger extents where there are few labels, so that every kernel gets its turn.
  const int largest = letters <= 3 && operands <= 3 && draw.chance(20) ? 24 : 4;
  for (int i = 0; i < letters; ++i) {
    s.extents[static_cast<char>('a' + i)] = zero && draw.chance(30) ? 0 : 1 + draw.below(largest);
  }
  const bool ellipses = draw.chance(20);
  const int unnamed = ellipses ? draw.below(3) : 0;
  for (int i = 0; i < unnamed; ++i) {
    s.extents[static_cast<char>('0' + i)] = zero && draw.chance(20) ? 0 : 1 + draw.below(3);
  }
  const DType dtype = draw_dtype(draw);
  const bool mixed = draw.chance(10);
  for (int o = 0; o < operands; ++o) {
    const int rank = draw.below(operands == 1 ? 5 : 4);
    std::string term;
    for (int r = 0; r < rank; ++r) term += static_cast<char>('a' + draw.below(letters));
    const int own =
        ellipses ? draw.below(unnamed + 1) : 0;  // right-aligned: the last `own` of them
    std::string axes = term;
    if (o != 0) s.text += draw.chance(10) ? " ," : ",";
    if (ellipses && (own > 0 || draw.chance(50))) {
      const int at = draw.below(rank + 1);
      std::string unnamed_axes;
      for (int i = unnamed - own; i < unnamed; ++i) unnamed_axes += static_cast<char>('0' + i);
      axes.insert(static_cast<std::size_t>(at), unnamed_axes);
      s.text += term.substr(0, static_cast<std::size_t>(at)) + "..." +
                term.substr(static_cast<std::size_t>(at));
    } else {
      s.text += term;
    }
    s.terms.push_back(axes);
    std::vector<std::int64_t> shape;
    for (const char l : axes) {
      const auto before = axes.find(l);  // a diagonal has equal extents
      shape.push_back(before < shape.size() ? shape[before] : draw.chance(8) ? 1 : s.extents[l]);
    }
    s.storage.emplace_back(mixed ? draw_dtype(draw) : dtype, Shape());
    s.views.push_back(shuffled_view(draw, s.storage.back(), shape));
    fill_uniform(s.storage.back().mutable_view(), Philox(seed, static_cast<std::uint64_t>(o) + 1),
                 -1, 1);
  }
  // Broadcasts may have left a label without any extent but 1.
  for (auto& [label, extent] : s.extents) {
    std::int64_t found = 1;
    for (std::size_t o = 0; o < s.terms.size(); ++o) {
      for (std::size_t axis = 0; axis < s.terms[o].size(); ++axis) {
        if (s.terms[o][axis] == label && s.views[o].extent(axis) != 1)
          found = s.views[o].extent(axis);
      }
    }
    extent = found;
  }
  std::map<char, int> times;
  int widest = 0;
  for (const auto& term : s.terms) {
    int here = 0;
    for (const char l : term) {
      ++times[l];
      here += l < 'a';
    }
    widest = std::max(widest, here);
  }
  std::string unnamed_axes;
  for (int i = unnamed - widest; i < unnamed; ++i) unnamed_axes += static_cast<char>('0' + i);
  if (draw.chance(30)) {  // implicit
    s.output = unnamed_axes;
    for (const auto& [l, count] : times) {
      if (l >= 'a' && count == 1) s.output += l;
    }
    return s;
  }
  std::string kept;
  for (const auto& [l, count] : times) {
    if (l >= 'a' && draw.chance(50))
      kept.insert(static_cast<std::size_t>(draw.below(static_cast<int>(kept.size()) + 1)), 1, l);
  }
  s.text += "->";
  const bool needed = widest > 0 || draw.chance(ellipses ? 30 : 0);
  const auto at = static_cast<std::size_t>(draw.below(static_cast<int>(kept.size()) + 1));
  s.text += needed ? kept.substr(0, at) + "..." + kept.substr(at) : kept;
  s.output = kept;
  s.output.insert(at, unnamed_axes);
  return s;
}

// Every index of every label, one after the other.
struct BruteForce {
  const Sample& s;
  std::vector<std::complex<double>> values;
  std::vector<double> magnitudes;  // of the sum of absolute values: what errors are measured by
  double terms = 1;                // of each sum

  explicit BruteForce(const Sample& sample) : s(sample) {
    std::int64_t size = 1;
    for (const char l : s.output) size *= s.extents.at(l);
    values.resize(static_cast<std::size_t>(size));
    magnitudes.resize(static_cast<std::size_t>(size));
    std::vector<char> labels;
    std::map<char, std::int64_t> at;
    for (const auto& [l, extent] : s.extents) {
      bool used = false;
      for (const auto& term : s.terms) used |= term.find(l) != std::string::npos;
      if (!used) continue;
      labels.push_back(l);
      if (s.output.find(l) == std::string::npos) terms *= static_cast<double>(extent);
    }
    loop(labels, 0, at);
  }

  void loop(const std::vector<char>& labels, std::size_t depth, std::map<char, std::int64_t>& at) {
    if (depth == labels.size()) {
      add(at);
      return;
    }
    const std::int64_t extent = s.extents.at(labels[depth]);
    for (std::int64_t i = 0; i < extent; ++i) {
      at[labels[depth]] = i;
      loop(labels, depth + 1, at);
    }
  }

  void add(const std::map<char, std::int64_t>& at) {
    std::complex<double> product = 1;
    for (std::size_t o = 0; o < s.terms.size(); ++o) {
      std::int64_t index = 0;
      for (std::size_t axis = 0; axis < s.terms[o].size(); ++axis) {
        const std::int64_t extent = s.views[o].extent(axis);
        index = index * extent + (extent == 1 ? 0 : at.at(s.terms[o][axis]));
      }
      product *= value_as_complex(s.views[o], index);
    }
    std::int64_t to = 0;
    for (const char l : s.output) to = to * s.extents.at(l) + at.at(l);
    values[static_cast<std::size_t>(to)] += product;
    magnitudes[static_cast<std::size_t>(to)] += std::abs(product);
  }
};

double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::kBF16:
      return 0x1p-8;
    case DType::kF32:
    case DType::kC64:
      return 0x1p-24;
    default:
      return 0x1p-53;
  }
}

void compare(const Sample& s, const BruteForce& right, const Plan& plan, const Tensor& out,
             std::uint64_t seed, const char* what) {
  ASSERT_EQ(out.element_count(), static_cast<std::int64_t>(right.values.size())) << s.text;
  for (std::size_t axis = 0; axis < s.output.size(); ++axis) {
    ASSERT_EQ(out.shape()[axis], s.extents.at(s.output[axis])) << s.text;
  }
  // Each of n additions and of the products of five factors (complex: four roundings each) rounds
  // relative to the sum of absolute values; the result is rounded once more.
  const double u = unit_roundoff(plan.compute);
  const double bound = (right.terms + 40) * u;
  for (std::size_t i = 0; i < right.values.size(); ++i) {
    const auto got = value_as_complex(out.view(), static_cast<std::int64_t>(i));
    const double error = std::abs(got - right.values[i]);
    const double allowed = bound * right.magnitudes[i] +
                           unit_roundoff(out.dtype()) * std::abs(right.values[i]) + 1e-300;
    ASSERT_LE(error, allowed) << what << " seed " << seed << " '" << s.text << "' element " << i
                              << " kernel "
                              << (plan.steps.empty() ? "none"
                                                     : name_of(plan.steps.back().lowered.kernel));
  }
}

TEST(RandomExpressions, EqualBruteForce) {
  // Small tensors are best left to loops; models that think otherwise give all kernels their turn.
  std::array<TimeModel, 4> models;
  for (const bool wide : {false, true}) {
    for (std::size_t m = 1; m < models.size(); ++m)
      models[m].part(Part::kLoops, wide).per_call = 1e4;
    models[1].part(Part::kPermute, wide).per_call = 5;
    models[2].part(Part::kSmallGemm, wide).per_call = 2;
    models[2].part(Part::kGemv, wide).per_call = 2;
    models[3].part(Part::kGemv, wide).per_call = 2;
    models[3].part(Part::kSmallGemm, wide).per_call = 1e-3;
  }
  Workspace workspace;
  std::map<Kernel, int> seen;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const TimeModel& model = models[seed % models.size()];
    const Sample s = make_sample(seed);
    const BruteForce right(s);
    std::vector<OperandSpec> specs;
    for (const auto& view : s.views) specs.push_back(OperandSpec::of(view));
    const auto notation = parse_notation(s.text);
    const int threads = seed % 7 == 0 ? 2 : 1;
    const auto plan = make_plan(notation, specs, {.threads = threads}, model);
    compare(s, right, plan, plan.run(s.views, workspace), seed, "blas");
    if (HasFatalFailure()) return;
    for (const auto& step : plan.steps) ++seen[step.lowered.kernel];
    if (seed % 10 == 0) {
      const auto loops = make_plan(notation, specs, {.backend = Backend::kReference}, model);
      compare(s, right, loops, loops.run(s.views, workspace), seed, "reference");
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(workspace.live_bytes(), 0u);
  for (int k = 0; k < kKernels; ++k) {
    EXPECT_GT(seen[static_cast<Kernel>(k)], 8) << name_of(static_cast<Kernel>(k));
  }
}

}  // namespace
}  // namespace assay::einsum
