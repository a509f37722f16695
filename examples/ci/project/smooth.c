// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <assay/workload.h>
#include <stdlib.h>

typedef struct {
  const float* x;
  float* y;
  int64_t n;
} smoothing;

int assay_workload_version(void) { return ASSAY_WORKLOAD_VERSION; }

int assay_prepare(const char* point, const assay_tensor* in, int ins, const assay_tensor* out, int outs, void** state) {
  (void)point, (void)ins, (void)outs;
  smoothing* s = malloc(sizeof *s);
  if (s == NULL) return 1;
  *s = (smoothing){in[0].data, out[0].data, in[0].shape[0]};
  *state = s;
  return 0;
}

int assay_call(void* state) {
  const smoothing* s = state;
  for (int64_t i = 0; i < s->n; ++i) {
    const float left = s->x[i > 0 ? i - 1 : 0], right = s->x[i < s->n - 1 ? i + 1 : i];
    s->y[i] = (left + s->x[i] + right) / 3;
  }
  return 0;
}

void assay_release(void* state) { free(state); }
