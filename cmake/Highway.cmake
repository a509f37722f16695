# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
#
# The one way to code that differs by instruction set: Highway compiles a file once for each, and the
# program picks when it runs.
#
# Which instruction sets are compiled. Arrays of scalable vectors do not exist, so that SVE is left
# out; SSSE3 serves no machine that SSE4 or the scalar forms would not.
add_library(assay_highway INTERFACE)
target_link_libraries(assay_highway INTERFACE hwy::hwy)
target_compile_definitions(assay_highway INTERFACE
  "HWY_DISABLED_TARGETS=(HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128|HWY_SSSE3)")

# assay_highway_sources(FILES…): files of this folder that include <hwy/foreach_target.h>. Each stands
# by itself. Everything is unrolled; GCC's first scheduling pass would spill register tiles, and its
# loop patterns would turn the clearing of a tile into a call of memset. A sanitised build takes its own.
function(assay_highway_sources)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(NOT ASSAY_SANITIZE)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS
      "-O3;-fno-schedule-insns;-fno-tree-loop-distribute-patterns")
  endif()
endfunction()
