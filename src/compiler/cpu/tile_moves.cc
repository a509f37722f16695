// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/tile_moves.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/error.h"
#include "compiler/cpu/tile_ops.h"
#include "kernels/tiles/transpose_kernels.h"

namespace assay::compiler {
namespace {

// f(T*) with an unsigned type of that many bytes.
template <typename F>
void visit_size(std::size_t size, F&& f) {
  switch (size) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    case 8:
      return f(std::uint64_t{});
    default:
      throw InternalError("an element has 1, 2, 4 or 8 bytes");
  }
}

template <typename T>
const T* as(const std::byte* data) {
  return reinterpret_cast<const T*>(data);
}
template <typename T>
T* as(std::byte* data) {
  return reinterpret_cast<T*>(data);
}

// In pieces, so that what is scattered is gathered first.
template <typename T>
void widen_as(DType dtype, const std::byte* from, std::int64_t stride, std::int64_t count, T* to) {
  constexpr std::int64_t kPiece = 256;
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  if (dtype == kDTypeOf<T>)
    return move_elements(sizeof(T), from, stride, reinterpret_cast<std::byte*>(to), 1, count);
  const TileOp cast = tile_ops().find(Op::kCast, dtype, kDTypeOf<T>, 0);
  if (stride == 1) {
    const void* in[3] = {from, nullptr, nullptr};
    return cast(in, to, count);
  }
  alignas(64) std::byte piece[kPiece * 8];
  for (std::int64_t i = 0; i < count; i += kPiece) {
    const std::int64_t part = std::min(kPiece, count - i);
    move_elements(size_of(dtype), from + i * stride * size, stride, piece, 1, part);
    const void* in[3] = {piece, nullptr, nullptr};
    cast(in, to + i, part);
  }
}

template <typename T, typename Index>
void gather_as(const T* from, const GatherSource& source, const Index* index, T* to,
               std::int64_t count) {
  const std::int64_t last = source.count - 1;
  const auto inside = [&](std::int64_t i) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(index[i]), 0, last);
  };
  if (!source.is_contiguous) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[element_of(source.view, inside(i))];
    return;
  }
  from += source.view.offset;
  // Rows of a table are runs of neighbours: those are copied as a whole.
  for (std::int64_t i = 0; i < count;) {
    const std::int64_t first = inside(i);
    std::int64_t end = i + 1;
    const std::int64_t room = std::min(count, i + last - first + 1);
    if (static_cast<std::int64_t>(index[i]) == first) {
      while (end < room && static_cast<std::int64_t>(index[end]) == first + (end - i)) ++end;
    }
    std::memcpy(to + i, from + first, static_cast<std::size_t>(end - i) * sizeof(T));
    i = end;
  }
}

}  // namespace

std::int64_t element_of(const FixedView& view, std::int64_t flat) {
  std::int64_t at = view.offset;
  for (std::size_t axis = view.shape.size(); axis-- > 1;) {
    at += flat % view.shape[axis] * view.strides[axis];
    flat /= view.shape[axis];
  }
  return view.shape.empty() ? at : at + flat * view.strides[0];
}

void widen_elements(DType dtype, const std::byte* from, std::int64_t stride, std::int64_t count,
                    float* to) {
  widen_as(dtype, from, stride, count, to);
}
void widen_elements(DType dtype, const std::byte* from, std::int64_t stride, std::int64_t count,
                    double* to) {
  widen_as(dtype, from, stride, count, to);
}

void move_elements(std::size_t size, const std::byte* from, std::int64_t from_stride, std::byte* to,
                   std::int64_t to_stride, std::int64_t count) {
  if (from_stride == 1 && to_stride == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * size);
    return;
  }
  visit_size(size, [&]<typename T>(T) {
    const T* x = as<T>(from);
    T* y = as<T>(to);
    if (to_stride == 1) {
      for (std::int64_t i = 0; i < count; ++i) y[i] = x[i * from_stride];
    } else {
      for (std::int64_t i = 0; i < count; ++i) y[i * to_stride] = x[i * from_stride];
    }
  });
}

// Lines of so many bytes: most are a few vectors long, and a call for each takes longer than they.
static void move_lines(const std::byte* from, std::int64_t step, std::size_t bytes,
                       std::int64_t lines, std::byte* to, std::int64_t to_step) {
  constexpr std::size_t kPiece = 32;
  const bool is_short = bytes % kPiece == 0 && bytes <= 16 * kPiece;
  for (std::int64_t i = 0; i < lines; ++i, from += step, to += to_step) {
    if (!is_short) {
      std::memcpy(to, from, bytes);
      continue;
    }
    for (std::size_t at = 0; at < bytes; at += kPiece) std::memcpy(to + at, from + at, kPiece);
  }
}

void move_grid(std::size_t size, const std::byte* from, const Grid& grid, std::byte* to) {
  const auto bytes = static_cast<std::int64_t>(size);
  if (grid.column_stride == 1)
    return move_lines(from, grid.row_stride * bytes, static_cast<std::size_t>(grid.columns) * size,
                      grid.rows, to, grid.to_stride * bytes);
  visit_size(size, [&]<typename T>(T) {
    const T* x = as<T>(from);
    T* y = as<T>(to);
    if constexpr (sizeof(T) >= 4) {
      if (grid.row_stride == 1) {
        // Bits that are moved: nobody looks at what number they are.
        using Moved = std::conditional_t<sizeof(T) == 4, float, double>;
        return kernels::transpose_kernel(Moved())(
            1, grid.rows, grid.columns, {reinterpret_cast<const Moved*>(x), grid.column_stride, 0},
            {reinterpret_cast<Moved*>(y), grid.to_stride, 0});
      }
    }
    // Columns in groups, so that what a line of memory holds is used before it is gone.
    constexpr std::int64_t kGroup = 8;
    for (std::int64_t c0 = 0; c0 < grid.columns; c0 += kGroup) {
      const std::int64_t end = std::min(grid.columns, c0 + kGroup);
      for (std::int64_t r = 0; r < grid.rows; ++r) {
        const T* row = x + r * grid.row_stride;
        T* own = y + r * grid.to_stride;
        for (std::int64_t c = c0; c < end; ++c) own[c] = row[c * grid.column_stride];
      }
    }
  });
}

void move_box(std::size_t size, const std::byte* from, std::int64_t extent,
              std::span<const MoveAxis> axes, std::byte* to) {
  const auto stride = axes.front().stride;
  const auto rest = axes.subspan(1);
  if (rest.empty()) {
    if (stride == 0) return fill_elements(size, from, to, extent);
    return move_elements(size, from, stride, to, 1, extent);
  }
  if (rest.size() == 1 && stride != 0 && rest[0].stride != 0)
    return move_grid(size, from, {extent, rest[0].extent, stride, rest[0].stride, rest[0].extent},
                     to);
  auto block = size;
  for (const auto& axis : rest) block *= static_cast<std::size_t>(axis.extent);
  const auto blocks = static_cast<std::size_t>(extent);
  if (stride == 0) {
    if (blocks > 0) move_box(size, from, rest[0].extent, rest, to);
    for (std::size_t made = 1; made < blocks; made *= 2)
      std::memcpy(to + made * block, to, std::min(made, blocks - made) * block);
    return;
  }
  const auto step = stride * static_cast<std::int64_t>(size);
  for (std::size_t i = 0; i < blocks; ++i, from += step, to += block)
    move_box(size, from, rest[0].extent, rest, to);
}

void fill_elements(std::size_t size, const std::byte* from, std::byte* to, std::int64_t count) {
  visit_size(size, [&]<typename T>(T) { std::fill_n(as<T>(to), count, *as<T>(from)); });
}

void spread_elements(std::size_t size, const std::byte* from, std::byte* to, std::int64_t rows,
                     std::int64_t columns) {
  visit_size(size, [&]<typename T>(T) {
    const T* x = as<T>(from);
    T* y = as<T>(to);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) y[r * columns + c] = x[r];
    }
  });
}

void number_elements(DType dtype, std::int64_t first, std::int64_t step, std::byte* to,
                     std::int64_t count) {
  if (dtype == DType::kI32) {
    auto* y = as<std::int32_t>(to);
    auto value = static_cast<std::uint32_t>(first);
    for (std::int64_t i = 0; i < count; ++i, value += static_cast<std::uint32_t>(step))
      y[i] = static_cast<std::int32_t>(value);
  } else {
    auto* y = as<std::int64_t>(to);
    for (std::int64_t i = 0; i < count; ++i) y[i] = first + i * step;
  }
}

void gather_elements(std::size_t size, const std::byte* data, const GatherSource& source,
                     DType index_dtype, const std::byte* index, std::byte* to, std::int64_t count) {
  visit_size(size, [&]<typename T>(T) {
    if (index_dtype == DType::kI32)
      gather_as(as<T>(data), source, as<std::int32_t>(index), as<T>(to), count);
    else
      gather_as(as<T>(data), source, as<std::int64_t>(index), as<T>(to), count);
  });
}

void gather_line(std::size_t size, const std::byte* data, const GatherSource& source,
                 std::int64_t first, std::int64_t step, std::byte* to, std::int64_t count) {
  const auto bytes = static_cast<std::int64_t>(size);
  const auto& view = source.view;
  const auto at = [&](std::int64_t flat) {
    return data + element_of(view, std::clamp<std::int64_t>(flat, 0, source.count - 1)) * bytes;
  };
  if (step != 1) {
    for (std::int64_t i = 0; i < count; ++i)
      std::memcpy(to + i * bytes, at(first + i * step), size);
    return;
  }
  // What lies before the first element, what is there, what lies behind the last.
  const auto begin = std::clamp<std::int64_t>(-first, 0, count);
  const auto end = std::clamp<std::int64_t>(source.count - first, begin, count);
  if (begin > 0) fill_elements(size, at(0), to, begin);
  if (end < count) fill_elements(size, at(source.count - 1), to + end * bytes, count - end);
  if (begin == end) return;
  const auto rank = view.shape.size();
  const auto row = rank == 0 ? 1 : view.shape.back(), stride = rank == 0 ? 1 : view.strides.back();
  // Row by row; of two axes the next row is found without a division.
  std::int64_t column = rank < 2 ? first + begin : (first + begin) % row;
  const std::byte* from = at(first + begin);
  for (std::int64_t i = begin; i < end; column = 0) {
    const auto some = std::min(end - i, row - column);
    move_elements(size, from, stride, to + i * bytes, 1, some);
    i += some;
    if (i == end) return;
    from = rank == 2 ? from + (view.strides[0] - column * stride) * bytes : at(first + i);
  }
}

}  // namespace assay::compiler
