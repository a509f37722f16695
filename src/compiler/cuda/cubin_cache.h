// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compiled kernels on disk, a file each. A file is written beside its place and renamed, so that
// two writers leave one whole file; it begins with a checksum, so that a torn or changed one is
// found, and compiled again.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace assay::compiler::cuda {

class CubinCache {
 public:
  // In that folder, which is made when something is kept. Empty: nothing is kept.
  explicit CubinCache(std::string folder) : folder_(std::move(folder)) {}

  // `toolchain`: what else the code depends on ("nvrtc 13.0, sm_90a, …").
  std::optional<std::string> find(std::string_view source, std::string_view toolchain) const;
  // What cannot be written is not kept, which is no error: the next process compiles it again.
  void keep(std::string_view source, std::string_view toolchain, std::string_view cubin) const;

 private:
  std::string path_of(std::string_view source, std::string_view toolchain) const;
  std::string folder_;
};

}  // namespace assay::compiler::cuda
