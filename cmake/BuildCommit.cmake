# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
#
# cmake -DSOURCE=… -DOUT=… -P BuildCommit.cmake: writes OUT, a C++ source that says which commit of this
# repository SOURCE is at. Run at every build, it changes the file only when that has changed, so that one
# small file is compiled and the programs are linked again. Without git, or where SOURCE is not a repository
# of its own (a tarball, also one that was unpacked inside another repository), it says "unknown".
function(ask_git result)
  execute_process(COMMAND git --no-optional-locks -C ${SOURCE} ${ARGN}
    OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    set(answer "")
  endif()
  set(${result} "${answer}" PARENT_SCOPE)
endfunction()

set(commit unknown)
set(branch unknown)
set(dirty false)
ask_git(top rev-parse --show-toplevel)
file(REAL_PATH "${SOURCE}" source)
if(top STREQUAL source)
  ask_git(head rev-parse --verify HEAD)
  if(head MATCHES "^[0-9a-f]+$")
    set(commit ${head})
    ask_git(branch rev-parse --abbrev-ref HEAD)
    string(REGEX REPLACE "[^A-Za-z0-9._/+-]" "_" branch "${branch}")
    ask_git(changes status --porcelain --untracked-files=no)
    if(NOT changes STREQUAL "")
      set(dirty true)
    endif()
  endif()
endif()

set(text "// Written by cmake/BuildCommit.cmake.
#include \"cli/build_commit.h\"
const assay::cli::BuildCommit assay::cli::kBuildCommit = {\"${commit}\", \"${branch}\", ${dirty}};
")
set(before "")
if(EXISTS "${OUT}")
  file(READ "${OUT}" before)
endif()
if(NOT text STREQUAL before)
  file(WRITE "${OUT}" "${text}")
endif()
