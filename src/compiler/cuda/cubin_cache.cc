// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/cubin_cache.h"

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"

namespace assay::compiler::cuda {

std::string CubinCache::path_of(std::string_view source, std::string_view toolchain) const {
  return folder_ + "/" + sha256_hex(std::string(toolchain) + "\n" + std::string(source)) + ".cubin";
}

std::optional<std::string> CubinCache::find(std::string_view source,
                                            std::string_view toolchain) const {
  if (folder_.empty()) return std::nullopt;
  const auto path = path_of(source, toolchain);
  constexpr std::size_t kChecksum = 64;  // hex digits
  try {
    if (!std::filesystem::is_regular_file(path)) return std::nullopt;
    auto text = read_file(path);
    if (text.size() <= kChecksum) return std::nullopt;
    auto cubin = text.substr(kChecksum);
    if (sha256_hex(cubin) != std::string_view(text).substr(0, kChecksum)) return std::nullopt;
    return cubin;
  } catch (const std::exception&) {  // gone, or not to be read: as if it had never been there
    return std::nullopt;
  }
}

void CubinCache::keep(std::string_view source, std::string_view toolchain,
                      std::string_view cubin) const {
  if (folder_.empty()) return;
  try {
    make_directories(folder_);
    write_file_atomically(path_of(source, toolchain), sha256_hex(cubin) + std::string(cubin));
  } catch (const std::exception&) {  // a full disk, or a folder of somebody else's
  }
}

}  // namespace assay::compiler::cuda
