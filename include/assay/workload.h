/* SPDX-FileCopyrightText: The Assay authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A provider as a shared library: what Assay calls, and what it hands over. C99.
 *
 * For each set of inputs the library prepares a state; calls compute the outputs from that set:
 *
 *   assay_prepare   untimed. May read the inputs, allocate, plan, copy to a device.
 *   assay_call      what is timed. Computes every output from the inputs, and is complete when it
 *                   returns: nothing may still run. Called many times.
 *   assay_release   untimed. The inputs and outputs of the state are still there.
 *
 * Two states live at a time, with inputs of their own and the same outputs; calls alternate between
 * them. A state is released, and another prepared, when other inputs come. The last call is on
 * inputs that were not there before, into outputs that hold rubbish: it is the one that is judged,
 * and so is another call on the same inputs, into rubbish again. Every call does all of the work.
 *
 * Threads: as many as OMP_NUM_THREADS says. A library may be told of several points in one process.
 * It runs in a process of its own: a crash is recorded as one, and ends nothing else.
 */
#ifndef ASSAY_WORKLOAD_H
#define ASSAY_WORKLOAD_H

#include <stdint.h>

#define ASSAY_WORKLOAD_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

/* The types of elements. */
enum {
  ASSAY_BOOL = 0, /* one byte, 0 or 1 */
  ASSAY_U8 = 1,
  ASSAY_I8 = 2,
  ASSAY_U16 = 3,
  ASSAY_I16 = 4,
  ASSAY_U32 = 5,
  ASSAY_I32 = 6,
  ASSAY_U64 = 7,
  ASSAY_I64 = 8,
  ASSAY_F16 = 9,
  ASSAY_F32 = 10,
  ASSAY_F64 = 11
};

/* Elements somewhere in memory. */
typedef struct assay_tensor {
  const char* name;       /* as in the case file */
  void* data;             /* element (0, …, 0), aligned to 64 bytes; of inputs, only to be read */
  int32_t dtype;          /* ASSAY_F32, … */
  int32_t ndim;           /* 0: a single element */
  const int64_t* shape;   /* ndim extents */
  const int64_t* strides; /* ndim, in elements; today always row-major without gaps */
} assay_tensor;

/* ASSAY_WORKLOAD_VERSION of the header that the library was compiled with. */
int assay_workload_version(void);

/* `point` is a JSON object: the parameters of the case file. Inputs and outputs are in the order of
 * the case file. `*state` is what later calls get. Everything handed over is valid until the state
 * is released. Returns 0, or anything else when it cannot serve. */
int assay_prepare(const char* point, const assay_tensor* inputs, int input_count,
                  const assay_tensor* outputs, int output_count, void** state);

/* Returns 0, or anything else when it failed. */
int assay_call(void* state);

void assay_release(void* state);

/* May be left out: why the last function that did not return 0 failed, as one line. */
const char* assay_message(void);

#ifdef __cplusplus
}
#endif

#endif
