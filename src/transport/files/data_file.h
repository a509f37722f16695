// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Named arrays with units and descriptions, and the three formats they are written in.

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace assay::transport {

struct Variable {
  std::string name;
  std::vector<std::string> dimensions;  // names, outermost first; empty: a scalar
  std::vector<double> values;           // row-major
  std::string unit;                     // "1" for a pure number
  std::string description;
};

struct DataFile {
  std::vector<std::pair<std::string, std::size_t>> dimensions;
  std::vector<Variable> variables;
  std::map<std::string, std::string> texts;  // attributes of the whole file
  std::map<std::string, double> numbers;     // likewise
  std::map<std::string, long long> integers;
};

// Throws UserError unless the name ends in .nc, .h5 or .npz and its folder can be written to, and
// EnvironmentError where this program has no such format: before anything is computed for it.
void check_data_path(const std::string& path);
// Throws EnvironmentError where this program has neither .nc nor .h5.
void check_netcdf_built(const std::string& path);

// Writes NetCDF-4 (.nc) or HDF5 (.h5) without compression, or npz (.npz) deflated, in which texts
// are arrays of bytes. The file appears whole or not at all. Throws UserError that names the path.
void write_data_file(const std::string& path, const DataFile& data);

// The bytes of such a file, one function for each format. They are made in memory: the libraries do
// not survive a disk that fills up under them, and cannot say what went wrong. `path` is for
// messages.
std::string netcdf_bytes(const std::string& path, const DataFile& data);
std::string hdf5_bytes(const std::string& path, const DataFile& data);
std::string npz_bytes(const std::string& path, const DataFile& data);

}  // namespace assay::transport
