// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/file.h"
#include "tensor/view.h"

namespace assay {

// A file written piece by piece that appears under its name only when it is complete: the pieces go
// to a temporary beside it, which commit() syncs and renames. Without commit() (an exception, a
// full disk) the temporary is removed and what stood under the name stays. A crash may leave the
// temporary, `<path>.<thread id>.tmp`. If the path is there and not a regular file (/dev/stdout,
// a pipe), the pieces go straight to it. Every failure is a UserError that names the path.
class StagedFile {
 public:
  explicit StagedFile(const std::string& path);
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;
  ~StagedFile();

  void write(std::string_view bytes);
  // The elements of any view, row-major, as they lie in memory. Copies at most 1 MiB at a time.
  void write(const TensorView& view);
  void commit();

 private:
  std::string path_;
  std::string temporary_;  // empty: straight to the path, or committed
  UniqueFd fd_;
};

}  // namespace assay
