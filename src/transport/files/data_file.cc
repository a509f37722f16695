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

using Writer = void (*)(const std::string&, const DataFile&);

Writer writer_of(const std::string& path) {
  const auto extension = std::filesystem::path(path).extension().string();
  if (extension == ".nc") return write_netcdf;
  if (extension == ".h5") return write_hdf5;
  if (extension == ".npz") return write_npz;
  fail("the name of an output must end in .nc, .h5 or .npz, got '{}'", path);
}

std::string temporary_of(const std::string& path) {
  return fmt::format("{}.{}.partial", path, ::getpid());
}

}  // namespace

void check_data_path(const std::string& path) {
  writer_of(path);
  const auto temporary = temporary_of(path);
  const UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (!fd) fail("cannot write: {}: '{}'", errno_text(errno), path);
  std::remove(temporary.c_str());
}

void write_data_file(const std::string& path, const DataFile& data) {
  const auto write = writer_of(path);
  const auto temporary = temporary_of(path);
  try {
    write(temporary, data);
    const UniqueFd fd(::open(temporary.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd || ::fsync(fd.get()) != 0 || std::rename(temporary.c_str(), path.c_str()) != 0) {
      fail("cannot write: {}: '{}'", errno_text(errno), path);
    }
  } catch (...) {
    std::remove(temporary.c_str());
    throw;
  }
}

}  // namespace assay::transport
