// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/fill.h"

#include <algorithm>
#include <array>
#include <limits>

#include "tensor/internal/runs.h"

namespace assay {
namespace {

// Raw outputs are made in chunks: one block yields four, and the loops that turn a chunk into
// values are free of the generator, so the compiler vectorises them.
constexpr std::int64_t kChunk = 1024;
using Chunk = std::array<std::uint64_t, kChunk>;

void make_raw(const Philox& stream, std::uint64_t first, std::int64_t count, Chunk& chunk) {
  std::int64_t made = 0;
  while (made < count) {
    const std::uint64_t i = first + static_cast<std::uint64_t>(made);
    const Philox::Block block = stream.block(i / 4);
    const auto skip = static_cast<std::int64_t>(i % 4);
    const std::int64_t take = std::min(4 - skip, count - made);
    for (std::int64_t j = 0; j < take; ++j) {
      chunk[static_cast<std::size_t>(made + j)] = block[static_cast<std::size_t>(skip + j)];
    }
    made += take;
  }
}

// Sets every element to value_of(raw…) of its `kRawPerElement` raw outputs, row-major order.
template <typename T, int kRawPerElement, typename F>
void fill(const MutableTensorView& view, const Philox& stream, F value_of) {
  T* data = view.data<T>();
  Chunk chunk;
  std::uint64_t next = 0;
  for_each_run<1>(view.shape(), {view.strides()},
                  [&](const auto& offset, const auto& step, std::int64_t count) {
                    T* run = data + offset[0];
                    for (std::int64_t begin = 0; begin < count; begin += kChunk / kRawPerElement) {
                      const std::int64_t n = std::min(count - begin, kChunk / kRawPerElement);
                      make_raw(stream, next, n * kRawPerElement, chunk);
                      next += static_cast<std::uint64_t>(n * kRawPerElement);
                      for (std::int64_t j = 0; j < n; ++j) {
                        run[(begin + j) * step[0]] =
                            value_of(chunk.data() + j * std::int64_t{kRawPerElement});
                      }
                    }
                  });
}

}  // namespace

void fill_uniform(const MutableTensorView& view, const Philox& stream, double low, double high) {
  visit_dtype(view.dtype(), [&]<typename T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, std::complex<float>> ||
                  std::is_same_v<T, std::complex<double>>) {
      using Part = typename T::value_type;
      fill<T, 2>(view, stream, [=](const std::uint64_t* raw) {
        return T(static_cast<Part>(uniform(raw[0], low, high)),
                 static_cast<Part>(uniform(raw[1], low, high)));
      });
    } else if constexpr (std::is_integral_v<T>) {
      throw InternalError("fill_uniform is for floating-point and complex dtypes");
    } else {
      fill<T, 1>(view, stream,
                 [=](const std::uint64_t* raw) { return T(uniform(*raw, low, high)); });
    }
  });
}

void fill_below(const MutableTensorView& view, const Philox& stream, std::uint64_t bound) {
  check(bound > 0, "fill_below has a positive bound");
  visit_dtype(view.dtype(), [&]<typename T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      check(bound - 1 <= static_cast<std::uint64_t>(std::numeric_limits<T>::max()),
            "fill_below draws values that the dtype holds");
      fill<T, 1>(view, stream, [=](const std::uint64_t* raw) {
        return static_cast<T>(uniform_below(*raw, bound));
      });
    } else {
      throw InternalError("fill_below is for integer dtypes and bool");
    }
  });
}

}  // namespace assay
