// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// print_inputs raw KEY0 KEY1 COUNT OUT          raw Philox outputs, as .npy
// print_inputs CASE POINT SET OUT               the inputs of a point, as .safetensors
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/philox.h"
#include "cases/semiring/edge_inputs.h"
#include "cases/semiring/matmul_inputs.h"
#include "tensor/npy.h"
#include "tensor/safetensors.h"

namespace {

using namespace assay;

int print_raw(char** argv) {
  const Philox stream(std::strtoull(argv[2], nullptr, 10), std::strtoull(argv[3], nullptr, 10));
  Tensor values(DType::kU64, Shape({std::atoll(argv[4])}));
  std::uint64_t i = 0;
  for (auto& value : values.as<std::uint64_t>()) value = stream[i++];
  write_npy(argv[5], values.view());
  return 0;
}

int print_inputs(const std::string& name, const Json& point, int set, const std::string& out) {
  if (name == "ell_edge_aggregate") {
    const cases::semiring::EdgePoint p(point);
    cases::semiring::EdgeInputs in(p);
    fill_inputs(p, set, in);
    write_safetensors(
        out, {{"v", in.v.view()}, {"idx", in.idx.view()}, {"x", in.x.view()}, {"w", in.w.view()}});
  } else {
    const cases::semiring::MatmulPoint p(point);
    cases::semiring::MatmulInputs in(p);
    fill_inputs(p, set, in);
    write_safetensors(out, {{"a", in.a.view()}, {"b", in.b.view()}});
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 6 && std::strcmp(argv[1], "raw") == 0) return print_raw(argv);
    if (argc == 5)
      return print_inputs(argv[1], assay::parse_json(argv[2], "point"), std::atoi(argv[3]),
                          argv[4]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "print_inputs: %s\n", e.what());
    return 1;
  }
  std::fputs("usage: print_inputs raw KEY0 KEY1 COUNT OUT | CASE POINT SET OUT\n", stderr);
  return 2;
}
