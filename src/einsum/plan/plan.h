// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A contraction, decided: which steps, in which order, by which kernels, in how much memory.
// plan.cc tells how a plan comes to be; run/run.cc how it runs.

#include <complex>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "einsum/kernels/counters.h"
#include "einsum/kernels/time_model.h"
#include "einsum/kernels/workspace.h"
#include "einsum/labels/notation.h"
#include "einsum/plan/step.h"
#include "einsum/search/search.h"
#include "tensor/tensor.h"
#include "tensor/view.h"

namespace assay::einsum {

enum class Backend {
  kReference,  // plain loops over all labels at once, sums in fp64
  kBlas,       // pairwise steps on the processor
  kCuda,       // pairwise steps on a GPU; einsum/cuda runs such plans
};
std::string_view name_of(Backend backend);
// Throws UserError that lists the names.
Backend backend_from_name(std::string_view name);

// How f32 and c64 operands are computed with.
enum class Precision { kDefault, kDouble };

struct PlanOptions {
  Backend backend = Backend::kBlas;
  Objective objective = Objective::kTime;
  std::optional<DType> dtype;  // of the result; absent: the operands' common dtype
  Precision precision = Precision::kDefault;
  // Bound on the bytes of operands, result, intermediates and copies that live at the same time.
  std::optional<std::uint64_t> memory;
  int threads = 1;
  std::uint64_t seed = 0;  // of the search, for networks beyond its exact limit
  int exact_limit = 16;    // terms that are searched exactly; see SearchOptions
  int tries = 128;
  double budget_s = 0;        // of the search, beyond one round of it; see SearchOptions
  bool result_stays = false;  // on the device: nothing is copied back
};

// What a plan is made for: an operand's dtype, shape and strides.
struct OperandSpec {
  DType dtype = DType::kF64;
  Shape shape;
  Axes strides;
  bool resident = false;  // lies in the device's memory already
  // A row-major tensor.
  static OperandSpec dense(DType dtype, Shape shape);
  static OperandSpec of(const TensorView& view);
};

// Where the order of contractions came from.
struct PathReport {
  std::string method;
  double cost = 0, lower_bound = 0;
  bool optimal = false;
  // Pairs of nodes, as Tree has them, after operands with equal labels were joined.
  Tree tree;
};

// What crosses the bus when a plan for a device runs.
struct Transfers {
  double to_bytes = 0, from_bytes = 0;
  double seconds = 0;  // predicted
};

struct RunReport {
  Counters counters;
  std::vector<double> step_seconds;  // filled where asked for; summed over slices
  std::vector<Kernel> step_kernels;  // what each step's counters saw
  std::size_t peak_bytes = 0;        // operands, result and workspace
  double transfer_seconds = 0;       // of copies to and from a device
};

struct RunOptions {
  std::complex<double> alpha = 1, beta = 0;
  bool analyze = false;  // fill in step_seconds and step_kernels
};

class Plan {
 public:
  Problem problem;
  PlanOptions options;
  std::vector<OperandSpec> operands;
  DType compute = DType::kF64;  // of intermediates
  DType result = DType::kF64;
  std::vector<Step> steps;            // empty where the result is empty or a sum over nothing
  std::vector<Slice> slices;          // nested loops, the last one runs fastest
  std::vector<Axes> operand_strides;  // as the steps use them, by axis
  PathReport path;
  double mac = 0, flop = 0;  // of all runs of all steps
  double predicted_s = 0;    // with its transfers
  Transfers transfers;       // of Backend::kCuda
  double peak_bytes = 0;     // predicted
  bool calibrated = false;

  Shape output_shape() const { return problem.output_shape(); }
  // out = alpha·contraction + beta·out. The operands are as the plan has them (else UserError); out
  // has the result's shape and dtype, any strides without overlap, and shares no memory with an
  // operand. With beta 0, out is not read. Not for Backend::kCuda.
  RunReport run_into(std::span<const TensorView> tensors, const MutableTensorView& out,
                     Workspace& workspace, const RunOptions& options = {}) const;
  Tensor run(std::span<const TensorView> tensors, Workspace& workspace) const;
  std::int64_t slice_count() const;
  std::int64_t runs_of(const Step& step) const;  // once for each part of the slices it sees
};

// Decides; the model is a device's for Backend::kCuda, and the processor's else. Throws UserError:
// bad notation or shapes, dtypes that cannot be contracted, or a memory
// bound that cannot be met (the message says the least that was found). `path` is an order found
// earlier for the same problem, which makes a search unnecessary.
Plan make_plan(const Notation& notation, std::vector<OperandSpec> operands,
               const PlanOptions& options, const TimeModel& model,
               const PathReport* path = nullptr);

}  // namespace assay::einsum
