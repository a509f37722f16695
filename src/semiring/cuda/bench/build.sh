#!/bin/bash
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds library and tests beside this checkout's sources, in $BUILD. Usage: build.sh SOURCES_ROOT
set -e
root=$(cd "$1" && pwd)
build=${BUILD:-/tmp/assay-cuda}
mkdir -p "$build"
flags="-std=c++20 -O3 --expt-relaxed-constexpr -I$root -Xcompiler -fPIC -diag-suppress 20208 -gencode=arch=compute_90a,code=sm_90a"
cd "$root/semiring/cuda"
for f in *.cu bench/c_api.cu test/*.cu; do
  nvcc $flags -c "$f" -o "$build/$(basename "$f" .cu).o" &
done
wait
cd "$build"
nvcc -shared -o libassay_semiring_cuda.so factors.o split_product.o compare_panels.o compare_product.o plain_product.o boolean_product.o edges.o matmul.o c_api.o
for t in "$root"/semiring/cuda/test/*_test.cu; do
  n=$(basename "$t" .cu)
  nvcc -o "$n" "$n.o" factors.o split_product.o compare_panels.o compare_product.o plain_product.o boolean_product.o edges.o matmul.o
done
ls -la libassay_semiring_cuda.so
