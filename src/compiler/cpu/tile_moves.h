// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Elements moved about, by their bytes: 1, 2, 4 or 8.

#include <cstddef>
#include <cstdint>
#include <span>

#include "compiler/graph/view.h"
#include "tensor/dtype.h"

namespace assay::compiler {

// to[i · to_stride] = from[i · from_stride] for i < count, in elements.
void move_elements(std::size_t size, const std::byte* from, std::int64_t from_stride, std::byte* to,
                   std::int64_t to_stride, std::int64_t count);
// Where element `flat` of a view is, in row-major order; it is one of the view's.
std::int64_t element_of(const FixedView& view, std::int64_t flat);
// to[i] = from[i · stride], elements of a floating-point dtype as f32 or f64.
void widen_elements(DType dtype, const std::byte* from, std::int64_t stride, std::int64_t count,
                    float* to);
void widen_elements(DType dtype, const std::byte* from, std::int64_t stride, std::int64_t count,
                    double* to);
// to[r · to_stride + c] = from[r · row_stride + c · column_stride]
struct Grid {
  std::int64_t rows, columns, row_stride, column_stride, to_stride;
};
void move_grid(std::size_t size, const std::byte* from, const Grid& grid, std::byte* to);
// An axis of what is moved: `extent` elements, or blocks of them, `stride` elements apart.
struct MoveAxis {
  std::int64_t extent = 1, stride = 0;
};
// All elements of the axes, the last the fastest, one after the other; of the first axis `extent`,
// whatever it says. What repeats is read once.
void move_box(std::size_t size, const std::byte* from, std::int64_t extent,
              std::span<const MoveAxis> axes, std::byte* to);
// to[i] = *from for i < count.
void fill_elements(std::size_t size, const std::byte* from, std::byte* to, std::int64_t count);
// to[r · columns + c] = from[r]
void spread_elements(std::size_t size, const std::byte* from, std::byte* to, std::int64_t rows,
                     std::int64_t columns);
// to[i] = first + i · step, as i32 or i64.
void number_elements(DType dtype, std::int64_t first, std::int64_t step, std::byte* to,
                     std::int64_t count);

// What is gathered from: elements by a view, in row-major order.
struct GatherSource {
  FixedView view;
  std::int64_t count = 0;  // at least 1
  bool is_contiguous = true;
};
// to[i] = data[index[i]] by the source's view, an index outside as the nearest inside; indices are
// i32 or i64.
void gather_elements(std::size_t size, const std::byte* data, const GatherSource& source,
                     DType index_dtype, const std::byte* index, std::byte* to, std::int64_t count);

// The same of indices first, first + step, ….
void gather_line(std::size_t size, const std::byte* data, const GatherSource& source,
                 std::int64_t first, std::int64_t step, std::byte* to, std::int64_t count);

}  // namespace assay::compiler
