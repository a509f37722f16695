// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// print_plain_logits MODEL TOKENS OUT: what the oracle says of each of TOKENS ("1,2,3") of the
// model in folder MODEL, as tensor "logits" (f64) of a .safetensors file.
#include <cstdio>
#include <exception>

#include "base/error.h"
#include "cases/llm/model_point.h"
#include "cases/llm/oracle/plain_model.h"
#include "tensor/safetensors.h"

int main(int argc, char** argv) {
  using namespace assay;  // NOLINT: a program of one file
  try {
    if (argc != 4) fail("print_plain_logits MODEL TOKENS OUT");
    const auto tokens = cases::llm::token_ids(argv[2]);
    const auto logits = cases::llm::plain_logits(argv[1], tokens, 0);
    const TensorView view(DType::kF64, logits.values.data(), Shape({logits.rows, logits.columns}));
    write_safetensors(argv[3], {{"logits", view}});
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "print_plain_logits: %s\n", e.what());
    return 2;
  }
}
