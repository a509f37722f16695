// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a graph becomes: kernels over buffers, in order. Choosing makes programs, the memory plan
// places their buffers, a runtime runs them. A kernel says what is computed and in which dtypes,
// never how: each runtime makes its own code of it, in one or more variants.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/graph/graph.h"

namespace assay::compiler {

// What a kernel reads or writes: one of its operands' elements, which have no gaps, by a view.
struct Access {
  std::uint32_t operand = 0;  // position in Kernel::operands, and in Step::buffers
  View view;
  bool operator==(const Access&) const = default;
};

// Elementwise work over `shape`, with reductions along its last axis: each row is read, reduced and
// written while it is in the nearest cache. Values come one after the other and are of two kinds:
// one for each element, or one for each row (a reduction, and what is computed of such alone). A
// row's value stands for all elements of its row where an operand is one for each element.
//
// Each value is rounded to its dtype, as a node of the graph is; how sums are accumulated, and how
// exp2 and its like are computed, is the runtime's within the bounds of verification.
struct Region {
  struct Value {
    Op op = Op::kInput;  // all of Op but kScatter
    DType dtype = DType::kF32;
    bool of_row = false;
    std::vector<std::uint32_t> values;  // operands: numbers of values before this one
    // kInput: what is read, a view of the region's shape (of a row's value: without the last axis).
    // kIota: offset and strides of the view are the number itself. kGather: what is indexed, as a
    // whole; `values` holds the flat index.
    Access access;
    std::uint64_t bits = 0;  // kConst
    bool operator==(const Value&) const = default;
  };
  struct Store {
    std::uint32_t value = 0;
    Access to;  // a view of the region's shape (of a row's value: without the last axis)
    bool operator==(const Store&) const = default;
  };
  std::vector<Dim> shape;  // at least one axis; the last is the row
  std::vector<Value> values;
  std::vector<Store> stores;
  bool operator==(const Region&) const = default;
};

// out[…, i, j] = epilogue(Σ_k a[…, i, k] · b[…, k, j]). Products and sums in `accumulate`, f32 or
// f64 (integers: their own), whatever a and b are; rounded to `accumulate` at the end. The epilogue
// is a region over out's shape whose values 0 is that sum (a kInput whose access is not used) and
// which has no reductions; without one the sum is cast to out's dtype.
struct Matmul {
  Access a, b;  // […, m, k], […, k, n]: the same leading axes, broadcast by stride 0
  Access out;   // […, m, n]; with an epilogue its stores count instead
  DType accumulate = DType::kF32;
  std::optional<Region> epilogue;
  bool operator==(const Matmul&) const = default;
};

// out[t, j] = Σ_k a[t, k] · weights[expert[t], k, j]: the rows of a mixture of experts. An expert
// outside counts as the nearest inside.
struct GroupedMatmul {
  Access a;        // [t, k]
  Access weights;  // [experts, k, n]
  Access expert;   // [t], i32 or i64
  Access out;      // [t, n]
  DType accumulate = DType::kF32;
  bool operator==(const GroupedMatmul&) const = default;
};

// softmax(scale · q kᵀ, masked) v for each of […, h, s, t]; a row whose keys are all masked is 0/0,
// NaN, unless the mask is additive and finite. Scores, softmax and sums in f32 (f64 for f64). Keys
// that are not seen need not be read: whether an infinity or NaN among their values makes 0·∞, NaN,
// is not said.
struct Attention {
  Access q;    // […, s, d]
  Access k;    // […, t, d]; grouped queries: a leading axis with stride 0
  Access v;    // […, t, e]
  Access out;  // […, s, e]
  double scale = 1;
  // Query i sees key j where j ≤ i + offset, and where j > i + offset − window.
  bool causal = false;
  Dim offset = 0;
  std::optional<Dim> window;
  // Added to the scaled scores, […, s, t]; a bool mask: true is seen.
  std::optional<Access> mask;
  bool operator==(const Attention&) const = default;
};

// out = data with values at flat indices (Op::kScatter). In place: out's operand is data's.
struct ScatterInto {
  Access data, index, values, out;
  bool in_place = false;
  bool operator==(const ScatterInto&) const = default;
};

struct Kernel {
  struct Formal {
    DType dtype = DType::kF32;
    std::vector<Dim> shape;
    bool is_written = false;
    bool operator==(const Formal&) const = default;
  };
  std::variant<Region, Matmul, GroupedMatmul, Attention, ScatterInto> work;
  std::vector<Formal> operands;
  std::uint32_t variant = 0;       // which of the runtime's ways; 0: its own choice
  std::vector<std::string> rules;  // that made it, in order
  bool operator==(const Kernel&) const = default;
};
// "region", "matmul", …
std::string_view kind_of(const Kernel& kernel);

using BufferId = std::uint32_t;
struct Buffer {
  // State: an input that the program replaces; afterwards it holds the new value (a cache of keys).
  enum class Kind : std::uint8_t { kInput, kState, kOutput, kTemporary };
  Kind kind = Kind::kTemporary;
  DType dtype = DType::kF32;
  std::vector<Dim> shape;  // row-major without gaps
  std::string name;        // but of a temporary
  bool operator==(const Buffer&) const = default;
};

// One kernel on its buffers. Layers that repeat share their kernels.
struct Step {
  std::uint32_t kernel = 0;
  std::vector<BufferId> buffers;  // for each of the kernel's operands
  bool operator==(const Step&) const = default;
};

struct Program {
  Symbols symbols;
  std::vector<Buffer> buffers;
  std::vector<Kernel> kernels;
  std::vector<Step> steps;
  bool operator==(const Program&) const = default;
};

// Throws InternalError that names the step and what is wrong with it: operands that do not fit, a
// buffer that is read before it is written or written after it was read by another's leave, values
// in a wrong order, views of a wrong rank, an input that is written.
void check_program(const Program& program);

}  // namespace assay::compiler
