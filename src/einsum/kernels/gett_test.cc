// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/kernels/gett.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <complex>
#include <thread>

#include "base/philox.h"

namespace assay::einsum {
namespace {

// A product of two matrices, (m,k)·(k,n), all row-major: the right panels lie as they are packed.
template <typename T>
std::vector<T> multiply(int threads, std::uint64_t seed) {
  constexpr std::int64_t kM = 187, kK = 311, kN = 205;
  std::vector<T> a(kM * kK), b(kK * kN), c(kM * kN);
  const Philox random(seed);
  std::uint64_t at = 0;
  for (auto* factor : {&a, &b}) {
    for (T& x : *factor) {
      const auto value = static_cast<float>(unit_interval(random[at++]) - 0.5);
      x = T(value);
    }
  }
  GettForm form;
  form.m = {{.extent = kM, .a = kK, .c = kN}};
  form.n = {{.extent = kN, .b = 1, .c = 1}};
  form.k = {{.extent = kK, .a = 1, .b = kN}};
  contract_gett<T>(form, a.data(), b.data(), c.data(), T(1), T(0), threads);
  return c;
}

// Memory that a thread keeps between calls may still hold the right panels: other ones take their
// place first.
template <typename T>
std::vector<T> multiply_after_another(int threads, std::uint64_t seed) {
  multiply<T>(1, seed + 1000);
  return multiply<T>(threads, seed);
}

template <typename T>
void expect_one_answer_of_any_team() {
  const std::vector<T> expected = multiply<T>(1, 7);
  for (const int threads : {2, 3, 5}) {
    EXPECT_EQ(multiply_after_another<T>(threads, 7), expected) << threads << " threads";
  }
  omp_set_dynamic(1);
  EXPECT_EQ(multiply_after_another<T>(64, 7), expected) << "a team of the system's choice";
  omp_set_dynamic(0);
  constexpr std::size_t kCallers = 8;
  std::vector<T> nested[2], at_once[kCallers];
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 2; ++i) nested[i] = multiply_after_another<T>(3, 7);
  for (const auto& c : nested) EXPECT_EQ(c, expected) << "inside another region";
  std::vector<std::thread> callers;
  for (auto& c : at_once) callers.emplace_back([&c] { c = multiply_after_another<T>(2, 7); });
  for (std::thread& caller : callers) caller.join();
  for (const auto& c : at_once) EXPECT_EQ(c, expected) << "eight callers at once";
}

TEST(Gett, OneAnswerOfAnyTeam) {
  expect_one_answer_of_any_team<float>();
  expect_one_answer_of_any_team<double>();
  expect_one_answer_of_any_team<std::complex<float>>();
}

}  // namespace
}  // namespace assay::einsum
