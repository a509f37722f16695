// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/program/program.h"

#include <array>

#include "base/error.h"

namespace assay::compiler {
namespace {

// One kernel's rules; messages say which.
class KernelCheck {
 public:
  KernelCheck(const Kernel& kernel, std::size_t number) : kernel_(kernel), number_(number) {}

  void run() {
    written_.assign(kernel_.operands.size(), false);
    std::visit([this](const auto& work) { check_work(work); }, kernel_.work);
    for (std::size_t i = 0; i < kernel_.operands.size(); ++i) {
      expect(written_[i] == kernel_.operands[i].is_written, "is_written says what is written");
    }
  }

 private:
  void expect(bool holds, std::string_view what) const {
    if (holds) return;
    throw InternalError(fmt::format("kernel {} ({}): {}", number_, kind_of(kernel_), what));
  }
  const Kernel::Formal& formal(const Access& access) const {
    expect(access.operand < kernel_.operands.size(), "an access names an operand that it has");
    return kernel_.operands[access.operand];
  }
  void read(const Access& access, std::size_t rank) const {
    formal(access);
    expect(access.view.rank() == rank && access.view.strides.size() == rank,
           fmt::format("a view of {} axes, got {}", rank, access.view.to_string()));
  }
  void write(const Access& access, std::size_t rank) {
    read(access, rank);
    written_[access.operand] = true;
  }
  DType dtype_of(const Access& access) const { return formal(access).dtype; }

  void check_value(const Region& region, std::size_t number, bool is_sum) const {
    const auto& value = region.values[number];
    const auto rank = region.shape.size() - (value.of_row ? 1 : 0);
    bool is_of_row = true;
    for (const auto i : value.values) {
      expect(i < number, "values come after what they are computed of");
      is_of_row = is_of_row && region.values[i].of_row;
    }
    const bool reduces = value.op == Op::kSum || value.op == Op::kMaxReduce;
    switch (value.op) {
      case Op::kInput:
        if (is_sum) return;
        read(value.access, rank);
        expect(value.access.view.shape == row_shape(region, value.of_row),
               "what is read has the region's shape");
        return expect(dtype_of(value.access) == value.dtype, "what is read has the value's dtype");
      case Op::kIota:
        return expect(value.access.view.rank() == rank, "iota has the region's axes");
      case Op::kGather:
        expect(dtype_of(value.access) == value.dtype, "what is gathered has the value's dtype");
        break;
      case Op::kScatter:
        return expect(false, "a region has no scatter");
      default:
        break;
    }
    if (value.op == Op::kConst) return;
    expect(value.of_row == (reduces || is_of_row) || (!reduces && !value.of_row),
           "a row's value is computed of rows' values");
  }
  static std::vector<Dim> row_shape(const Region& region, bool of_row) {
    auto shape = region.shape;
    if (of_row) shape.pop_back();
    return shape;
  }
  void check_work(const Region& region) { check_region(region, false); }
  void check_region(const Region& region, bool is_epilogue) {
    expect(!region.shape.empty(), "a region has an axis");
    for (std::size_t i = 0; i < region.values.size(); ++i) {
      check_value(region, i, is_epilogue && i == 0);
      const auto op = region.values[i].op;
      expect(!is_epilogue || (op != Op::kSum && op != Op::kMaxReduce),
             "an epilogue has no reductions");
    }
    expect(!region.stores.empty(), "a region stores something");
    for (const auto& store : region.stores) {
      expect(store.value < region.values.size(), "a store names a value");
      const auto& value = region.values[store.value];
      write(store.to, region.shape.size() - (value.of_row ? 1 : 0));
      expect(dtype_of(store.to) == value.dtype, "what is stored has the operand's dtype");
    }
  }
  void check_work(const Matmul& matmul) {
    const auto rank = matmul.a.view.rank();
    expect(rank >= 2, "a product has rows and columns");
    read(matmul.a, rank);
    read(matmul.b, rank);
    if (matmul.epilogue) {
      expect(matmul.epilogue->shape.size() == rank, "an epilogue has the product's axes");
      check_region(*matmul.epilogue, true);
    } else {
      write(matmul.out, rank);
    }
    const auto &a = matmul.a.view.shape, &b = matmul.b.view.shape;
    expect(a[rank - 1] == b[rank - 2], "a and b share k");
  }
  void check_work(const GroupedMatmul& grouped) {
    read(grouped.a, 2);
    read(grouped.weights, 3);
    read(grouped.expert, 1);
    write(grouped.out, 2);
  }
  void check_work(const Attention& attention) {
    const auto rank = attention.q.view.rank();
    expect(rank >= 2, "attention has queries and their width");
    read(attention.q, rank);
    read(attention.k, rank);
    read(attention.v, rank);
    if (attention.mask) read(*attention.mask, rank);
    write(attention.out, rank);
  }
  void check_work(const ScatterInto& scatter) {
    formal(scatter.data);
    read(scatter.values, scatter.index.view.rank());
    write(scatter.out, scatter.out.view.rank());
    expect(scatter.in_place == (scatter.out.operand == scatter.data.operand),
           "in place is where data and out are one");
  }

  const Kernel& kernel_;
  std::size_t number_;
  std::vector<bool> written_;
};

}  // namespace

std::string_view kind_of(const Kernel& kernel) {
  static constexpr std::array<std::string_view, 5> kKinds = {"region", "matmul", "grouped_matmul",
                                                             "attention", "scatter"};
  return kKinds.at(kernel.work.index());
}

void check_program(const Program& program) {
  for (std::size_t i = 0; i < program.kernels.size(); ++i) KernelCheck(program.kernels[i], i).run();
  using Kind = Buffer::Kind;
  std::vector<bool> holds(program.buffers.size());
  for (std::size_t i = 0; i < holds.size(); ++i) {
    const auto kind = program.buffers[i].kind;
    holds[i] = kind == Kind::kInput || kind == Kind::kState;
  }
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const auto& step = program.steps[i];
    const auto expect = [&](bool is_so, std::string_view what) {
      if (!is_so) throw InternalError(fmt::format("step {}: {}", i, what));
    };
    expect(step.kernel < program.kernels.size(), "a step names a kernel that there is");
    const auto& kernel = program.kernels[step.kernel];
    expect(step.buffers.size() == kernel.operands.size(), "a buffer for each operand");
    // An operand that is written and read (in place) holds something before.
    const auto* scatter = std::get_if<ScatterInto>(&kernel.work);
    for (std::size_t k = 0; k < step.buffers.size(); ++k) {
      const auto& formal = kernel.operands[k];
      const auto id = step.buffers[k];
      expect(id < program.buffers.size(), "a step names buffers that there are");
      const auto& buffer = program.buffers[id];
      expect(buffer.dtype == formal.dtype && buffer.shape == formal.shape,
             "a buffer is what the kernel expects");
      const bool is_in_place = scatter != nullptr && scatter->in_place && scatter->out.operand == k;
      expect(formal.is_written && !is_in_place ? buffer.kind != Kind::kInput : holds[id],
             "a buffer is read after it is written, and inputs are not written");
    }
    for (std::size_t k = 0; k < step.buffers.size(); ++k) {
      if (kernel.operands[k].is_written) holds[step.buffers[k]] = true;
    }
  }
  for (std::size_t i = 0; i < holds.size(); ++i) {
    if (program.buffers[i].kind == Kind::kOutput && !holds[i]) {
      throw InternalError(fmt::format("output '{}' is never written", program.buffers[i].name));
    }
  }
}

}  // namespace assay::compiler
