// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/internal/staged_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "tensor/tensor.h"

namespace assay {

StagedFile::StagedFile(const std::string& path) : path_(path) {
  struct stat info {};
  const bool direct = ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  // Thread ids are unique on the machine, so no two writers share a temporary.
  if (!direct) temporary_ = fmt::format("{}.{}.tmp", path, ::gettid());
  fd_.reset(direct ? ::open(path.c_str(), O_WRONLY | O_CLOEXEC)
                   : ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd_) fail("cannot write '{}': {}", path_, errno_text(errno));
}

StagedFile::~StagedFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void StagedFile::write(std::string_view bytes) { write_fully(fd_.get(), bytes, path_); }

void StagedFile::write(const TensorView& view) {
  constexpr std::int64_t kPiece = 1 << 20;
  if (view.element_count() == 0) return;
  if (view.is_contiguous()) {
    write({static_cast<const char*>(view.raw_data()), static_cast<std::size_t>(view.byte_count())});
    return;
  }
  const std::int64_t rows = view.extent(0);  // not contiguous: there is an axis
  const std::int64_t row_bytes = view.byte_count() / rows;
  if (row_bytes > kPiece) {
    for (std::int64_t i = 0; i < rows; ++i) write(view.select(0, i));
    return;
  }
  const std::int64_t group = kPiece / row_bytes;
  for (std::int64_t i = 0; i < rows; i += group) {
    write(Tensor::copy(view.slice(0, i, std::min(rows, i + group))).view());
  }
}

void StagedFile::commit() {
  if (temporary_.empty()) return;
  if (::fsync(fd_.get()) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    fail("cannot write '{}': {}", path_, errno_text(errno));
  }
  temporary_.clear();
  const auto folder = std::filesystem::path(path_).parent_path().string();
  const UniqueFd dir(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC));
  if (dir) ::fsync(dir.get());  // the rename is complete either way; this survives power loss
}

}  // namespace assay
