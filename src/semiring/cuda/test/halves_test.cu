// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of f16 and bf16 are those of the same numbers in f32, bit for bit: every algebra,
// layouts, batches, special values. By cuBLAS, real ones are within f32's own bound of error. Exit
// status 1 if anything failed; `small`: the same, for the sanitizers.
#include <tuple>

#include "kernels/cuda/libraries.h"
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
                           const HostMatrix<T>& b,
                           const assay::kernels::cuda::Cublas* library = nullptr,
                           std::int64_t* refused = nullptr) {
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
  q.library = library;
  const DeviceArray<char> workspace(workspace_bytes(q));
  const DeviceArray<std::int64_t> count(std::vector<std::int64_t>{-1});
  matmul(q, workspace.data(), nullptr, count.data());
  must(cudaDeviceSynchronize(), "matmul");
  if (refused != nullptr) *refused = count.host().at(0);
  return dc.host();
}

// What the library's numbers are like: of size 1; any bits; ordinary ones and a single one that is
// huge, tiny or infinite, beyond what its sums can hold.
enum class Numbers { kOrdinary, kAny, kHuge, kTiny, kInfinite };

void test_library(const assay::kernels::cuda::Cublas& library, Scalar scalar, const Factors& f,
                  Layout layout, Numbers numbers) {
  const bool ordinary = numbers != Numbers::kAny;
  auto raw_a = random_bits(f.batches * f.m, f.k, scalar, ordinary);
  auto raw_b = random_bits((f.repeats_b ? 1 : f.batches) * f.k, f.n, scalar, ordinary);
  const auto put = [&](HostMatrix<Bits>& m, Bits bits) {
    m.storage[static_cast<std::size_t>(m.offset + m.row_stride * (m.rows - 1))] = bits;
  };
  if (numbers == Numbers::kHuge) put(raw_a, 0x7f00), put(raw_b, 0x7f10);
  if (numbers == Numbers::kTiny) put(raw_a, 0x0081), put(raw_b, 0x1234);
  if (numbers == Numbers::kInfinite) put(raw_b, 0xff80);
  const auto a = laid_out(raw_a, layout), b = laid_out(raw_b, layout);
  std::int64_t refused = -1;
  const auto found = product<Bits>(Algebra::kReal, scalar, f, a, b, &library, &refused);
  const bool must_refuse = scalar == Scalar::kBF16 && numbers != Numbers::kOrdinary;
  const auto wa = in_f32(a, scalar), wb = in_f32(b, scalar);
  const auto what = "library, scalar " + std::to_string(static_cast<int>(scalar)) + " " +
                    std::to_string(f.m) + "x" + std::to_string(f.k) + "x" + std::to_string(f.n) +
                    " numbers " + std::to_string(static_cast<int>(numbers)) + " layout " +
                    std::to_string(static_cast<int>(layout));
  expect(refused == (must_refuse ? f.batches * f.m * f.n : 0), what + ": refused");
  bool right = true;
  for (std::int64_t l = 0; l < f.batches; ++l) {
    for (std::int64_t i = 0; i < f.m; ++i) {
      for (std::int64_t j = 0; j < f.n; ++j) {
        double sum = 0, size = 0;  // of finite terms
        bool up = false, down = false, none = false;
        for (std::int64_t t = 0; t < f.k; ++t) {
          const float x = wa.at(l * f.m + i, t), y = wb.at((f.repeats_b ? 0 : l * f.k) + t, j);
          const double term = static_cast<double>(x) * static_cast<double>(y);
          if (std::isfinite(term)) {
            sum += term;
            size += std::abs(term);
          } else {
            none = none || std::isnan(term);
            up = up || term > 0;
            down = down || term < 0;
          }
        }
        const float is = found[static_cast<std::size_t>((l * f.m + i) * f.n + j)];
        if (none || (up && down)) {
          right = right && std::isnan(is);
        } else if (size > 3e38) {
          continue;  // sums that leave the range on their way depend on the order
        } else if (up || down) {
          right = right && is == (up ? INFINITY : -INFINITY);
        } else {
          right =
              right && std::abs(is - sum) <= static_cast<double>(f.k) * (0x1p-24 * size + 0x1p-149);
        }
      }
    }
  }
  expect(right, what);
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
  const assay::kernels::cuda::Cublas library(nullptr);
  std::vector<Factors> for_library = {{1, 97, 100, 99, false}, {3, 64, 100, 160, true}};
  if (!is_smoke) for_library.push_back({1, 40, 9001, 33, false});
  if (!is_smoke) for_library.push_back({2, 256, 264, 520, false});
  for (const auto& f : for_library) {
    for (const Scalar scalar : {Scalar::kF16, Scalar::kBF16}) {
      test_library(library, scalar, f, Layout::kRows, Numbers::kOrdinary);
      test_library(library, scalar, f, Layout::kRows, Numbers::kAny);
      if (scalar == Scalar::kBF16) {
        for (const Numbers numbers : {Numbers::kHuge, Numbers::kTiny, Numbers::kInfinite})
          test_library(library, scalar, f, Layout::kRows, numbers);
      }
      if (f.batches == 1) test_library(library, scalar, f, Layout::kColumns, Numbers::kOrdinary);
    }
  }
  std::printf("%d checks, %d failures\n", checks.load(), failures.load());
  return failures != 0;
}
