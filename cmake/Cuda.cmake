# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
#
# ASSAY_CUDA=AUTO|ON|OFF: device code, and the program assay-worker-cuda that has it. AUTO: where nvcc 12.4
# or newer is found, in PATH, beside CUDACXX or in /usr/local/cuda; ON: its absence is an error. Sets
# ASSAY_HAS_CUDA. No GPU is needed to compile (docs/adr/0044-a-worker-for-the-gpu.md).
set(ASSAY_CUDA AUTO CACHE STRING "Device code for NVIDIA GPUs: AUTO (where nvcc is found), ON, OFF")
set_property(CACHE ASSAY_CUDA PROPERTY STRINGS AUTO ON OFF)
set(ASSAY_HAS_CUDA OFF)
if(NOT ASSAY_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "ASSAY_CUDA must be AUTO, ON or OFF, got '${ASSAY_CUDA}'")
endif()
# The sanitised builds are about host code, and another architecture's nvcc is not this one. Of the builds that
# are engines alone, the Python package's has something to load them with.
if(ASSAY_CUDA STREQUAL "OFF" OR (ASSAY_CUDA STREQUAL "AUTO" AND
    (ASSAY_SANITIZE OR CMAKE_CROSSCOMPILING OR (ASSAY_ENGINES_ONLY AND NOT ASSAY_PYTHON))))
  return()
endif()

find_program(ASSAY_NVCC nvcc HINTS ENV CUDACXX PATHS /usr/local/cuda/bin)
set(why "nvcc was not found")
if(ASSAY_NVCC)
  execute_process(COMMAND ${ASSAY_NVCC} --version OUTPUT_VARIABLE said ERROR_QUIET)
  set(why "nvcc 12.4 or newer is needed: ${ASSAY_NVCC}")
  if(said MATCHES "release ([0-9]+\\.[0-9]+)" AND CMAKE_MATCH_1 VERSION_GREATER_EQUAL 12.4)
    set(ASSAY_HAS_CUDA ON)
  endif()
endif()
if(NOT ASSAY_HAS_CUDA)
  if(ASSAY_CUDA STREQUAL "ON")
    message(FATAL_ERROR "ASSAY_CUDA is ON, but ${why}")
  endif()
  return()
endif()

# Machine code for Ampere and for Hopper's own instructions; PTX, which the driver compiles, for what comes
# later (that of sm_90a is good for Hopper alone).
set(CMAKE_CUDA_ARCHITECTURES 80-real 90a-real 90-virtual CACHE STRING "What device code is compiled for")
set(CMAKE_CUDA_COMPILER ${ASSAY_NVCC})
set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
set(CMAKE_CUDA_FLAGS_RELWITHDEBINFO "-O3 -DNDEBUG")
if(ASSAY_CCACHE)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
enable_language(CUDA)
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_CUDA_RUNTIME_LIBRARY None)  # assay::kernels_cuda brings it, static
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 has not heard of it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()
# Else what a package finds in /usr/include is searched before the compiler's own headers.
list(APPEND CMAKE_CUDA_IMPLICIT_INCLUDE_DIRECTORIES ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
set(CUDAToolkit_FIND_QUIETLY ON)
find_package(CUDAToolkit REQUIRED)

# Whether `make build` has it: compiling takes minutes that only a machine with a GPU gets something for.
set(ASSAY_BUILDS_CUDA ${ASSAY_HAS_CUDA})
if(ASSAY_CUDA STREQUAL "AUTO" AND NOT EXISTS /dev/nvidiactl)
  set(ASSAY_BUILDS_CUDA OFF)
endif()

# assay_device_sources(TARGET): flags of .cu files. One object for each file: a kernel family each.
function(assay_device_sources target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr -diag-suppress=20208,177 -Xcompiler=-Wall>)
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
endfunction()
