// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/files/data_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"

namespace assay::transport {
namespace {

using Format = std::string (*)(const std::string& path, const DataFile&);

Format format_of(const std::string& path) {
  const auto extension = std::filesystem::path(path).extension().string();
  if (extension == ".nc") return netcdf_bytes;
  if (extension == ".h5") return hdf5_bytes;
  if (extension == ".npz") return npz_bytes;
  fail("the name of an output must end in .nc, .h5 or .npz, got '{}'", path);
}

}  // namespace

void check_data_path(const std::string& path) {
  if (format_of(path) != npz_bytes) check_netcdf_built(path);
  const auto temporary = fmt::format("{}.{}.partial", path, ::getpid());
  const UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (!fd) fail("cannot write: {}: '{}'", errno_text(errno), path);
  std::remove(temporary.c_str());
}

void write_data_file(const std::string& path, const DataFile& data) {
  write_file_atomically(path, format_of(path)(path, data));
}

}  // namespace assay::transport
