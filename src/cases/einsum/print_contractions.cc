// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// print_contractions                        the tables of einsum_pair and einsum_network, as JSON
// print_contractions CASE POINT SET OUT     the operands of a point, as .safetensors
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/json.h"
#include "cases/einsum/contractions.h"
#include "tensor/safetensors.h"

namespace {

using namespace assay;
using namespace assay::cases::einsum;

void print_tables() {
  Json tables;
  for (const bool pair : {true, false}) {
    auto& table = tables[pair ? "einsum_pair" : "einsum_network"];
    for (const auto& c : pair ? pair_contractions() : network_contractions()) {
      table[c.name] = {c.expression, c.extents};
    }
  }
  std::fputs((canonical_json(tables) + "\n").c_str(), stdout);
}

void write_operands(const char* name, const Json& json, int set, const std::string& out) {
  const bool pair = std::strcmp(name, "einsum_pair") == 0;
  const ContractionPoint point(json, pair ? pair_contractions() : network_contractions());
  auto operands = make_operands(point);
  fill_operands(point, set, operands);
  std::vector<std::pair<std::string, TensorView>> named;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    named.emplace_back("op" + std::to_string(i), operands[i].view());
  }
  write_safetensors(out, named);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 1) {
      print_tables();
      return 0;
    }
    if (argc == 5) {
      write_operands(argv[1], parse_json(argv[2], "point"), std::atoi(argv[3]), argv[4]);
      return 0;
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "print_contractions: %s\n", e.what());
    return 1;
  }
  std::fputs("usage: print_contractions [CASE POINT SET OUT]\n", stderr);
  return 2;
}
