# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
#
# Third-party libraries, all found, never fetched. `make deps` installs them on Debian.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED)
find_package(hwy REQUIRED)
if(NOT ASSAY_ENGINES_ONLY)
  find_package(CLI11 REQUIRED)
  find_package(SQLite3 REQUIRED)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
  pkg_check_modules(httplib REQUIRED IMPORTED_TARGET cpp-httplib)
  # The transport engine's files and ranks.
  find_package(ZLIB REQUIRED)
  pkg_check_modules(netcdf REQUIRED IMPORTED_TARGET netcdf)
  add_library(netCDF::netcdf ALIAS PkgConfig::netcdf)
  enable_language(C)  # FindHDF5 and FindMPI ask for C
  find_package(HDF5 REQUIRED COMPONENTS C)
  find_package(MPI REQUIRED COMPONENTS C)
else()
  # transport/files and transport/ranks are described, never built: their libraries are but names.
  foreach(library netCDF::netcdf hdf5::hdf5 ZLIB::ZLIB MPI::MPI_C)
    add_library(${library} INTERFACE IMPORTED)
  endforeach()
endif()
