// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/inputs.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "lab/record/case.h"
#include "tensor/convert.h"
#include "tensor/fill.h"
#include "tensor/npy.h"
#include "tensor/tensor.h"

namespace assay::cases::own {
namespace {

// Values made in one dtype go through a row-major block into the tensor's own, rounded once.
template <typename T, typename Value>
void fill_by(const MutableTensorView& into, const Value& value) {
  const std::int64_t count = into.element_count();
  const auto flat = into.reshape(Shape({count}));
  check(flat.has_value(), "a workload's tensors are contiguous");
  constexpr std::int64_t kBlock = 1 << 12;
  std::vector<T> block(static_cast<std::size_t>(std::min(count, kBlock)));
  for (std::int64_t begin = 0; begin < count; begin += kBlock) {
    const std::int64_t end = std::min(count, begin + kBlock);
    for (std::int64_t i = begin; i < end; ++i) {
      block[static_cast<std::size_t>(i - begin)] = value(static_cast<std::uint64_t>(i));
    }
    convert_into(TensorView(kDTypeOf<T>, block.data(), Shape({end - begin})),
                 flat->slice(0, begin, end));
  }
}

double sum_of_twelve(const Philox& stream, std::uint64_t i) {
  std::uint64_t sum = 0;
  for (std::uint64_t j = 6 * i; j < 6 * i + 6; ++j) {
    const std::uint64_t x = stream[j];
    sum += (x & 0xFFFFFFFF) + (x >> 32);
  }
  return (static_cast<double>(sum) - 6.0 * 4294967295.0) * 0x1p-32;
}

void fill_permutation(const Philox& stream, const MutableTensorView& into) {
  const auto count = static_cast<std::size_t>(into.element_count());
  std::vector<std::uint64_t> drawn(count);
  for (std::size_t i = 0; i < count; ++i) drawn[i] = stream[i];
  std::vector<std::int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {},
                           [&](std::int64_t i) { return drawn[static_cast<std::size_t>(i)]; });
  convert_into(TensorView(DType::kI64, order.data(), into.shape()), into);
}

}  // namespace

void fill_input(const InputSpec& input, const Json& point, int set, const MutableTensorView& into) {
  const auto stream = lab::input_stream(lab::point_int(point, "seed"), input.stream(), set);
  switch (input.fill) {
    case Fill::kUniform:
      return fill_uniform(into, stream, input.low, input.high);
    case Fill::kNormal:
      return fill_by<double>(into, [&](std::uint64_t i) {
        const double scaled = input.deviation * sum_of_twelve(stream, i);
        return scaled + input.mean;
      });
    case Fill::kBelow:
      return fill_below(into, stream, static_cast<std::uint64_t>(input.below.integer(point)));
    case Fill::kPermutation:
      return fill_permutation(stream, into);
    case Fill::kConstant:
      return fill_by<double>(into, [&](std::uint64_t) { return input.constant; });
    case Fill::kFile: {
      const NpyFile file(input.file);
      if (file.view().shape() != into.shape()) {
        fail("'{}' holds {}, not {}", input.file, file.view().shape().to_string(),
             into.shape().to_string());
      }
      return convert_into(file.view(), into);
    }
  }
}

}  // namespace assay::cases::own
