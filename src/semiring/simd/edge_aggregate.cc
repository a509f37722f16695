// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/simd/edge_aggregate.h"

#include <algorithm>

#include "kernels/memory/scratch.h"
#include "kernels/threads/crew.h"
#include "kernels/tiles/pack_kernels.h"
#include "kernels/tiles/tile_kernels.h"
#include "semiring/simd/edge_lists.h"

namespace assay::semiring::simd {
namespace {

// W as the right factor of rows: element (f, o) at [f·stride + o], columns padded to whole vectors.
template <typename T>
class Weights {
 public:
  explicit Weights(const TensorView& w)
      : tiles_(kernels::real_tiles(T{})),
        features_(w.extent(1)),
        outputs_(w.extent(0)),
        stride_((outputs_ + tiles_.lanes - 1) / tiles_.lanes * tiles_.lanes),
        transposed_(std::max<std::int64_t>(1, features_ * stride_)) {
    const T* from = w.data<T>();
    for (std::int64_t f = 0; f < features_; ++f) {
      for (std::int64_t o = 0; o < stride_; ++o) {
        transposed_[f * stride_ + o] =
            o < outputs_ ? from[o * w.stride(0) + f * w.stride(1)] : T{0};
      }
    }
  }

  std::int64_t features() const { return features_; }
  std::int64_t outputs() const { return outputs_; }
  // Elements of a row of y: outputs, rounded up to whole vectors.
  std::int64_t stride() const { return stride_; }
  // Rows that times() takes are a multiple of this.
  int row_step() const { return tiles_.row_step; }
  T at(std::int64_t output, std::int64_t feature) const {
    return transposed_[feature * stride_ + output];
  }
  bool is_finite() const {
    return kernels::pack_kernels(T{}).flags(transposed_.data(), features_ * stride_) == 0;
  }

  // y_r = W x_r for `rows` rows, in place: x where it lies, y of stride() elements a row.
  void times(const T* x, std::int64_t x_stride, std::int64_t rows, T* y,
             std::int64_t y_stride) const noexcept {
    for (std::int64_t o = 0; o < stride_; o += tiles_.columns()) {
      const std::int64_t columns = std::min<std::int64_t>(tiles_.columns(), stride_ - o);
      const auto vector = static_cast<std::size_t>(columns / tiles_.lanes - 1);
      for (std::int64_t r = 0; r < rows; r += tiles_.rows) {
        const std::int64_t count = std::min<std::int64_t>(tiles_.rows, rows - r);
        const auto step = static_cast<std::size_t>(count / tiles_.row_step - 1);
        tiles_.direct[step][vector](features_, x + r * x_stride, x_stride, transposed_.data() + o,
                                    stride_, y + r * y_stride + o, y_stride);
      }
    }
  }

 private:
  const kernels::TileKernels<T>& tiles_;
  std::int64_t features_, outputs_, stride_;
  kernels::AlignedArray<T> transposed_;
};

// Blocks of rows of this many are multiplied at once: a multiple of every tile's rows.
constexpr std::int64_t kBlockRows = 240;

// y = W x for all sources, rows of weights.stride() elements.
template <typename T>
kernels::AlignedArray<T> transform_all(const Weights<T>& w, const TensorView& x, int threads) {
  const std::int64_t sources = x.extent(0), step = w.row_step();
  const std::int64_t whole = sources / step * step;
  kernels::AlignedArray<T> y((whole + step) * w.stride());
  const T* rows = x.data<T>();
  const std::int64_t blocks = (whole + kBlockRows - 1) / kBlockRows;
  kernels::share_items(threads, blocks, [&](std::int64_t block) noexcept {
    const std::int64_t first = block * kBlockRows;
    w.times(rows + first * x.stride(0), x.stride(0), std::min(kBlockRows, whole - first),
            y.data() + first * w.stride(), w.stride());
  });
  if (whole < sources) {  // the last few rows, completed by the last one
    kernels::AlignedArray<T> rest(std::max<std::int64_t>(1, step * w.features()));
    for (std::int64_t r = 0; r < step; ++r) {
      const T* row = rows + std::min(whole + r, sources - 1) * x.stride(0);
      std::copy_n(row, w.features(), rest.data() + r * w.features());
    }
    w.times(rest.data(), w.features(), step, y.data() + whole * w.stride(), w.stride());
  }
  return y;
}

template <typename T>
bool weights_first(EdgeReduce reduce, const Slots<T>& slots, const Weights<T>& w,
                   const TensorView& x, const MutableTensorView& out, int threads) {
  const kernels::AlignedArray<T> y = transform_all(w, x, threads);
  const FeatureRows<T> rows{y.data(), w.stride(), w.outputs()};
  const auto& kernels = ell_kernels(T{});
  const auto run = reduce == EdgeReduce::kSum ? kernels.real : kernels.max_times;
  T* target = out.data<T>();
  return for_each_block<T>(slots, x.extent(0), threads,
                           [&](const EdgeBlock<T>& edges, std::int64_t first, int) noexcept {
                             run(edges, rows, target + first * out.stride(0), out.stride(0));
                           });
}

// One row in the order of the definition: W x for each edge, then the sum.
template <typename T>
void row_by_definition(const EdgeBlock<T>& edges, std::int32_t begin, std::int32_t end,
                       const Weights<T>& w, const T* x, std::int64_t x_stride, T* out) noexcept {
  for (std::int64_t o = 0; o < w.outputs(); ++o) {
    T sum = 0;
    for (std::int32_t e = begin; e < end; ++e) {
      T product = 0;
      for (std::int64_t f = 0; f < w.features(); ++f) {
        product += w.at(o, f) * x[edges.sources[e] * x_stride + f];
      }
      sum += edges.weights[e] * product;
    }
    out[o] = sum;
  }
}

template <typename T>
bool sum_first(const Slots<T>& slots, const Weights<T>& w, const TensorView& x,
               const MutableTensorView& out, int threads) {
  const auto& kernels = ell_kernels(T{});
  const auto& pack = kernels::pack_kernels(T{});
  const FeatureRows<T> rows{x.data<T>(), x.stride(0), w.features()};
  const std::int64_t most = slots.rows_at_once();
  // For each worker the sums of a block of rows, and their products where they cannot be written
  // straight to the output.
  const std::int64_t sums_size = most * w.features(), room = sums_size + most * w.stride();
  const kernels::AlignedArray<T> scratch(room * threads);
  T* target = out.data<T>();
  return for_each_block<T>(
      slots, x.extent(0), threads,
      [&](const EdgeBlock<T>& edges, std::int64_t first, int worker) noexcept {
        T* sums = scratch.data() + worker * room;
        kernels.real(edges, rows, sums, w.features());
        const std::int64_t step = w.row_step(), count = edges.rows;
        const std::int64_t padded = (count + step - 1) / step * step;
        for (std::int64_t r = count; r < padded; ++r) {
          std::fill_n(sums + r * w.features(), w.features(), T{0});
        }
        T* to = target + first * out.stride(0);
        if (padded == count && w.stride() == w.outputs()) {
          w.times(sums, w.features(), count, to, out.stride(0));
        } else {
          T* products = sums + sums_size;
          w.times(sums, w.features(), padded, products, w.stride());
          for (std::int64_t r = 0; r < count; ++r) {
            std::copy_n(products + r * w.stride(), w.outputs(), to + r * out.stride(0));
          }
        }
        if (pack.flags(sums, count * w.features()) == 0) return;
        for (int r = 0; r < edges.rows; ++r) {
          if (pack.flags(sums + r * w.features(), w.features()) == 0) continue;
          row_by_definition(edges, r == 0 ? 0 : edges.row_ends[r - 1], edges.row_ends[r], w,
                            rows.data, rows.stride, to + r * out.stride(0));
        }
      });
}

}  // namespace

template <typename T>
bool aggregate_edges(EdgeReduce reduce, const TensorView& v, const TensorView& idx,
                     const TensorView& x, const TensorView& w, const MutableTensorView& out,
                     int threads) {
  const Slots<T> slots(v, idx);
  const Weights<T> weights(w);
  if (reduce == EdgeReduce::kSum && weights.features() <= weights.outputs() &&
      weights.is_finite()) {
    return sum_first(slots, weights, x, out, threads);
  }
  return weights_first(reduce, slots, weights, x, out, threads);
}

template bool aggregate_edges<float>(EdgeReduce, const TensorView&, const TensorView&,
                                     const TensorView&, const TensorView&, const MutableTensorView&,
                                     int);
template bool aggregate_edges<double>(EdgeReduce, const TensorView&, const TensorView&,
                                      const TensorView&, const TensorView&,
                                      const MutableTensorView&, int);

}  // namespace assay::semiring::simd
