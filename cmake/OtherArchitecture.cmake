# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
#
# Debian's cross compiler for ASSAY_ARCHITECTURE (aarch64, x86_64); what it builds runs under qemu's
# user mode. ASSAY_SYSROOT: a folder with the third-party libraries, as scripts/test-other makes it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${ASSAY_ARCHITECTURE})
set(CMAKE_CXX_COMPILER ${ASSAY_ARCHITECTURE}-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE ${ASSAY_ARCHITECTURE}-linux-gnu)

# CMake's own trial projects read this file too, and must see the same settings.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ASSAY_ARCHITECTURE ASSAY_SYSROOT)
set(CMAKE_FIND_ROOT_PATH ${ASSAY_SYSROOT} /usr/${ASSAY_ARCHITECTURE}-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# `max`: every extension that qemu knows, so that an instruction set that is wrongly chosen shows.
set(CMAKE_CROSSCOMPILING_EMULATOR
    qemu-${ASSAY_ARCHITECTURE};-L;/usr/${ASSAY_ARCHITECTURE}-linux-gnu;-cpu;max)
