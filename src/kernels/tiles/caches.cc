// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/tiles/caches.h"

#include <fstream>
#include <string>

namespace assay::kernels {
namespace {

// "48K", "2M", or bytes; 0 for anything else.
std::int64_t parse_size(const std::string& text) {
  std::int64_t size = 0;
  std::size_t at = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && size < (1 << 30); ++at) {
    size = 10 * size + (text[at] - '0');
  }
  if (at == text.size()) return size;
  return text[at] == 'K' ? size << 10 : text[at] == 'M' ? size << 20 : 0;
}

std::string first_word(const std::string& path) {
  std::string word;
  std::ifstream(path) >> word;
  return word;
}

}  // namespace

CacheSizes read_cache_sizes() {
  CacheSizes sizes;
  for (int index = 0; index < 8; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const std::string level = first_word(folder + "level"), type = first_word(folder + "type");
    const std::int64_t size = parse_size(first_word(folder + "size"));
    if (size <= 0 || type == "Instruction") continue;
    if (level == "1") sizes.l1 = size;
    if (level == "2") sizes.l2 = size;
    if (level == "3") sizes.last = size;
  }
  return sizes;
}

}  // namespace assay::kernels
