// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <hdf5.h>

#include <algorithm>

#include "base/error.h"
#include "transport/files/data_file.h"
#include "transport/files/netcdf_reader.h"

namespace assay::transport {
namespace {

constexpr std::size_t kGrowth = 1 << 20;  // of the file in memory, in bytes

// Owns an HDF5 identifier of any kind.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t), const std::string& path) : id_(id), close_(close) {
    if (id < 0) fail("cannot write HDF5: '{}'", path);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { close_(id_); }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

void put_text(hid_t object, const std::string& name, const std::string& text,
              const std::string& path) {
  // Of variable length: h5py reads those as text, and the others may not exceed 64 KiB.
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, path);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose, path);
  const Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose, path);
  const char* const first = text.c_str();
  if (H5Awrite(attribute, type, &first) < 0) {
    fail("cannot write HDF5: '{}'", path);
  }
}

void put_number(hid_t object, const std::string& name, hid_t stored, hid_t given, const void* value,
                const std::string& path) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose, path);
  const Handle attribute(H5Acreate2(object, name.c_str(), stored, space, H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose, path);
  if (H5Awrite(attribute, given, value) < 0) fail("cannot write HDF5: '{}'", path);
}

}  // namespace

std::string hdf5_bytes(const std::string& path, const DataFile& data) {
  const auto lock = lock_libraries();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors come back as ours, not on stderr
  const Handle in_memory(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, path);
  if (H5Pset_fapl_core(in_memory, kGrowth, /*backing_store=*/false) < 0) {
    fail("cannot write HDF5: '{}'", path);
  }
  const Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, in_memory), H5Fclose, path);
  std::map<std::string, hsize_t> size;
  for (const auto& [name, length] : data.dimensions) size[name] = length;
  for (const auto& v : data.variables) {
    std::vector<hsize_t> shape;
    std::string dimensions;
    for (const auto& name : v.dimensions) {
      shape.push_back(size.at(name));
      dimensions += (dimensions.empty() ? "" : " ") + name;
    }
    const Handle space(
        shape.empty() ? H5Screate(H5S_SCALAR)
                      : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
        H5Sclose, path);
    const Handle set(H5Dcreate2(file, v.name.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT,
                                H5P_DEFAULT, H5P_DEFAULT),
                     H5Dclose, path);
    if (H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, v.values.data()) < 0) {
      fail("cannot write HDF5: '{}'", path);
    }
    put_text(set, "units", v.unit, path);
    put_text(set, "long_name", v.description, path);
    put_text(set, "dimensions", dimensions, path);
  }
  for (const auto& [name, text] : data.texts) put_text(file, name, text, path);
  for (const auto& [name, number] : data.numbers) {
    put_number(file, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &number, path);
  }
  for (const auto& [name, number] : data.integers) {
    put_number(file, name, H5T_STD_I64LE, H5T_NATIVE_LLONG, &number, path);
  }
  if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) fail("cannot write HDF5: '{}'", path);
  const ssize_t count = H5Fget_file_image(file, nullptr, 0);
  std::string bytes(static_cast<std::size_t>(std::max<ssize_t>(0, count)), '\0');
  if (count <= 0 || H5Fget_file_image(file, bytes.data(), bytes.size()) != count) {
    fail("cannot write HDF5: '{}'", path);
  }
  return bytes;
}

}  // namespace assay::transport
