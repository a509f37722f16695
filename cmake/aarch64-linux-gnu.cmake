# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
#
# Debian's cross compiler for 64-bit Arm; what it builds runs under qemu's user mode.
# ASSAY_SYSROOT: a folder with the third-party libraries for arm64, as scripts/test-aarch64 makes it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

# CMake's own trial projects read this file too, and must see the same folder.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ASSAY_SYSROOT)
set(CMAKE_FIND_ROOT_PATH ${ASSAY_SYSROOT} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# `max`: every extension that qemu knows, so that an instruction set that is wrongly chosen shows.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-L;/usr/aarch64-linux-gnu;-cpu;max)
