// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <string>
#include <vector>

namespace assay::transport {

// NetCDF and HDF5 are not made for several threads: held while they are used.
using LibraryLock = std::unique_lock<std::recursive_mutex>;
LibraryLock lock_libraries();

// A NetCDF file opened for reading; other threads that read or write one wait meanwhile. Every
// function throws UserError that names file and variable.
class NetcdfReader {
 public:
  explicit NetcdfReader(const std::string& path);
  ~NetcdfReader();
  NetcdfReader(const NetcdfReader&) = delete;
  NetcdfReader& operator=(const NetcdfReader&) = delete;

  std::vector<std::string> names() const;  // of all variables
  bool has(const std::string& name) const;
  double number(const std::string& name) const;  // a scalar of any numeric type
  std::vector<double> vector(const std::string& name) const;
  std::vector<double> values(const std::string& name) const;  // of any rank, row-major

  // Rows × columns, row-major; the number of columns must be `columns`.
  struct Matrix {
    std::size_t rows = 0, columns = 0;
    std::vector<double> values;
    double at(std::size_t r, std::size_t c) const { return values[r * columns + c]; }
  };
  Matrix matrix(const std::string& name, std::size_t columns) const;

 private:
  std::vector<double> read(const std::string& name, std::vector<std::size_t>& shape) const;
  LibraryLock lock_;
  std::string path_;
  int id_ = -1;
};

}  // namespace assay::transport
