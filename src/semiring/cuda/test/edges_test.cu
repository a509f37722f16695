// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Edge aggregation on the device against plain loops in long double. Exit status 1 if anything
// failed; `small`: every kernel at few sizes, for the sanitizers.
#include "semiring/cuda/edges.h"
#include "semiring/cuda/test/device_test.h"

namespace assay::semiring::cuda::testing {
namespace {

template <typename T>
double check_edges(bool is_max, int rows, int slots, int sources, int features, int outputs,
                   bool has_specials) {
  auto v = random_matrix<T>(rows, slots, has_specials ? -1 : 0, 1);
  auto x = random_matrix<T>(sources, features);
  auto w = random_matrix<T>(outputs, features);
  std::vector<std::int32_t> idx(static_cast<std::size_t>(rows * slots));
  for (std::size_t i = 0; i < idx.size(); ++i) {
    const auto raw = generator()();
    const bool absent = static_cast<int>(i) < slots || raw % 3 == 0;
    idx[i] = absent ? -1 : static_cast<std::int32_t>((raw >> 8) % static_cast<unsigned>(sources));
    if (absent) v.storage[i] = static_cast<T>(NAN);  // never looked at
  }
  if (has_specials) {
    for (std::size_t i = 5; i < x.storage.size(); i += 211)
      x.storage[i] = i % 2 ? INFINITY : -INFINITY;
    for (std::size_t i = 7; i < x.storage.size(); i += 977) x.storage[i] = NAN;
    w.storage[w.storage.size() / 2] = 0;
  }
  const DeviceArray<T> dv(v.storage), dx(x.storage), dw(w.storage),
      out(std::vector<T>(static_cast<std::size_t>(rows * outputs), T(77)));
  const DeviceArray<std::int32_t> di(idx);
  Edges e;
  e.is_max = is_max, e.scalar = kScalarOf<T>;
  e.rows = rows, e.slots = slots, e.sources = sources, e.features = features, e.outputs = outputs;
  e.v = dv.data(), e.x = dx.data(), e.w = dw.data(), e.idx = di.data(), e.out = out.data();
  e.v_strides = e.idx_strides = {slots, 1};
  e.x_strides = e.w_strides = {features, 1};
  e.out_strides = {outputs, 1};
  const DeviceArray<char> workspace(workspace_bytes(e));
  aggregate_edges(e, workspace.data(), nullptr);
  must(cudaDeviceSynchronize(), "aggregate_edges");
  const auto got = out.host();
  const long double u = sizeof(T) == 4 ? 0x1p-24L : 0x1p-53L;
  std::vector<long double> products(static_cast<std::size_t>(sources * outputs)),
      sizes(products.size());
  for (int i = 0; i < sources; ++i)
    for (int o = 0; o < outputs; ++o)
      for (int f = 0; f < features; ++f) {
        const long double product = static_cast<long double>(w.at(o, f)) * x.at(i, f);
        products[static_cast<std::size_t>(i * outputs + o)] += product;
        sizes[static_cast<std::size_t>(i * outputs + o)] += std::fabs(product);
      }
  double worst = 0;
  for (int i = 0; i < rows; ++i)
    for (int o = 0; o < outputs; ++o) {
      long double result = is_max ? -INFINITY : 0, size = 0;
      bool has_nan = false;
      for (int s = 0; s < slots; ++s) {
        const int source = idx[static_cast<std::size_t>(i * slots + s)];
        if (source < 0) continue;
        const auto at = static_cast<std::size_t>(source * outputs + o);
        const long double product = products[at], absolute = sizes[at];
        const long double term = v.at(i, s) * product;
        has_nan = has_nan || term != term;
        size += std::fabs(v.at(i, s)) * absolute;
        result = is_max ? std::max(result, term) : result + term;
      }
      if (has_nan) result = NAN;
      const long double actual = got[static_cast<std::size_t>(i * outputs + o)];
      const long double bound = 1.01L * (features + slots + 2) * u * size;
      const bool same = result != result ? actual != actual : actual == result;
      const bool close = std::isfinite(result) && std::fabs(actual - result) <= bound;
      if (close && bound > 0)
        worst = std::max(worst, static_cast<double>(std::fabs(actual - result) / bound));
      expect(same || close, "edges " + std::to_string(is_max) + " d " + std::to_string(features) +
                                "->" + std::to_string(outputs) + " slots " + std::to_string(slots) +
                                " at " + std::to_string(i) + "," + std::to_string(o) + ": " +
                                std::to_string(static_cast<double>(actual)) + " instead of " +
                                std::to_string(static_cast<double>(result)));
    }
  return worst;
}

// The first index that is no source is found, wherever others are.
void check_wrong_indices() {
  const std::int64_t rows = 700, slots = 13, sources = 90;
  for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{57}, rows * slots - 1}) {
    std::vector<std::int32_t> idx(static_cast<std::size_t>(rows * slots));
    for (std::size_t i = 0; i < idx.size(); ++i)
      idx[i] = static_cast<std::int32_t>(i % static_cast<std::size_t>(sources + 1)) - 1;
    if (wrong >= 0) {
      idx.back() = 90;
      idx[static_cast<std::size_t>(wrong)] = wrong % 2 == 0 ? -2 : 90;
    }
    const DeviceArray<std::int32_t> di(idx);
    const DeviceArray<std::int64_t> first(std::vector<std::int64_t>{77});
    Edges e;
    e.rows = rows, e.slots = slots, e.sources = sources;
    e.idx = di.data(), e.idx_strides = {slots, 1};
    find_wrong_index(e, first.data(), nullptr);
    must(cudaDeviceSynchronize(), "find_wrong_index");
    expect(first.host()[0] == wrong, "the first wrong index: " + std::to_string(first.host()[0]) +
                                         " instead of " + std::to_string(wrong));
  }
}

}  // namespace
}  // namespace assay::semiring::cuda::testing

int main(int argc, char**) {
  using namespace assay::semiring::cuda::testing;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const bool small = argc > 1;
  const auto of_slots = small ? std::vector{5, 17} : std::vector{1, 5, 16, 17, 40};
  const auto of_rows = small ? std::vector{15, 131} : std::vector{1, 15, 131, 1000};
  for (const bool is_max : {false, true})
    for (const bool has_specials : {false, true}) {
      double worst = 0;
      for (const int slots : of_slots)
        for (const int rows : of_rows)
          worst =
              std::max(worst, check_edges<float>(is_max, rows, slots, 300, 64, 64, has_specials));
      worst = std::max(worst, check_edges<float>(is_max, 70, 16, 90, 8, 8, has_specials));
      worst = std::max(worst, check_edges<float>(is_max, 70, 9, 90, 33, 17, has_specials));
      if (!small)
        worst = std::max(worst, check_edges<float>(is_max, 70, 16, 150, 256, 256, has_specials));
      worst = std::max(worst, check_edges<double>(is_max, 70, 16, 90, 64, 64, has_specials));
      std::printf("edges %s%s: worst error %.3f of its bound\n", is_max ? "max" : "sum",
                  has_specials ? " with specials" : "", worst);
    }
  check_wrong_indices();
  std::printf("%d checks, %d failures\n", checks.load(), failures.load());
  return failures != 0;
}
