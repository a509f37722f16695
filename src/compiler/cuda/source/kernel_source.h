// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A kernel of a program as CUDA C++, and how it is launched. The text is canonical: operands,
// values and symbols go by number, so that equal kernels of different programs are one text, and
// one cubin in the cache. What is constant is written into it; symbols are read from memory when it
// runs, so that one cubin, and one captured graph, serves all their values.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/program/program.h"

namespace assay::compiler::cuda {

// Kernels that one launch computes at most (bundle.h).
inline constexpr std::size_t kMostOfBundle = 6;

// One launch of an entry. Entries have the arguments
//   (const long long* symbols, char* scratch, unsigned constant, T0* operand0, T1* operand1, …)
// where bit i of `constant` says that nothing in the program writes operand i; those of a bundle
// have Launch::begins behind it.
struct Launch {
  std::uint32_t entry = 0;  // position in KernelSource::entries
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::uint32_t threads = 32;
  std::uint32_t shared_bytes = 0;
  // Of a bundle: the first block of each part, and the number of all.
  std::array<std::uint32_t, kMostOfBundle + 1> begins = {};
  bool operator==(const Launch&) const = default;
};

// A product that cuBLAS computes, C = A B of 16-bit rows with sums in f32, before the launches.
struct LibraryProduct {
  std::uint32_t a = 0, b = 0;               // operands
  std::int64_t a_offset = 0, b_offset = 0;  // elements
  bool is_bf16 = true, turn_a = false, turn_b = false;
  std::int64_t m = 0, n = 0, k = 0, lda = 0, ldb = 0, step_a = 0, step_b = 0, count = 1;
  std::optional<std::uint32_t>
      c;  // operand, by rows without gaps from its first element on; none: the scratch
  bool operator==(const LibraryProduct&) const = default;
};

// In front of the scratch lie so many ints that are zero between launches.
inline constexpr std::int64_t kCounters = 256;

struct LaunchPlan {
  std::optional<LibraryProduct> product;
  std::vector<Launch> launches;    // one after the other
  std::int64_t scratch_bytes = 0;  // that they share
  bool operator==(const LaunchPlan&) const = default;
};

struct KernelSource {
  std::string code;
  std::vector<std::string> entries;
  std::vector<std::string> symbols;         // whose values it reads, in order
  std::vector<std::string> launch_symbols;  // that plan() depends on
  std::function<LaunchPlan(const Bindings&)> plan;
  bool is_bundle = false;
};

struct SourceOptions {
  int multiprocessors = 132;
  bool has_library = true;  // cuBLAS
  // As a part of a bundle (bundle.h) with these symbols: entries are functions of their names.
  bool is_part = false;
  std::vector<std::string> symbols = {};
};

// Variant 0 is our own choice; 1 the plain form: any dtypes, strides and sizes, and slow.
KernelSource source_of(const Kernel& kernel, const SourceOptions& options);
std::uint32_t variants_of(const Kernel& kernel);

}  // namespace assay::compiler::cuda
