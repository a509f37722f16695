// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// The backend as C functions, so that bench.py can time it beside its peers in one process.
#include "semiring/cuda/edges.h"
#include "semiring/cuda/matmul.h"

namespace {

using namespace assay::semiring;

cuda::Matmul dense(int algebra, int scalar, int route, long m, long k, long n, const void* a,
                   const void* b, void* c) {
  cuda::Matmul q;
  q.algebra = static_cast<Algebra>(algebra);
  q.scalar = static_cast<cuda::Scalar>(scalar);
  q.route = static_cast<cuda::Route>(route);
  q.m = m, q.k = k, q.n = n;
  q.a = a, q.b = b, q.c = c;
  q.a_strides = {k, 1, m * k}, q.b_strides = {n, 1, k * n}, q.c_strides = {n, 1, m * n};
  return q;
}

cuda::Edges edges(int is_max, long rows, long slots, long features, const void* v, const int* idx,
                  const void* x, const void* w, void* out) {
  cuda::Edges e;
  e.is_max = is_max != 0;
  e.rows = rows, e.slots = slots, e.sources = rows, e.features = features, e.outputs = features;
  e.v = v, e.idx = idx, e.x = x, e.w = w, e.out = out;
  e.v_strides = {slots, 1}, e.idx_strides = {slots, 1};
  e.x_strides = e.w_strides = e.out_strides = {features, 1};
  return e;
}

}  // namespace

extern "C" {

long assay_matmul_workspace(int algebra, int scalar, int route, long m, long k, long n) {
  return static_cast<long>(
      cuda::workspace_bytes(dense(algebra, scalar, route, m, k, n, nullptr, nullptr, nullptr)));
}
void assay_matmul(int algebra, int scalar, int route, long m, long k, long n, const void* a,
                  const void* b, void* c, void* workspace, void* stream, long* refused) {
  cuda::matmul(dense(algebra, scalar, route, m, k, n, a, b, c), workspace, stream, refused);
}
long assay_edges_workspace(int is_max, long rows, long slots, long features, const void* x,
                           void* out) {
  return static_cast<long>(cuda::workspace_bytes(
      edges(is_max, rows, slots, features, nullptr, nullptr, x, nullptr, out)));
}
void assay_edges(int is_max, long rows, long slots, long features, const void* v, const int* idx,
                 const void* x, const void* w, void* out, void* workspace, void* stream) {
  cuda::aggregate_edges(edges(is_max, rows, slots, features, v, idx, x, w, out), workspace, stream);
}
}
