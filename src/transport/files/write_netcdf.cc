// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>
#include <netcdf_mem.h>

#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "transport/files/data_file.h"
#include "transport/files/netcdf_reader.h"

namespace assay::transport {

void check_netcdf_built(const std::string&) {}

std::string netcdf_bytes(const std::string& path, const DataFile& data) {
  const auto lock = lock_libraries();
  const auto require = [&](int status) {
    if (status != NC_NOERR) fail("cannot write NetCDF ({}): '{}'", nc_strerror(status), path);
  };
  int id = 0;
  require(nc_create_mem(path.c_str(), NC_NETCDF4 | NC_CLOBBER, 0, &id));
  struct Close {
    int id;
    ~Close() {
      if (id >= 0) nc_close(id);
    }
  } close{id};

  std::map<std::string, int> dimension;
  for (const auto& [name, size] : data.dimensions) {
    require(nc_def_dim(id, name.c_str(), size, &dimension[name]));
  }
  std::vector<int> variables;
  for (const auto& v : data.variables) {
    std::vector<int> dimensions;
    for (const auto& name : v.dimensions) dimensions.push_back(dimension.at(name));
    int variable = 0;
    require(nc_def_var(id, v.name.c_str(), NC_DOUBLE, static_cast<int>(dimensions.size()),
                       dimensions.data(), &variable));
    require(nc_put_att_text(id, variable, "units", v.unit.size(), v.unit.data()));
    require(nc_put_att_text(id, variable, "long_name", v.description.size(), v.description.data()));
    variables.push_back(variable);
  }
  // HDF5 underneath keeps at most 64 KiB in an attribute, but any length of a string.
  constexpr std::size_t kMostCharacters = 60'000;
  for (const auto& [name, text] : data.texts) {
    const char* whole = text.c_str();
    require(text.size() <= kMostCharacters
                ? nc_put_att_text(id, NC_GLOBAL, name.c_str(), text.size(), text.data())
                : nc_put_att_string(id, NC_GLOBAL, name.c_str(), 1, &whole));
  }
  for (const auto& [name, number] : data.numbers) {
    require(nc_put_att_double(id, NC_GLOBAL, name.c_str(), NC_DOUBLE, 1, &number));
  }
  for (const auto& [name, number] : data.integers) {
    require(nc_put_att_longlong(id, NC_GLOBAL, name.c_str(), NC_INT64, 1, &number));
  }
  require(nc_enddef(id));
  for (std::size_t i = 0; i < variables.size(); ++i) {
    require(nc_put_var_double(id, variables[i], data.variables[i].values.data()));
  }
  close.id = -1;
  NC_memio image = {};
  require(nc_close_memio(id, &image));
  const std::unique_ptr<void, decltype(&std::free)> owned(image.memory, &std::free);
  return {static_cast<const char*>(image.memory), image.size};
}

}  // namespace assay::transport
