// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/plain/run_plain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "compiler/graph/dtypes.h"
#include "tensor/tensor.h"

namespace assay::compiler {
namespace {

// A kernel with its operands, filled from doubles and read as such.
class PlainBench {
 public:
  Kernel kernel;
  Bindings symbols;

  std::uint32_t add(DType dtype, std::vector<std::int64_t> shape,
                    const std::vector<double>& values = {}) {
    kernel.operands.push_back({dtype, {shape.begin(), shape.end()}, values.empty()});
    Tensor tensor(dtype, Shape(shape));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto bits = bits_of(dtype, values[i]);
      std::memcpy(tensor.bytes().data() + i * size_of(dtype), &bits, size_of(dtype));
    }
    tensors_.push_back(std::move(tensor));
    return static_cast<std::uint32_t>(tensors_.size() - 1);
  }
  Access whole(std::uint32_t operand) const {
    return {operand, View::contiguous(kernel.operands[operand].shape)};
  }
  std::vector<double> run(std::uint32_t out) {
    std::vector<std::byte*> data;
    for (auto& tensor : tensors_) data.push_back(tensor.bytes().data());
    run_plain(kernel, symbols, data);
    std::vector<double> values;
    for (std::int64_t i = 0; i < tensors_[out].element_count(); ++i)
      values.push_back(value_as_double(tensors_[out].view(), i));
    return values;
  }

 private:
  std::vector<Tensor> tensors_;
};

TEST(RunPlain, ARegionReducesRowsAndSpreadsWhatComesOut) {
  PlainBench b;
  const auto x = b.add(DType::kF32, {3, 2}, {1, 2, 3, 4, 5, 6});
  const auto y = b.add(DType::kF16, {2, 3}), sums = b.add(DType::kF32, {2});
  Region region;
  region.shape = {2, 3};
  using V = Region::Value;
  // y = x transposed / its sum along rows + the number of the element, as f16
  region.values = {
      V{.op = Op::kInput, .access = {x, View::contiguous({3, 2}).permute({1, 0})}},
      V{.op = Op::kSum, .of_row = true, .values = {0}},
      V{.op = Op::kRecip, .of_row = true, .values = {1}},
      V{.op = Op::kMul, .values = {0, 2}},
      V{.op = Op::kIota, .dtype = DType::kI32, .access = {0, View{{2, 3}, {10, 1}, 7}}},
      V{.op = Op::kCast, .values = {4}},
      V{.op = Op::kAdd, .values = {3, 5}},
      V{.op = Op::kCast, .dtype = DType::kF16, .values = {6}},
  };
  region.stores = {{7, b.whole(y)}, {1, b.whole(sums)}};
  b.kernel.work = region;
  const auto got = b.run(y);
  const std::vector<double> want{7 + 1. / 9,   8 + 3. / 9,   9 + 5. / 9,
                                 17 + 2. / 12, 18 + 4. / 12, 19 + 6. / 12};
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 0x1p-6) << i;
  EXPECT_EQ(b.run(sums), (std::vector<double>{9, 12}));
}

TEST(RunPlain, GatherIsByFlatIndexOfTheViewAndStaysInside) {
  PlainBench b;
  const auto data = b.add(DType::kBF16, {4}, {10, 11, 12, 13});
  const auto index = b.add(DType::kI64, {4}, {0, 3, -5, 99}), y = b.add(DType::kBF16, {4});
  Region region;
  region.shape = {4};
  using V = Region::Value;
  region.values = {V{.op = Op::kInput, .dtype = DType::kI64, .access = b.whole(index)},
                   V{.op = Op::kGather,
                     .dtype = DType::kBF16,
                     .values = {0},
                     .access = {data, View::contiguous({4}).reverse(0)}}};
  region.stores = {{1, b.whole(y)}};
  b.kernel.work = region;
  EXPECT_EQ(b.run(y), (std::vector<double>{13, 10, 13, 10}));
}

TEST(RunPlain, MatmulByViewsThroughItsEpilogue) {
  PlainBench b;
  const auto a = b.add(DType::kBF16, {2, 2, 1}, {1, 2, 3, 4});
  const auto w = b.add(DType::kBF16, {3, 1}, {1, 10, 100});  // seen transposed, for both
  const auto plain = b.add(DType::kF32, {2, 2, 3}), plus = b.add(DType::kI32, {2, 2, 3});
  Matmul work{.a = b.whole(a), .b = {w, View{{2, 1, 3}, {0, 1, 1}, 0}}, .out = b.whole(plain)};
  b.kernel.work = work;
  const std::vector<double> product{1, 10, 100, 2, 20, 200, 3, 30, 300, 4, 40, 400};
  EXPECT_EQ(b.run(plain), product);
  using V = Region::Value;
  work.epilogue = Region{.shape = {2, 2, 3},
                         .values = {V{.op = Op::kInput}, V{.op = Op::kAdd, .values = {0, 0}},
                                    V{.op = Op::kCast, .dtype = DType::kI32, .values = {1}}},
                         .stores = {{2, b.whole(plus)}}};
  b.kernel.work = work;
  const auto twice = b.run(plus);
  for (std::size_t i = 0; i < twice.size(); ++i) EXPECT_EQ(twice[i], 2 * product[i]);
}

TEST(RunPlain, EveryRowHasItsExpert) {
  PlainBench b;
  const auto a = b.add(DType::kF32, {3, 2}, {1, 2, 3, 4, 5, 6});
  const auto w = b.add(DType::kF32, {2, 2, 1}, {1, 1, 10, 100});
  const auto expert = b.add(DType::kI32, {3}, {1, 0, 7}), y = b.add(DType::kF64, {3, 1});
  b.kernel.work = GroupedMatmul{b.whole(a), b.whole(w), b.whole(expert), b.whole(y)};
  EXPECT_EQ(b.run(y), (std::vector<double>{210, 7, 650}));
}

TEST(RunPlain, AttentionSeesWhatItMay) {
  PlainBench b;
  const auto q = b.add(DType::kF32, {3, 1}, {0, 0, 0}),
             k = b.add(DType::kF32, {4, 1}, {1, 2, 3, 4});
  const auto v = b.add(DType::kF32, {4, 1}, {1, 2, 4, 8}), y = b.add(DType::kF32, {3, 1});
  const auto mask = b.add(DType::kBool, {3, 4}, {1, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0});
  Attention work{.q = b.whole(q), .k = b.whole(k), .v = b.whole(v), .out = b.whole(y)};
  b.kernel.work = work;
  EXPECT_EQ(b.run(y), (std::vector<double>{3.75, 3.75, 3.75}));
  work.causal = true;
  work.offset = Dim::symbol("p");
  b.symbols["p"] = 1;
  b.kernel.work = work;
  EXPECT_EQ(b.run(y)[0], 1.5);
  EXPECT_EQ(b.run(y)[2], 3.75);
  work.window = 2;
  b.kernel.work = work;
  EXPECT_EQ(b.run(y), (std::vector<double>{1.5, 3, 6}));
  work.mask = b.whole(mask);
  b.kernel.work = work;
  const auto masked = b.run(y);
  EXPECT_EQ(masked[0], 1);
  EXPECT_TRUE(std::isnan(masked[2]));
}

TEST(RunPlain, ScatterLeavesOutWhatIsOutsideAndKeepsTheLast) {
  PlainBench b;
  const auto data = b.add(DType::kI32, {4}, {10, 11, 12, 13});
  const auto index = b.add(DType::kI64, {4}, {2, -1, 4, 2});
  const auto values = b.add(DType::kI32, {4}, {1, 2, 3, 4}), y = b.add(DType::kI32, {4});
  ScatterInto work{b.whole(data), b.whole(index), b.whole(values), b.whole(y)};
  b.kernel.work = work;
  EXPECT_EQ(b.run(y), (std::vector<double>{10, 11, 4, 13}));
  work.out = work.data;
  work.in_place = true;
  b.kernel.work = work;
  EXPECT_EQ(b.run(data), (std::vector<double>{10, 11, 4, 13}));
}

}  // namespace
}  // namespace assay::compiler
