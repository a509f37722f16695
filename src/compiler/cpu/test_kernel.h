// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// For tests: a kernel with operands, run plainly and fast, and what came out compared.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/philox.h"
#include "compiler/cpu/cpu_kernel.h"
#include "compiler/graph/dtypes.h"
#include "compiler/plain/plain_scalar.h"
#include "compiler/plain/run_plain.h"
#include "tensor/roundoff.h"

namespace assay::compiler {

// Operands with a margin around each that nobody may touch.
class KernelCheck {
 public:
  enum class Values { kUnit, kSpecial, kWide };

  Kernel kernel;
  Bindings symbols;

  explicit KernelCheck(std::uint64_t seed) : stream_(seed) {}

  std::uint64_t random() { return stream_[next_++]; }
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  }

  std::uint32_t add(DType dtype, const std::vector<std::int64_t>& shape,
                    Values values = Values::kUnit) {
    std::int64_t count = 1;
    for (const auto extent : shape) count *= extent;
    kernel.operands.push_back({dtype, {shape.begin(), shape.end()}, false});
    std::vector<std::byte> data(static_cast<std::size_t>(count) * size_of(dtype) + 2 * kMargin,
                                std::byte{0x5a});
    for (std::int64_t i = 0; i < count; ++i)
      store_plain(dtype, data.data() + kMargin, i, drawn(dtype, values));
    data_.push_back(std::move(data));
    return static_cast<std::uint32_t>(data_.size() - 1);
  }
  std::uint32_t add_output(DType dtype, const std::vector<std::int64_t>& shape) {
    const auto id = add(dtype, shape);
    kernel.operands[id].is_written = true;
    return id;
  }
  void set(std::uint32_t operand, std::int64_t at, double value) {
    const auto dtype = kernel.operands[operand].dtype;
    store_plain(dtype, data_[operand].data() + kMargin, at,
                {.f = value, .i = static_cast<std::int64_t>(value)});
  }
  Access whole(std::uint32_t operand) const {
    return {operand, View::contiguous(kernel.operands[operand].shape)};
  }

  // Runs twice with each number of threads; results differ from the plain ones by at most
  // `relative`·|value| + `absolute` (NaN by nothing), and from each other not at all.
  void expect_equal(double relative, double absolute, const std::string& what) {
    auto want = data_;
    run_plain(kernel, symbols, pointers(want));
    std::vector<std::vector<std::byte>> first;
    for (std::uint32_t variant = 0; variant < cpu_variants(kernel); ++variant) {
      kernel.variant = variant;
      const auto prepared = prepare_cpu_kernel(kernel);
      for (int threads = 1; threads <= 4; ++threads) {
        for (int again = 0; again < 2; ++again) {
          auto got = data_;
          prepared->run(symbols, pointers(got), threads);
          if (threads == 1 && again == 0) {
            first = got;
            compare(got, want, relative, absolute, what);
          } else {
            for (std::size_t i = 0; i < got.size(); ++i)
              ASSERT_TRUE(got[i] == first[i])
                  << what << ": operand " << i << ", " << threads << " threads";
          }
          if (testing::Test::HasFailure()) return;
        }
      }
    }
    kernel.variant = 0;
  }

 private:
  static constexpr std::size_t kMargin = 64;

  PlainScalar drawn(DType dtype, Values values) {
    const double unit = 2 * unit_interval(random()) - 1;
    if (!is_floating(dtype)) {
      if (dtype == DType::kBool) return {.i = unit > 0 ? 1 : 0};
      const std::int64_t special[] = {0, -1, 1, std::numeric_limits<std::int32_t>::max(),
                                      std::numeric_limits<std::int32_t>::min()};
      if (values == Values::kSpecial && below(4) == 0) return {.i = special[below(5)]};
      return {.i = static_cast<std::int64_t>(unit * 40)};
    }
    if (values == Values::kSpecial && below(4) == 0) {
      constexpr double kInf = std::numeric_limits<double>::infinity();
      const double special[] = {0, -0.0, 1, -1, kInf, -kInf, std::nan(""), 3.4e38, 1e-40, 65504};
      return {.f = special[below(10)]};
    }
    if (values == Values::kWide)
      return {.f = unit * std::pow(10.0, static_cast<double>(below(61) - 30))};
    return {.f = 4 * unit};
  }

  static std::vector<std::byte*> pointers(std::vector<std::vector<std::byte>>& data) {
    std::vector<std::byte*> all;
    for (auto& operand : data) all.push_back(operand.data() + kMargin);
    return all;
  }

  void compare(const std::vector<std::vector<std::byte>>& got,
               const std::vector<std::vector<std::byte>>& want, double relative, double absolute,
               const std::string& what) const {
    for (std::size_t i = 0; i < got.size(); ++i) {
      const auto dtype = kernel.operands[i].dtype;
      const auto size = size_of(dtype);
      const auto count = (got[i].size() - 2 * kMargin) / size;
      for (std::size_t b = 0; b < kMargin; ++b) {
        ASSERT_EQ(got[i][b], std::byte{0x5a}) << what << ": before operand " << i;
        ASSERT_EQ(got[i][got[i].size() - 1 - b], std::byte{0x5a}) << what << ": behind " << i;
      }
      for (std::size_t e = 0; e < count; ++e) {
        const auto at = static_cast<std::int64_t>(e);
        const auto g = load_plain(dtype, got[i].data() + kMargin, at);
        const auto w = load_plain(dtype, want[i].data() + kMargin, at);
        if (!is_floating(dtype)) {
          ASSERT_EQ(g.i, w.i) << what << ": operand " << i << " at " << e;
        } else if (std::isnan(w.f) || std::isinf(w.f)) {
          ASSERT_TRUE(std::isnan(w.f) ? std::isnan(g.f) : g.f == w.f)
              << what << ": operand " << i << " at " << e << ": " << g.f << ", not " << w.f;
        } else {
          ASSERT_LE(std::abs(g.f - w.f), relative * std::abs(w.f) + absolute)
              << what << ": operand " << i << " at " << e << ": " << g.f << ", not " << w.f;
        }
      }
    }
  }

  Philox stream_;
  std::uint64_t next_ = 0;
  std::vector<std::vector<std::byte>> data_;
};

}  // namespace assay::compiler
