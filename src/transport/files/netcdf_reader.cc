// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/files/netcdf_reader.h"

#include <fcntl.h>
#include <netcdf.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "transport/files/netcdf_length.h"

namespace assay::transport {
namespace {

// HDF5 1.10 frees what it never had where some bytes of a file's directory are damaged. So a child
// opens each file first, and a child that dies is a file that cannot be read.
void check_survivable(const std::string& path) {
  static std::set<std::string> survived;  // as they were then
  const auto file =
      fmt::format("{} {} {}", std::filesystem::file_size(path),
                  std::filesystem::last_write_time(path).time_since_epoch().count(), path);
  if (survived.contains(file)) return;
  const auto child = ::fork();
  if (child < 0) fail("cannot start a process: {}", errno_text(errno));
  if (child == 0) {
    const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nothing, STDERR_FILENO);
    const rlimit no_core = {0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS}) ::signal(signal, SIG_DFL);
    int id = 0;
    if (nc_open(path.c_str(), NC_NOWRITE, &id) == NC_NOERR) nc_close(id);
    ::_exit(0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) fail("cannot read as NetCDF (the library breaks down on it): '{}'", path);
  survived.insert(file);
}

}  // namespace

LibraryLock lock_libraries() {
  static std::recursive_mutex mutex;
  return LibraryLock(mutex);
}

NetcdfReader::NetcdfReader(const std::string& path) : lock_(lock_libraries()), path_(path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    if (error) fail("cannot read '{}': {}", path, error.message());
    fail("no such file: '{}'", path);
  }
  check_netcdf_length(path);  // a regular file, or the library waits for whoever writes to a pipe
  check_survivable(path);
  const int status = nc_open(path.c_str(), NC_NOWRITE, &id_);
  if (status != NC_NOERR) {
    // HDF5 says of damage and of a missing end alike that something is wrong.
    fail("cannot read as NetCDF ({}{}): '{}'", nc_strerror(status),
         status == NC_EHDFERR ? "; is the file cut short?" : "", path);
  }
}

NetcdfReader::~NetcdfReader() { nc_close(id_); }

std::vector<std::string> NetcdfReader::names() const {
  int count = 0;
  if (nc_inq_nvars(id_, &count) != NC_NOERR) fail("cannot read as NetCDF: '{}'", path_);
  std::vector<std::string> names;
  for (int variable = 0; variable < count; ++variable) {
    char name[NC_MAX_NAME + 1] = {};
    if (nc_inq_varname(id_, variable, name) != NC_NOERR) {
      fail("cannot read as NetCDF: '{}'", path_);
    }
    names.emplace_back(name);
  }
  return names;
}

bool NetcdfReader::has(const std::string& name) const {
  int variable = 0;
  return nc_inq_varid(id_, name.c_str(), &variable) == NC_NOERR;
}

std::vector<double> NetcdfReader::read(const std::string& name,
                                       std::vector<std::size_t>& shape) const {
  const auto require = [&](int status) {
    if (status != NC_NOERR) fail("{}: {}: '{}'", path_, nc_strerror(status), name);
  };
  int variable = 0, rank = 0;
  if (!has(name)) fail("{}: missing variable '{}'", path_, name);
  require(nc_inq_varid(id_, name.c_str(), &variable));
  require(nc_inq_varndims(id_, variable, &rank));
  std::vector<int> dimensions(static_cast<std::size_t>(rank));
  require(nc_inq_vardimid(id_, variable, dimensions.data()));
  std::size_t count = 1;
  for (const int d : dimensions) {
    std::size_t length = 0;
    require(nc_inq_dimlen(id_, d, &length));
    shape.push_back(length);
    count *= length;
    if (count > (std::size_t{1} << 28)) fail("{}: variable is too large: '{}'", path_, name);
  }
  std::vector<double> values(count);
  require(nc_get_var_double(id_, variable, values.data()));
  return values;
}

double NetcdfReader::number(const std::string& name) const {
  std::vector<std::size_t> shape;
  const auto values = read(name, shape);
  if (values.size() != 1) fail("{}: expected one number, got {}: '{}'", path_, values.size(), name);
  return values[0];
}

std::vector<double> NetcdfReader::vector(const std::string& name) const {
  std::vector<std::size_t> shape;
  auto values = read(name, shape);
  if (shape.size() != 1)
    fail("{}: expected a vector, got rank {}: '{}'", path_, shape.size(), name);
  return values;
}

std::vector<double> NetcdfReader::values(const std::string& name) const {
  std::vector<std::size_t> shape;
  return read(name, shape);
}

NetcdfReader::Matrix NetcdfReader::matrix(const std::string& name, std::size_t columns) const {
  std::vector<std::size_t> shape;
  auto values = read(name, shape);
  if (shape.size() != 2 || shape[1] != columns) {
    fail("{}: expected a matrix with {} columns: '{}'", path_, columns, name);
  }
  return {shape[0], shape[1], std::move(values)};
}

}  // namespace assay::transport
