// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a machine can do at most, measured on it (`assay doctor --peaks`), and what follows from
// that for a case.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace assay::lab {

struct Ceilings {
  // Rates per second of that many cores together:
  //   fma_f32, add_max_f32, sub_fma_f32, exp_f32, and the same for f64     of the operation named
  //   read_<bytes>  bytes, each core reading <bytes> of its own again and again
  //   triad         bytes, from memory
  struct Group {
    int cores = 1;
    double clock_hz = 0;
    std::map<std::string, double> rates;
  };
  // Of a GPU: rates as kernels/cuda/peaks.h names them, the same names for the same things.
  struct Device {
    std::string name;
    std::map<std::string, double> rates;
  };
  std::string measured;         // when, ISO 8601
  std::string instruction_set;  // of the loops
  std::vector<Group> groups;    // one core, and all of them
  std::vector<Device> devices = {};

  // What a GPU of that name can do, as the ceilings of so many cores; nothing where it was not
  // measured.
  std::optional<Ceilings> on_device(std::string_view name, int cores) const;
  // Whether these are a GPU's.
  bool of_device() const { return rate("gemm_tf32", 1).has_value(); }
  // The least time of so many multiply-adds in products of f32 or f64, and by which ceiling. On a
  // GPU f32 is three products in TF32, the fewest that keep its precision, or one in f32, whichever
  // is faster.
  struct ProductTime {
    double seconds = 0;
    std::string ceiling;
  };
  std::optional<ProductTime> product_time(double multiply_adds, std::string_view dtype,
                                          int cores) const;

  // Of `cores` cores: of the group of that size, else of one core times so many, which is no less.
  // Nothing for a name that was not measured.
  std::optional<double> rate(std::string_view name, int cores) const;
  // The rate of reading `bytes` again and again on each core: of the next larger size measured.
  std::optional<double> read_rate(double bytes, int cores) const;

  // How many floating-point operations, as cases count them, one of the ceiling's is: a
  // multiply-add is two. 1 for a name that is not known.
  static int operations(std::string_view name);

  Json to_json() const;
  // Throws UserError naming `what`.
  static Ceilings from_json(const Json& json, std::string_view what);
  static Device device_from_json(const Json& json, std::string_view what);
};

// Those that were saved under a machine's fingerprint; nothing if none were. Throws UserError
// naming a file that is not what it should be.
std::optional<Ceilings> load_ceilings(std::string_view fingerprint);
// Returns the file's path.
std::string save_ceilings(std::string_view fingerprint, const Ceilings& ceilings);

// The least time that the ceilings allow for a point.
struct Limit {
  double seconds = 0;
  std::string ceiling;  // which: "fma_f32"
  // Nothing can be faster, so that whatever is, did not do the work. Limits that count on how much
  // a cache holds are goals, not bounds.
  bool is_bound = true;
};

}  // namespace assay::lab
