// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// In place of netcdf_reader.cc, write_netcdf.cc and write_hdf5.cc in a program without those
// libraries.
#include "base/error.h"
#include "transport/files/data_file.h"
#include "transport/files/netcdf_reader.h"

namespace assay::transport {
namespace {

[[noreturn]] void refuse(const std::string& path) {
  throw EnvironmentError(fmt::format(
      "this program was built without NetCDF and HDF5 ('make build' has them): '{}'", path));
}

}  // namespace

void check_netcdf_built(const std::string& path) { refuse(path); }
std::string netcdf_bytes(const std::string& path, const DataFile&) { refuse(path); }
std::string hdf5_bytes(const std::string& path, const DataFile&) { refuse(path); }

NetcdfReader::NetcdfReader(const std::string& path) { refuse(path); }
NetcdfReader::~NetcdfReader() = default;
std::vector<std::string> NetcdfReader::names() const { refuse(path_); }
bool NetcdfReader::has(const std::string&) const { refuse(path_); }
double NetcdfReader::number(const std::string&) const { refuse(path_); }
std::vector<double> NetcdfReader::vector(const std::string&) const { refuse(path_); }
std::vector<double> NetcdfReader::values(const std::string&) const { refuse(path_); }
NetcdfReader::Matrix NetcdfReader::matrix(const std::string&, std::size_t) const { refuse(path_); }

}  // namespace assay::transport
