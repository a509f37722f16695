// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of f16 and bf16 are those of the same numbers in f32, bit for bit: every algebra,
// layouts, batches, special values. Exit status 1 if anything failed; `small`: the same, for the
// sanitizers.
#include <tuple>

#include "semiring/cuda/test/device_test.h"

namespace assay::semiring::cuda::testing {
namespace {

using Bits = std::uint16_t;

// The definitions of the formats, not the device's conversion.
float value_of(Bits bits, Scalar scalar) {
  if (scalar == Scalar::kBF16) {
    const auto wide = static_cast<std::uint32_t>(bits) << 16;
    float x;
    std::memcpy(&x, &wide, 4);
    return x;
  }
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float sign = bits >> 15 != 0 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
  return sign * std::ldexp(static_cast<float>(exponent == 0 ? fraction : fraction + 1024),
                           (exponent == 0 ? 1 : exponent) - 25);
}

// Random bits: all exponents, infinities and NaN among them; `ordinary`: numbers of size 1.
HostMatrix<Bits> random_bits(std::int64_t rows, std::int64_t columns, Scalar scalar,
                             bool ordinary) {
  auto m = make_matrix<Bits>(rows, columns);
  const unsigned size_one = scalar == Scalar::kF16 ? 0x3800 : 0x3f00;
  const unsigned kept = scalar == Scalar::kF16 ? 0x87ff : 0x80ff;
  for (Bits& x : m.storage) {
    const auto raw = static_cast<unsigned>(generator()());
    x = static_cast<Bits>(ordinary ? (raw & kept) | size_one : raw);
  }
  return m;
}

HostMatrix<float> in_f32(const HostMatrix<Bits>& m, Scalar scalar) {
  HostMatrix<float> wide{m.rows, m.columns, m.row_stride, m.column_stride, m.offset, {}};
  for (const Bits x : m.storage) wide.storage.push_back(value_of(x, scalar));
  return wide;
}

struct Factors {
  std::int64_t batches, m, k, n;
  bool repeats_b;
};

template <typename T>
std::vector<float> product(Algebra algebra, Scalar scalar, const Factors& f, const HostMatrix<T>& a,
                           const HostMatrix<T>& b) {
  const DeviceArray<T> da(a.storage), db(b.storage);
  const DeviceArray<float> dc(
      std::vector<float>(static_cast<std::size_t>(f.batches * f.m * f.n), 7));
  Matmul q;
  q.algebra = algebra, q.scalar = scalar;
  q.batches = f.batches, q.m = f.m, q.k = f.k, q.n = f.n;
  // Batches of a and b lie below each other.
  q.a = da.data() + a.offset, q.a_strides = {a.row_stride, a.column_stride, f.m * a.row_stride};
  q.b = db.data() + b.offset;
  q.b_strides = {b.row_stride, b.column_stride, f.repeats_b ? 0 : f.k * b.row_stride};
  q.c = dc.data(), q.c_strides = {f.n, 1, f.m * f.n};
  const DeviceArray<char> workspace(workspace_bytes(q));
  matmul(q, workspace.data(), nullptr);
  must(cudaDeviceSynchronize(), "matmul");
  return dc.host();
}

void test(Algebra algebra, Scalar scalar, const Factors& f, Layout layout, bool ordinary) {
  const auto a = laid_out(random_bits(f.batches * f.m, f.k, scalar, ordinary), layout);
  const auto b =
      laid_out(random_bits((f.repeats_b ? 1 : f.batches) * f.k, f.n, scalar, ordinary), layout);
  const auto found = product<Bits>(algebra, scalar, f, a, b);
  const auto right = product<float>(algebra, Scalar::kF32, f, in_f32(a, scalar), in_f32(b, scalar));
  bool same = true;
  for (std::size_t i = 0; i < right.size(); ++i) {
    same = same && (std::memcmp(&found[i], &right[i], 4) == 0 ||
                    (found[i] != found[i] && right[i] != right[i]));
  }
  expect(same, "algebra " + std::to_string(static_cast<int>(algebra)) + " scalar " +
                   std::to_string(static_cast<int>(scalar)) + " " + std::to_string(f.m) + "x" +
                   std::to_string(f.k) + "x" + std::to_string(f.n));
}

}  // namespace
}  // namespace assay::semiring::cuda::testing

int main(int argc, char**) {
  using namespace assay::semiring::cuda;
  using namespace assay::semiring::cuda::testing;
  using assay::semiring::Algebra;
  const bool is_smoke = argc > 1;
  std::vector<Factors> sizes = {{1, 1, 1, 1, false},
                                {1, 5, 0, 3, false},
                                {1, 37, 65, 41, false},
                                {3, 33, 70, 31, false},
                                {5, 130, 131, 129, true}};
  if (!is_smoke) sizes.push_back({2, 257, 300, 515, false});
  for (const Algebra algebra :
       {Algebra::kReal, Algebra::kLog, Algebra::kMaxPlus, Algebra::kMinPlus, Algebra::kEuclidean}) {
    for (const Scalar scalar : {Scalar::kF16, Scalar::kBF16}) {
      for (const auto& f : sizes) {
        test(algebra, scalar, f, Layout::kRows, true);
        test(algebra, scalar, f, Layout::kRows, false);
        if (f.batches > 1) continue;  // of columns, they would not lie below each other
        test(algebra, scalar, f, Layout::kColumns, true);
        test(algebra, scalar, f, Layout::kScattered, true);
        test(algebra, scalar, f, Layout::kReversed, true);
      }
    }
  }
  std::printf("%d checks, %d failures\n", checks.load(), failures.load());
  return failures != 0;
}
