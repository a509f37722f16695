// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// site_example_rows FOLDER [ROWS]: journals of many_rows(), one for each run, and the ceilings of
// the two machines where ASSAY_MACHINE_DIR says.
#include <cstdio>
#include <map>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "lab/testing/many_rows.h"

int main(int argc, char** argv) try {
  using namespace assay;
  if (argc < 2) fail("usage: site_example_rows FOLDER [ROWS]");
  lab::testing_rows::ManyRows what;
  if (argc > 2) what.rows = std::stoi(argv[2]);
  std::map<std::string, std::string> journals;
  for (const auto& row : lab::testing_rows::many_rows(what)) {
    journals[row.run_id] += lab::row_to_line(row) + "\n";
  }
  make_directories(argv[1]);
  for (const auto& [run, text] : journals) {
    write_file_atomically(std::string(argv[1]) + "/" + run + ".jsonl", text);
  }
  if (std::getenv("ASSAY_MACHINE_DIR") != nullptr) {
    for (const char* machine : lab::testing_rows::kMachines) {
      lab::save_ceilings(machine, lab::testing_rows::example_ceilings());
    }
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "site_example_rows: %s\n", e.what());
  return 1;
}
