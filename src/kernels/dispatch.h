// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The end of a file that Highway compiles once for each instruction set: what the rest of the
// program calls. A macro, because Highway finds the forms of a function by its name.

#include <hwy/highway.h>

// Defines `const Table<T>& name(T)` for float and double: name_f32() or name_f64() of the best
// instruction set that this machine has.
#define ASSAY_DISPATCH(Table, name)                                                 \
  HWY_EXPORT(name##_f32);                                                           \
  HWY_EXPORT(name##_f64);                                                           \
  const Table<float>& name(float) { return *HWY_DYNAMIC_DISPATCH(name##_f32)(); }   \
  const Table<double>& name(double) { return *HWY_DYNAMIC_DISPATCH(name##_f64)(); } \
  static_assert(true, "so that a use ends in a semicolon")
