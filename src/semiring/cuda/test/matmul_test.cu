// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Products on the device against plain loops, at the sizes, strides and special values of the CPU's
// tests. Prints a line for each group; exit status 1 if anything failed.
//
//   semiring_cuda_matmul_test [small] [ALGEBRA…] [GROUP…]
//
// `small` is for the sanitizers: fewer and smaller. An algebra or a group of checks that is named
// leaves the others out, so that what takes long can be made in parts.
#include <set>
#include <tuple>

#include "semiring/cuda/test/device_test.h"

namespace assay::semiring::cuda::testing {
namespace {

constexpr Algebra kNumeric[] = {Algebra::kReal, Algebra::kLog, Algebra::kMaxPlus, Algebra::kMinPlus,
                                Algebra::kEuclidean};
constexpr const char* kNames[] = {"real", "log", "max_plus", "min_plus", "euclidean", "boolean"};
constexpr const char* kRoutes[] = {"auto", "half", "tf32", "plain"};
const char* name(Algebra a) { return kNames[static_cast<int>(a)]; }

constexpr const char* kGroups[] = {"sizes",        "strides",   "empty",   "specials", "scales",
                                   "certificates", "distances", "batches", "cut"};

bool is_smoke = false;
std::set<std::string> only;  // algebras and groups; none of a kind: all

template <std::size_t count>
bool is_wanted(const char* const (&kind)[count], const std::string& word) {
  const auto is_named = [](const char* other) { return only.contains(other); };
  return only.contains(word) || std::none_of(kind, kind + count, is_named);
}
bool is_wanted(Algebra a) { return is_wanted(kNames, name(a)); }
bool is_wanted(const char* group) { return is_wanted(kGroups, group); }

std::vector<Algebra> wanted(std::vector<Algebra> algebras = {kNumeric, kNumeric + 5}) {
  std::erase_if(algebras, [](Algebra a) { return !is_wanted(a); });
  return algebras;
}

std::string describe(Algebra a, Route r, std::int64_t m, std::int64_t k, std::int64_t n) {
  return std::string(name(a)) + " " + kRoutes[static_cast<int>(r)] + " " + std::to_string(m) + "x" +
         std::to_string(k) + "x" + std::to_string(n);
}

// The bound of real by parts holds from 32 terms on; below, nobody takes that route.
bool applies(Algebra a, Route r, std::int64_t k) {
  const bool is_split = r == Route::kHalf || r == Route::kTf32;
  return !(is_split && a == Algebra::kReal && k < 32);
}

template <typename T>
void sizes(const std::vector<Route>& routes) {
  std::vector<std::tuple<int, int, int>> list = {
      {1, 1, 1},      {2, 3, 1},      {3, 1, 2},      {1, 7, 33},     {5, 64, 15},
      {6, 5, 16},     {7, 11, 17},    {11, 13, 31},   {12, 8, 32},    {13, 9, 33},
      {25, 129, 49},  {37, 257, 67},  {4, 1, 64},     {24, 33, 96},   {64, 64, 64},
      {127, 63, 129}, {128, 64, 128}, {129, 65, 127}, {131, 257, 259}};
  if (!is_smoke)
    list.insert(list.end(), {{257, 1031, 263}, {513, 257, 129}, {64, 4096, 64}, {3, 5000, 5}});
  for (const Algebra algebra : wanted()) {
    for (const Route route : routes) {
      double worst = 0;
      for (const auto& [m, k, n] : list) {
        if (!applies(algebra, route, k)) continue;
        const auto a = random_matrix<T>(m, k), b = random_matrix<T>(k, n);
        const auto c = multiply(algebra, a, b, route);
        worst = std::max(worst, compare(algebra, a, b, c, describe(algebra, route, m, k, n)));
        expect(same_bits(c, multiply(algebra, a, b, route)),
               describe(algebra, route, m, k, n) + " twice");
      }
      std::printf("sizes %-9s %-5s %s: worst error %.3f of its bound\n", name(algebra),
                  kRoutes[static_cast<int>(route)], sizeof(T) == 4 ? "f32" : "f64", worst);
    }
  }
}

template <typename T>
void strides(const std::vector<Route>& routes) {
  for (const Algebra algebra : wanted()) {
    for (const Route route : routes) {
      const auto a = random_matrix<T>(135, 70), b = random_matrix<T>(70, 143);
      const auto c = multiply(algebra, a, b, route);
      for (const Layout left :
           {Layout::kRows, Layout::kColumns, Layout::kScattered, Layout::kReversed})
        for (const Layout right :
             {Layout::kRows, Layout::kColumns, Layout::kScattered, Layout::kReversed}) {
          const auto x = multiply(algebra, laid_out(a, left), laid_out(b, right), route);
          // The order of a row's norm depends on its strides; all else may not.
          if (algebra != Algebra::kEuclidean || route == Route::kPlain)
            expect(same_bits(x, c), describe(algebra, route, 135, 70, 143) + " strides");
          else
            compare(algebra, a, b, x, "strides " + describe(algebra, route, 135, 70, 143), 7);
        }
      for (const Layout out : {Layout::kColumns, Layout::kScattered, Layout::kReversed}) {
        bool gaps_kept = false;
        const auto x = multiply(algebra, a, b, route, out, nullptr, &gaps_kept);
        expect(same_bits(x, c) && gaps_kept,
               describe(algebra, route, 135, 70, 143) + " output strides");
      }
    }
  }
  std::printf("strides %s\n", sizeof(T) == 4 ? "f32" : "f64");
}

template <typename T>
void sprinkle(HostMatrix<T>& m, int rarity, const std::vector<T>& specials) {
  for (T& x : m.storage) {
    const auto raw = generator()();
    if (raw % static_cast<unsigned>(rarity) == 0) x = specials[(raw >> 32) % specials.size()];
  }
}

template <typename T>
void specials(const std::vector<Route>& routes) {
  using L = std::numeric_limits<T>;
  const T inf = L::infinity(), nan = L::quiet_NaN(), tiny = L::denorm_min();
  const std::vector<std::pair<int, std::vector<T>>> kinds = {
      {97, {nan, inf, -inf, tiny, -tiny}},
      {53, {inf, -inf}},
      {7, {-inf}},
      {7, {inf}},
      {401, {nan}},
      {3, {tiny, -tiny, L::min(), T{0}, -T{0}}}};
  for (const Algebra algebra : wanted())
    for (const Route route : routes)
      for (const auto& [rarity, values] : kinds)
        for (const auto& [m, k, n] : {std::tuple{26, 39, 35}, {133, 150, 140}, {1, 4, 3}}) {
          if (!applies(algebra, route, k)) continue;
          auto a = random_matrix<T>(m, k), b = random_matrix<T>(k, n);
          sprinkle(a, rarity, values);
          sprinkle(b, rarity, values);
          compare(
              algebra, a, b, multiply(algebra, a, b, route),
              "specials 1 in " + std::to_string(rarity) + " " + describe(algebra, route, m, k, n));
        }
  for (const T special : {inf, -inf, nan})
    for (const Algebra algebra : wanted())
      for (const Route route : routes) {
        auto a = random_matrix<T>(14, 41), b = random_matrix<T>(41, 37);
        for (int l = 0; l < 41; ++l) a.at(3, l) = special, b.at(l, 35) = special;
        compare(algebra, a, b, multiply(algebra, a, b, route),
                "rows of specials " + describe(algebra, route, 14, 41, 37));
      }
  std::printf("NaN, infinities, denormals %s\n", sizeof(T) == 4 ? "f32" : "f64");
}

// Factors whose numbers are large, small, and both in one row.
void scales(const std::vector<Route>& routes) {
  const int m = 140, k = 97, n = 133;
  for (const Algebra algebra :
       wanted({Algebra::kReal, Algebra::kEuclidean, Algebra::kMaxPlus, Algebra::kLog}))
    for (const Route route : routes)
      for (const double scale :
           {1e-43, 1e-37, 1e-30, 1e-25, 1e-20, 1e-18, 1e-10, 1e10, 1e18, 1e20, 1e25, 1e30, 1e37})
        for (const int kind : {0, 1, 2, 3}) {
          auto a = random_matrix<float>(m, k), b = random_matrix<float>(k, n);
          for (int i = 0; i < m; ++i)
            for (int l = 0; l < k; ++l) {
              const double f = kind == 0   ? scale
                               : kind == 1 ? (l % 2 ? scale : 1)
                               : kind == 2 ? (i % 2 ? scale : 1 / scale)
                                           : (l % 3 ? scale : 1);
              a.at(i, l) = static_cast<float>(a.at(i, l) * f);
            }
          for (int l = 0; l < k; ++l)
            for (int j = 0; j < n; ++j) {
              const double f = kind == 0   ? (algebra == Algebra::kReal ? 1 : scale)
                               : kind == 1 ? (l % 2 ? 1 / scale : 1)
                               : kind == 2 ? 1
                                           : (l % 3 ? 1 : scale);
              b.at(l, j) = static_cast<float>(b.at(l, j) * f);
            }
          compare(algebra, a, b, multiply(algebra, a, b, route),
                  "scale " + std::to_string(std::log10(scale)) + " kind " + std::to_string(kind) +
                      " " + describe(algebra, route, m, k, n),
                  5);
        }
  std::printf("scales\n");
}

constexpr int kM = 300, kK = 140, kN = 270;  // of products whose certificates are counted
std::int64_t refused = -1;

std::int64_t count(Algebra algebra, const HostMatrix<float>& a, const HostMatrix<float>& b) {
  const auto c = multiply(algebra, a, b, Route::kAuto, Layout::kRows, &refused);
  compare(algebra, a, b, c, std::string("certificate ") + name(algebra), 3);
  return refused;
}
void tell(const char* what) {
  std::printf("%s: %lld of %d refused\n", what, static_cast<long long>(refused), kM * kN);
}

void log_certificates() {
  // The largest elements of a row meet small ones.
  auto a = random_matrix<float>(kM, kK), b = random_matrix<float>(kK, kN);
  a.at(5, 7) = 150;
  for (int j = 0; j < kN; ++j) b.at(7, j) = -150;
  expect(count(Algebra::kLog, a, b) > 0 && refused < kM * kN, "log: some are refused");
  tell("log, one row of maxima that do not meet");
  for (int l = 0; l < kK; ++l) {
    for (int i = 0; i < kM; ++i) a.at(i, l) = static_cast<float>(20 * l);
    for (int j = 0; j < kN; ++j) b.at(l, j) = static_cast<float>(-20 * l);
  }
  expect(count(Algebra::kLog, a, b) == kM * kN, "log: all are refused on opposite slopes");
  for (int far = 0; far < 130; far += 3) {  // from certain to refused
    a = random_matrix<float>(kM, kK), b = random_matrix<float>(kK, kN);
    for (int i = 0; i < kM; ++i) a.at(i, 3) = static_cast<float>(far);
    for (int j = 0; j < kN; ++j) b.at(3, j) = static_cast<float>(-far);
    count(Algebra::kLog, a, b);
  }
  a = random_matrix<float>(kM, 512, -50, 50), b = random_matrix<float>(512, kN, -50, 50);
  sprinkle(a, 20, {-INFINITY});
  sprinkle(b, 20, {-INFINITY});
  count(Algebra::kLog, a, b);
  tell("log, spread over 200 nats with holes");
}

// Near duplicates; two clusters at every distance.
void euclidean_certificates() {
  auto a = random_matrix<float>(kM, kK), b = random_matrix<float>(kK, kN);
  for (int l = 0; l < kK; ++l) b.at(l, 9) = std::nextafter(a.at(200, l), 0.0f);
  expect(count(Algebra::kEuclidean, a, b) > 0 && refused < kM * kN,
         "euclidean: near duplicates are refused");
  tell("euclidean, one near duplicate");
  for (double spread = 1e-6; spread < 10; spread *= 3) {
    a = random_matrix<float>(kM, kK, -spread, spread),
    b = random_matrix<float>(kK, kN, -spread, spread);
    for (int l = 0; l < kK; ++l) {
      for (int i = 0; i < kM; i += 2) a.at(i, l) += 1;
      for (int j = 0; j < kN; j += 2) b.at(l, j) += 1;
    }
    count(Algebra::kEuclidean, a, b);
  }
}

void certificates() {
  for (const Algebra algebra : wanted()) {
    const auto a = random_matrix<float>(kM, kK), b = random_matrix<float>(kK, kN);
    expect(count(algebra, a, b) == 0,
           std::string("nothing is refused on ordinary inputs: ") + name(algebra));
  }
  if (is_wanted(Algebra::kLog)) log_certificates();
  if (is_wanted(Algebra::kEuclidean)) euclidean_certificates();
  // max_plus: mixed signs refuse, all negative do not.
  auto a = random_matrix<float>(kM, 33, -1, 1), b = random_matrix<float>(33, kN, -1, 1);
  for (int l = 0; l < 33; ++l) a.at(4, l) -= 10;
  if (is_wanted(Algebra::kMaxPlus))
    expect(count(Algebra::kMaxPlus, a, b) > 0, "max_plus: a row of negative results is refused");
  a = random_matrix<float>(kM, kK, -9, -1), b = random_matrix<float>(kK, kN, -9, -1);
  for (const Algebra algebra : wanted({Algebra::kMaxPlus, Algebra::kMinPlus}))
    expect(count(algebra, a, b) == 0, std::string(name(algebra)) + ": all negative is not refused");
  std::printf("certificates\n");
}

// Batches with a repeated factor equal single products to the last bit.
void batches() {
  for (const Algebra algebra : wanted())
    for (const auto& [count, m, k, n] :
         {std::tuple{7, 130, 131, 132}, {29, 20, 31, 33}, {3, 257, 70, 129}}) {
      const auto a = random_matrix<float>(count * m, k), b = random_matrix<float>(k, n);
      const DeviceArray<float> da(a.storage), db(b.storage),
          dc(static_cast<std::size_t>(count * m * n)), ds(static_cast<std::size_t>(m * n));
      Matmul q;
      q.algebra = algebra, q.scalar = Scalar::kF32, q.batches = count, q.m = m, q.k = k, q.n = n;
      if (m == 20)
        q.route = Route::kHalf;
      else
        q.route = Route::kAuto;
      if (algebra == Algebra::kReal && k < 32) q.route = Route::kPlain;
      q.a = da.data(), q.a_strides = {k, 1, m * k};
      q.b = db.data(), q.b_strides = {n, 1, 0};
      q.c = dc.data(), q.c_strides = {n, 1, m * n};
      const DeviceArray<char> workspace(workspace_bytes(q));
      matmul(q, workspace.data(), nullptr);
      const auto all = dc.host();
      q.batches = 1, q.c = ds.data();
      for (int i = 0; i < count; ++i) {
        q.a = da.data() + i * m * k;
        matmul(q, workspace.data(), nullptr);
        const auto one = ds.host();
        expect(std::memcmp(one.data(), all.data() + static_cast<std::size_t>(i) * m * n,
                           one.size() * 4) == 0,
               "batch " + std::to_string(i) + " " + describe(algebra, q.route, m, k, n));
      }
    }
  std::printf("batches\n");
}

// As many tiles as leave multiprocessors idle in the last round: they are cut along k, with whole
// rounds before them and without, and the parts make the same result as the plain loop; where time
// is short, as some of its entries.
void cut_tiles() {
  std::vector<std::tuple<int, int, int>> list = {{2557, 545, 1275}};
  if (!is_smoke) list.insert(list.end(), {{2557, 2000, 2043}, {5115, 801, 1150}});
  for (const auto& [m, k, n] : list) {
    auto a = random_matrix<float>(m, k), b = random_matrix<float>(k, n);
    const auto check = [&](Algebra algebra, const std::string& what) {
      if (!is_wanted(algebra)) return;
      const auto c = multiply(algebra, a, b);
      const auto told = "cut tiles, " + what + " " + describe(algebra, Route::kAuto, m, k, n);
      compare(algebra, a, b, c, told, 1001);
      if (!is_smoke) expect(same_bits(c, multiply(algebra, a, b, Route::kPlain)), told);
    };
    check(Algebra::kMaxPlus, "of both signs");
    check(Algebra::kMinPlus, "of both signs");
    for (float& x : a.storage) x = -std::fabs(x) - 1;
    for (float& x : b.storage) x = -std::fabs(x) - 1;
    check(Algebra::kMaxPlus, "all negative");
    for (int l = 0; l < k; ++l) b.at(l, 3) += 50;
    sprinkle(a, 100'003, {std::numeric_limits<float>::quiet_NaN(), INFINITY, -INFINITY});
    check(Algebra::kMaxPlus, "refused");
  }
  std::printf("cut tiles\n");
}

void empty_products() {
  const double inf = INFINITY, zeros[] = {0, -inf, -inf, inf, 0};
  for (int i = 0; i < 5; ++i) {
    if (!is_wanted(kNumeric[i])) continue;
    const auto c = multiply(kNumeric[i], make_matrix<float>(2, 0), make_matrix<float>(0, 3));
    for (const float x : c.storage) expect(x == static_cast<float>(zeros[i]), "no terms");
    multiply(kNumeric[i], make_matrix<float>(0, 3), make_matrix<float>(3, 2));
    multiply(kNumeric[i], make_matrix<double>(2, 3), make_matrix<double>(3, 0));
  }
  std::printf("empty\n");
}

void boolean_sizes() {
  for (const auto& [m, k, n] : {std::tuple{1, 1, 1}, {5, 31, 7}, {65, 33, 66}, {70, 1000, 129}})
    for (const Layout layout : {Layout::kRows, Layout::kColumns, Layout::kScattered}) {
      auto a = make_matrix<unsigned char>(m, k, layout),
           b = make_matrix<unsigned char>(k, n, layout);
      for (auto& x : a.storage) x = generator()() % static_cast<unsigned>(1 + k / 4) == 0;
      for (auto& x : b.storage) x = generator()() % 3 == 0;
      const auto c = multiply(Algebra::kBoolean, a, b);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          bool any = false;
          for (int l = 0; l < k; ++l) any = any || (a.at(i, l) && b.at(l, j));
          expect(c.at(i, j) == any, "boolean");
        }
    }
  std::printf("sizes boolean\n");
}

void distances_in_f64() {
  for (const double scale : {1e-320, 1e-300, 1e-170, 1e-150, 1e150, 1e160, 1e300, 1e307}) {
    auto a = random_matrix<double>(13, 37), b = random_matrix<double>(37, 34);
    for (double& x : a.storage) x *= scale;
    for (double& x : b.storage) x *= scale;
    for (int l = 0; l < 37; ++l) b.at(l, 3) = l % 3 ? a.at(3, l) : std::nextafter(a.at(3, l), 0.0);
    compare(Algebra::kEuclidean, a, b, multiply(Algebra::kEuclidean, a, b), "f64 distances");
  }
  std::printf("f64 distances\n");
}

}  // namespace
}  // namespace assay::semiring::cuda::testing

int main(int argc, char** argv) {
  using namespace assay::semiring::cuda::testing;
  using assay::semiring::Algebra;
  using assay::semiring::cuda::Route;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  only = {argv + 1, argv + argc};
  is_smoke = only.erase("small") > 0;
  for (const std::string& word : only) {
    const auto is_it = [&](const char* known) { return word == known; };
    if (std::any_of(std::begin(kNames), std::end(kNames), is_it)) continue;
    if (std::any_of(std::begin(kGroups), std::end(kGroups), is_it)) continue;
    std::fprintf(stderr, "neither an algebra nor a group of checks: '%s'\n", word.c_str());
    return 2;
  }
  const std::vector<Route> all = {Route::kAuto, Route::kHalf, Route::kTf32, Route::kPlain};
  if (is_wanted("sizes")) {
    sizes<float>(all);
    sizes<double>({Route::kAuto});
    if (is_wanted(Algebra::kBoolean)) boolean_sizes();
  }
  if (is_wanted("strides")) {
    strides<float>(is_smoke ? std::vector<Route>{Route::kAuto} : all);
    if (!is_smoke) strides<double>({Route::kAuto});
  }
  if (is_wanted("empty")) empty_products();
  if (is_wanted("specials") && !is_smoke) {
    specials<float>(all);
    specials<double>({Route::kAuto});
  }
  if (is_wanted("scales") && !is_smoke) scales(all);
  if (is_wanted("certificates") && !is_smoke) certificates();
  if (is_wanted("distances") && is_wanted(Algebra::kEuclidean) && !is_smoke) distances_in_f64();
  if (is_wanted("batches")) batches();
  if (is_wanted("cut")) cut_tiles();
  std::printf("%d checks, %d failures\n", checks.load(), failures.load());
  return failures != 0;
}
