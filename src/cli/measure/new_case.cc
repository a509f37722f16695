// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "cases/own/case_file.h"
#include "cli/commands.h"
#include "cli/installation.h"
#include "cli/program.h"

namespace assay::cli {
namespace {

// The files of the example; NAME and INCLUDE stand for the case's name and the folder that has
// assay/workload.h, and @include for what would be an #include of ours to those who look for them.
constexpr std::string_view kCaseFile =
    R"file(# A case of your own: what is computed, what the right answer is, and who computes it.
#
#   make                          builds the C library
#   assay list NAME.toml          what is there
#   assay run NAME.toml --quick   measures, judges and compares
case = "NAME"
description = "softmax along rows"
baseline = "numpy"                      # whom ratios refer to

# The points that are measured: every combination of these values.
[parameters]
rows = [256, 1024]
columns = [256, 4096]
dtype = ["f32"]
quick = { rows = 256, columns = 256 }   # what --quick measures

# Values are drawn anew for each set of inputs, the same in every language. Instead of low and high:
# normal = { mean = 0, deviation = 1 }, below = "rows" (integers), permutation = true, constant = 1,
# file = "x.npy". Extents are expressions of parameters: + - * // % min() max() size(dtype).
[inputs.x]
shape = ["rows", "columns"]
dtype = "dtype"
low = -4.0
high = 4.0

[outputs.y]
shape = ["rows", "columns"]

# The right answer, computed in f64 (integers in i64). The tolerance follows from the dtype and the longest sum; or say
# rtol and atol. Without a right answer: oracle = "none".
[oracle]
python = "NAME.py:softmax64"
reduction = "columns"

# What a call does, for rates. Leave it out if you do not care.
[work]
flops = "5 * rows * columns"
bytes = "2 * rows * columns * size(dtype)"

[providers.numpy]
python = "NAME.py:numpy_softmax"

[providers.library]                     # C, by the functions of assay/workload.h
library = "./libNAME.so"

[providers.program]                     # any program: .npy files in and out, the whole process is timed
command = ["python3", "NAME_program.py", "{x}", "{y}"]
unequal_work = "starts a process and reads and writes files at each call"
)file";

constexpr std::string_view kPython = R"file(import numpy as np


def softmax64(inputs, point):
    """The right answer: the inputs come as f64, so that everything is computed in f64."""
    x = inputs["x"]
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return {"y": e / e.sum(axis=1, keepdims=True)}


def numpy_softmax(inputs, point):
    """What is measured; inputs have the dtype of the case, and are only to be read."""
    x = inputs["x"]
    e = np.exp(x - x.max(axis=1, keepdims=True))
    e /= e.sum(axis=1, keepdims=True)
    return e
)file";

constexpr std::string_view kProgram = R"file(import sys

import numpy as np

x = np.load(sys.argv[1])
e = np.exp(x - x.max(axis=1, keepdims=True))
e /= e.sum(axis=1, keepdims=True)
np.save(sys.argv[2], e)
)file";

constexpr std::string_view kC = R"file(@include <assay/workload.h>
@include <math.h>
@include <stdlib.h>

typedef struct {
  const float* x;
  float* y;
  int64_t rows, columns;
} softmax;

int assay_workload_version(void) { return ASSAY_WORKLOAD_VERSION; }

int assay_prepare(const char* point, const assay_tensor* inputs, int input_count,
                  const assay_tensor* outputs, int output_count, void** state) {
  (void)point;
  if (input_count != 1 || output_count != 1 || inputs[0].dtype != ASSAY_F32) return 1;
  softmax* s = malloc(sizeof *s);
  if (s == NULL) return 1;
  s->x = inputs[0].data;
  s->y = outputs[0].data;
  s->rows = inputs[0].shape[0];
  s->columns = inputs[0].shape[1];
  *state = s;
  return 0;
}

int assay_call(void* state) {
  const softmax* s = state;
  for (int64_t i = 0; i < s->rows; ++i) {
    const float* x = s->x + i * s->columns;
    float* y = s->y + i * s->columns;
    float largest = x[0], sum = 0;
    for (int64_t j = 1; j < s->columns; ++j) largest = x[j] > largest ? x[j] : largest;
    for (int64_t j = 0; j < s->columns; ++j) sum += y[j] = expf(x[j] - largest);
    for (int64_t j = 0; j < s->columns; ++j) y[j] /= sum;
  }
  return 0;
}

void assay_release(void* state) { free(state); }
)file";

constexpr std::string_view kMakefile = R"file(# Where assay/workload.h is.
ASSAY_INCLUDE ?= INCLUDE
CFLAGS ?= -O3

libNAME.so: NAME.c
	$(CC) $(CFLAGS) -std=c99 -fPIC -shared -I$(ASSAY_INCLUDE) -o $@ $< -lm

clean:
	rm -f libNAME.so
.PHONY: clean
)file";

std::string filled_in(std::string_view text, const std::string& name) {
  std::string result(text);
  const std::pair<std::string_view, std::string> words[] = {
      {"NAME", name}, {"INCLUDE", include_folder()}, {"@include", "#include"}};
  for (const auto& [word, value] : words) {
    for (auto at = result.find(word); at != std::string::npos; at = result.find(word, at)) {
      // ASSAY_INCLUDE is a name of the Makefile's own.
      if (at > 0 && result[at - 1] == '_') {
        at += word.size();
      } else {
        result.replace(at, word.size(), value);
        at += value.size();
      }
    }
  }
  return result;
}

}  // namespace

int new_case(const NewArguments& a) {
  if (!cases::own::is_name(a.name)) {
    fail("a case's name has up to 32 letters, digits and '_', no digit first, got '{}'", a.name);
  }
  const std::string folder = a.out.empty() ? a.name : a.out;
  if (std::filesystem::exists(std::filesystem::symlink_status(folder))) {
    fail("there is something already, which stays as it is: '{}'", folder);
  }
  make_directories(folder);
  const std::pair<std::string, std::string_view> files[] = {{a.name + ".toml", kCaseFile},
                                                            {a.name + ".py", kPython},
                                                            {a.name + "_program.py", kProgram},
                                                            {a.name + ".c", kC},
                                                            {"Makefile", kMakefile}};
  try {
    for (const auto& [name, text] : files) {
      write_file_atomically(folder + "/" + name, filled_in(text, a.name));
    }
  } catch (...) {  // a full disk: nothing half made stays
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    throw;
  }
  for (const auto& [name, text] : files) print(fmt::format("{}/{}\n", folder, name));
  std::fputs(
      fmt::format("next: make -C {0} && assay run {0}/{1}.toml --quick\n", folder, a.name).c_str(),
      stderr);
  return kFine;
}

}  // namespace assay::cli
