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
set(ASSAY_HAS_SITE OFF)
set(ASSAY_HAS_TRANSPORT_FILES OFF)
if(ASSAY_ENGINES_ONLY AND NOT ASSAY_PYTHON)
  return()
endif()
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)

# The transport engine's files: the program assay-transport and the Python package say what they were built without.
option(ASSAY_TRANSPORT_LIBRARIES "NetCDF, HDF5 and MPI for assay transport, where they are installed" ON)
set(ASSAY_HAS_TRANSPORT_FILES ON)
set(ASSAY_HAS_NETCDF OFF)
if(ASSAY_TRANSPORT_LIBRARIES)
  enable_language(C)  # FindHDF5 and FindMPI ask for C
  pkg_check_modules(netcdf QUIET IMPORTED_TARGET netcdf)
  find_package(HDF5 QUIET COMPONENTS C)
  if(netcdf_FOUND AND HDF5_FOUND)
    add_library(netCDF::netcdf ALIAS PkgConfig::netcdf)
    set(ASSAY_HAS_NETCDF ON)
  endif()
endif()
if(NOT ASSAY_HAS_NETCDF)
  message(NOTICE "Left out: wout, boozmn, .nc and .h5 in assay transport (both are needed: netcdf, HDF5)")
endif()
if(ASSAY_ENGINES_ONLY)
  return()
endif()

find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
pkg_check_modules(simdjson REQUIRED IMPORTED_TARGET simdjson)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
# Its ranks.
set(ASSAY_HAS_MPI OFF)
if(ASSAY_TRANSPORT_LIBRARIES)
  find_package(MPI QUIET COMPONENTS C)
  set(ASSAY_HAS_MPI ${MPI_C_FOUND})
endif()
if(NOT ASSAY_HAS_MPI)
  message(NOTICE "Left out: ranks in assay transport (not found: MPI)")
endif()

# ASSAY_POSTGRES=AUTO|ON|OFF: stores that several machines share. AUTO: where libpq is found.
set(ASSAY_POSTGRES AUTO CACHE STRING "Stores in PostgreSQL: AUTO (where libpq is found), ON, OFF")
set_property(CACHE ASSAY_POSTGRES PROPERTY STRINGS AUTO ON OFF)
if(NOT ASSAY_POSTGRES MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "ASSAY_POSTGRES must be AUTO, ON or OFF, got '${ASSAY_POSTGRES}'")
endif()
set(ASSAY_HAS_POSTGRES OFF)
if(NOT ASSAY_POSTGRES STREQUAL "OFF")
  pkg_check_modules(libpq QUIET IMPORTED_TARGET libpq)
  set(ASSAY_HAS_POSTGRES ${libpq_FOUND})
endif()
if(ASSAY_POSTGRES STREQUAL "ON" AND NOT ASSAY_HAS_POSTGRES)
  message(FATAL_ERROR "ASSAY_POSTGRES=ON, but libpq was not found (Debian's package libpq-dev)")
elseif(NOT ASSAY_HAS_POSTGRES)
  message(NOTICE "Left out: stores in PostgreSQL (not found, or ASSAY_POSTGRES=OFF: libpq)")
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
