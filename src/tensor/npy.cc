// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/npy.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "tensor/internal/npy_header.h"
#include "tensor/internal/staged_file.h"
#include "tensor/internal/stored_elements.h"

namespace assay {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie");

constexpr std::string_view kMagic = "\x93NUMPY";
// Headers of plain dtypes have some hundred bytes; a larger one is not worth parsing.
constexpr std::size_t kMaxNpyHeader = 1 << 16;
// NumPy starts the elements at a multiple of 64, so that they can be mapped aligned.
constexpr std::size_t kDataAlignment = 64;

struct Layout {
  std::string_view header;
  std::size_t data_offset;
};

Layout split(std::string_view file, const std::string& path) {
  if (!file.starts_with(kMagic)) fail("not a .npy file: '{}'", path);
  if (file.size() < 10) fail("{}: .npy file cut off in its header", path);
  const int version = static_cast<unsigned char>(file[6]);
  const int minor = static_cast<unsigned char>(file[7]);
  if (version < 1 || version > 3 || minor != 0) {
    fail("{}: .npy format version is not 1.0, 2.0 or 3.0: {}.{}", path, version, minor);
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t begin = 8 + length_bytes;
  if (file.size() < begin) fail("{}: .npy file cut off in its header", path);
  std::uint32_t length = 0;
  std::memcpy(&length, file.data() + 8, length_bytes);
  if (length > kMaxNpyHeader) fail("{}: .npy header too long: {} bytes", path, length);
  if (length > file.size() - begin) fail("{}: .npy file cut off in its header", path);
  return {file.substr(begin, length), begin + length};
}

// Reverses the bytes of every number; a complex element is two numbers.
void swap_bytes(std::span<std::byte> bytes, DType dtype) {
  const std::size_t width = size_of(dtype) / (is_complex(dtype) ? 2 : 1);
  for (std::size_t i = 0; i < bytes.size(); i += width) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + width));
  }
}

}  // namespace

NpyFile::NpyFile(const std::string& path) : file_(path) {
  const auto [text, offset] = split(file_.text(), path);
  const NpyHeader header = parse_npy_header(text, path);
  const auto bytes = file_.bytes().subspan(offset);
  const std::uint64_t expected =
      static_cast<std::uint64_t>(header.shape.element_count()) * size_of(header.dtype);
  if (bytes.size() != expected) {
    fail("{}: .npy elements of shape {} and dtype {} take {} bytes, the file has {}", path,
         header.shape.to_string(), name_of(header.dtype), expected, bytes.size());
  }
  auto strides =
      header.fortran_order ? column_major_strides(header.shape) : row_major_strides(header.shape);
  // In place: a copy beside the mapping would take the memory twice.
  if (header.big_endian) swap_bytes(file_.own_bytes().subspan(offset), header.dtype);
  view_.emplace(
      view_stored_elements(bytes, header.dtype, header.shape, std::move(strides), copies_, path));
}

Tensor read_npy(const std::string& path) { return Tensor::copy(NpyFile(path).view()); }

void write_npy(const std::string& path, const TensorView& view, const NpyOptions& options) {
  check(options.version >= 1 && options.version <= 3, "a .npy version is 1, 2 or 3");
  const std::string dictionary =
      format_npy_header({view.dtype(), false, options.fortran_order, view.shape()}, path);
  const std::size_t length_bytes = options.version == 1 ? 2 : 4;
  const std::size_t prefix = 8 + length_bytes;
  const std::size_t used = prefix + dictionary.size() + 1;  // the header ends in a newline
  const std::size_t padding = (kDataAlignment - used % kDataAlignment) % kDataAlignment;
  const auto length = static_cast<std::uint32_t>(dictionary.size() + padding + 1);
  std::string head(kMagic);
  head += static_cast<char>(options.version);
  head += '\0';
  head.append(reinterpret_cast<const char*>(&length), length_bytes);
  head += dictionary;
  head.append(padding, ' ');
  head += '\n';

  StagedFile file(path);
  file.write(head);
  if (options.fortran_order) {
    std::vector<std::size_t> reversed(view.rank());
    for (std::size_t axis = 0; axis < view.rank(); ++axis) reversed[axis] = view.rank() - 1 - axis;
    file.write(view.permute(reversed));
  } else {
    file.write(view);
  }
  file.commit();
}

}  // namespace assay
