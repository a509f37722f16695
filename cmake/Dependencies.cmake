# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
#
# Third-party libraries, all found, never fetched. `make deps` installs on Debian what the main path
# needs, `make build` the rest. What is optional and not found is left out, and named.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED)
find_package(hwy REQUIRED)
set(ASSAY_HAS_TRANSPORT_FILES OFF)
set(ASSAY_HAS_SITE OFF)
if(ASSAY_ENGINES_ONLY)
  return()
endif()
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)

# The transport engine's files and ranks: the program assay-transport has them all, or is not built.
enable_language(C)  # FindHDF5 and FindMPI ask for C
pkg_check_modules(netcdf QUIET IMPORTED_TARGET netcdf)
find_package(HDF5 QUIET COMPONENTS C)
find_package(MPI QUIET COMPONENTS C)
set(missing)
foreach(library netcdf HDF5 MPI_C)
  if(NOT ${library}_FOUND)
    list(APPEND missing ${library})
  endif()
endforeach()
if(missing)
  message(NOTICE "Left out: assay transport (not found: ${missing})")
else()
  add_library(netCDF::netcdf ALIAS PkgConfig::netcdf)
  set(ASSAY_HAS_TRANSPORT_FILES ON)
endif()

# The page: its chart library comes from Debian's package and is made small by esbuild.
find_file(ASSAY_PLOTLY plotly.js PATHS /usr/share/python3-plotly NO_DEFAULT_PATH)
find_program(ASSAY_ESBUILD esbuild)
if(ASSAY_PLOTLY AND ASSAY_ESBUILD)
  set(ASSAY_HAS_SITE ON)
else()
  message(NOTICE "Left out: assay site, assay serve (both are needed: plotly.js as -DASSAY_PLOTLY=FILE, "
    "found: ${ASSAY_PLOTLY}; esbuild, found: ${ASSAY_ESBUILD})")
endif()
