// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Whatever team OpenMP gives, the answer is the one of one thread, to the last bit.
//
// A region may get fewer threads than it asks for: inside another region, where the program lets
// OpenMP choose, under OMP_THREAD_LIMIT (CMakeLists.txt runs these tests again under limits of 1
// and 3), or when many threads of the program ask at once.
#include <gtest/gtest.h>
#include <omp.h>

#include <cstdlib>
#include <functional>
#include <thread>

#include "semiring/ell.h"
#include "semiring/matmul.h"
#include "semiring/test_tensors.h"

namespace assay::semiring {
namespace {

// A computation that is large enough to ask for several threads.
struct Work {
  std::string name;
  std::function<Tensor(int threads, std::uint64_t seed)> run;
};

Work product(Algebra algebra, DType dtype) {
  const auto run = [=](int threads, std::uint64_t seed) {
    // Beyond the cutoff for threads; no extent is a multiple of a tile's.
    const Tensor a = random_tensor(dtype, Shape{187, 311}, seed);
    const Tensor b = random_tensor(dtype, Shape{311, 205}, seed + 1);
    Tensor c(working_dtype(dtype), Shape{187, 205});
    // Caches so small that there are several blocks of terms, of rows and of columns.
    const kernels::CacheSizes caches{.l1 = 6 << 10, .l2 = 24 << 10, .packed = 48 << 10};
    matmul(algebra, a.view(), b.view(), c.mutable_view(),
           {.backend = Backend::kSimd, .simd = {.threads = threads, .caches = caches}});
    return c;
  };
  return {std::string(name_of(algebra)) + ' ' + std::string(name_of(dtype)), run};
}

Work edges(std::string name, EdgeReduce reduce, std::int64_t features, std::int64_t outputs) {
  return {std::move(name), [=](int threads, std::uint64_t seed) {
            constexpr std::int64_t kRows = 700, kSlots = 13;
            const Tensor v = random_tensor(DType::kF32, Shape{kRows, kSlots}, seed);
            const Tensor idx = random_indices(kRows, kSlots, kRows, seed + 1);
            const Tensor x = random_tensor(DType::kF32, Shape{kRows, features}, seed + 2);
            const Tensor w = random_tensor(DType::kF32, Shape{outputs, features}, seed + 3);
            Tensor out(DType::kF32, Shape{kRows, outputs});
            ell_edge_aggregate(reduce, v.view(), idx.view(), x.view(), w.view(), out.mutable_view(),
                               {.backend = Backend::kSimd, .simd = {.threads = threads}});
            return out;
          }};
}

Work slots(Algebra algebra) {
  return {"slots " + std::string(name_of(algebra)), [=](int threads, std::uint64_t seed) {
            constexpr std::int64_t kRows = 700, kSlots = 13, kFeatures = 51;
            const Tensor v = random_tensor(DType::kF64, Shape{kRows, kSlots}, seed);
            const Tensor idx = random_indices(kRows, kSlots, kRows, seed + 1);
            const Tensor x = random_tensor(DType::kF64, Shape{kRows, kFeatures}, seed + 2);
            Tensor out(DType::kF64, Shape{kRows, kFeatures});
            ell_matmul(algebra, v.view(), idx.view(), x.view(), out.mutable_view(),
                       {.backend = Backend::kSimd, .simd = {.threads = threads}});
            return out;
          }};
}

std::vector<Work> all_work() {
  return {product(Algebra::kReal, DType::kF32),
          product(Algebra::kReal, DType::kF64),
          product(Algebra::kLog, DType::kF32),
          product(Algebra::kEuclidean, DType::kF64),
          product(Algebra::kMaxPlus, DType::kF32),
          product(Algebra::kMinPlus, DType::kF64),
          product(Algebra::kBoolean, DType::kBool),
          edges("edges, the sum first", EdgeReduce::kSum, 51, 64),
          edges("edges, the weights first", EdgeReduce::kSum, 64, 51),
          edges("edges max", EdgeReduce::kMax, 51, 64),
          slots(Algebra::kReal),
          slots(Algebra::kLog)};
}

// Memory that a thread keeps between calls may still hold the right panels: other ones take their
// place first.
Tensor run_after_another(const Work& work, int threads, std::uint64_t seed) {
  work.run(1, seed + 1000);
  return work.run(threads, seed);
}

TEST(AnyTeam, InsideAnotherRegion) {
  for (const Work& work : all_work()) {
    const Tensor expected = work.run(1, 7);
    bool same[2] = {};
#pragma omp parallel num_threads(2)
    {
      const bool equal = bitwise_equal(run_after_another(work, 3, 7).view(), expected.view());
      same[omp_get_thread_num()] = equal;
      if (omp_get_num_threads() == 1) same[1] = equal;  // under a limit of one
    }
    EXPECT_TRUE(same[0] && same[1]) << work.name;
  }
}

TEST(AnyTeam, OfTheSystemsChoice) {
  omp_set_dynamic(1);
  for (const Work& work : all_work()) {
    const Tensor expected = work.run(1, 7);
    for (const int threads : {2, 3, 5, 64}) {
      EXPECT_TRUE(bitwise_equal(run_after_another(work, threads, 7).view(), expected.view()))
          << work.name << ' ' << threads << " asked for";
    }
  }
  omp_set_dynamic(0);
}

TEST(AnyTeam, OfTheSizeAskedFor) {
  const char* limit = std::getenv("OMP_THREAD_LIMIT");
  if (limit != nullptr) {
    ASSERT_EQ(omp_get_thread_limit(), std::atoi(limit));
  }
  for (const Work& work : all_work()) {
    const Tensor expected = work.run(1, 7);
    for (const int threads : {2, 3, 4, 7}) {
      EXPECT_TRUE(bitwise_equal(run_after_another(work, threads, 7).view(), expected.view()))
          << work.name << ' ' << threads << " asked for";
    }
  }
}

TEST(AnyTeam, OfEightThreadsAtOnce) {
  for (const Work& work : all_work()) {
    constexpr std::size_t kCallers = 8;
    std::vector<Tensor> expected;
    for (std::size_t i = 0; i < kCallers; ++i) expected.push_back(work.run(1, 10 * i));
    bool same[kCallers] = {};
    std::vector<std::thread> callers;
    for (std::size_t i = 0; i < kCallers; ++i) {
      callers.emplace_back([&, i] {
        same[i] = bitwise_equal(run_after_another(work, 2, 10 * i).view(), expected[i].view());
      });
    }
    for (std::thread& caller : callers) caller.join();
    for (std::size_t i = 0; i < kCallers; ++i) EXPECT_TRUE(same[i]) << work.name << ' ' << i;
  }
}

}  // namespace
}  // namespace assay::semiring
