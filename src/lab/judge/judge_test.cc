// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/judge/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/file.h"
#include "lab/judge/fidelity.h"
#include "tensor/safetensors.h"
#include "tensor/tensor.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Expectation expectation(std::vector<double> values) {
  Expectation e;
  e.output = "c";
  e.dtype = "f32";
  e.shape = {2, static_cast<std::int64_t>(values.size()) / 2};
  e.rows = {0, 1};
  e.values = std::move(values);
  e.rtol = 1e-3;
  e.atol = 1e-6;
  e.oracle = "by hand";
  return e;
}

class JudgeTest : public testing::Test {
 protected:
  void write(const std::vector<float>& values, const std::string& name = "c") {
    Tensor t(DType::kF32, Shape({2, static_cast<std::int64_t>(values.size()) / 2}));
    std::memcpy(t.as<float>().data(), values.data(), values.size() * sizeof(float));
    write_safetensors(path_, {{name, t.view()}});
  }
  Judgement verdict(const std::vector<double>& expected,
                    const std::vector<double>& earlier = {9, 9, 9, 9}) {
    const std::vector<Expectation> other = {expectation(earlier)};
    return judge({expectation(expected)}, path_,
                 [&](int) -> const std::vector<Expectation>& { return other; });
  }
  TemporaryDirectory dir_;
  std::string path_ = dir_.path() + "/output.safetensors";
};

TEST_F(JudgeTest, PassesWithinTolerance) {
  write({1.0005f, 2, 0, -4});
  const auto v = verdict({1, 2, 0, -4});
  EXPECT_EQ(v.status, Status::kOk);
  EXPECT_EQ(v.fidelity.status, "pass");
  EXPECT_NEAR(*v.fidelity.error, 0.0005 / 0.001001, 1e-3);
  EXPECT_EQ(v.fidelity.checked->elements, 4);
}

TEST_F(JudgeTest, NamesTheWorstElement) {
  write({1, 2, 3, 5});
  const auto v = verdict({1, 2, 3, 4});
  EXPECT_EQ(v.status, Status::kWrongResult);
  EXPECT_EQ(v.code, "value");
  EXPECT_THAT(v.message, HasSubstr("element 3 is 5 instead of 4"));
}

// Each element is within its tolerance, all of them together are not what rounding does.
TEST_F(JudgeTest, ManySmallErrorsAreALargeOne) {
  write({1.0005f, 2.0005f, 3.0005f, 4.0005f});
  auto expected = expectation({1, 2, 3, 4});
  const auto judged = [&](double rms) {
    expected.rms = rms;
    return judge({expected}, path_, [&](int) -> const std::vector<Expectation>& {
      static const std::vector<Expectation> other = {expectation({9, 9, 9, 9})};
      return other;
    });
  };
  EXPECT_EQ(judged(0).status, Status::kOk);
  EXPECT_EQ(judged(6e-4).status, Status::kOk);
  EXPECT_NEAR(*judged(6e-4).fidelity.error, 5.0 / 6, 1e-3);
  const auto wrong = judged(1e-4);
  EXPECT_EQ(wrong.status, Status::kWrongResult);
  EXPECT_THAT(wrong.message, HasSubstr("root mean square of the errors is 0.0005: 5 times"));
  write({1, std::nanf(""), 3, 4});
  EXPECT_EQ(judged(1e-4).code, "nan");
}

TEST_F(JudgeTest, NanWhereNoneBelongs) {
  write({1, std::nanf(""), 3, 4});
  const auto v = verdict({1, 2, 3, 4});
  EXPECT_EQ(v.code, "nan");
  EXPECT_EQ(v.fidelity.nan_count, 1);
  EXPECT_EQ(v.fidelity.error, INFINITY);
}

TEST_F(JudgeTest, SpecialValuesEqualThemselvesOnly) {
  write({std::nanf(""), INFINITY, -INFINITY, 4});
  EXPECT_EQ(verdict({kNan, kInf, -kInf, 4}).status, Status::kOk);
  EXPECT_EQ(verdict({1, kInf, -kInf, 4}).code, "nan");
  EXPECT_EQ(verdict({kNan, -kInf, -kInf, 4}).code, "value");
  EXPECT_EQ(verdict({kNan, kInf, -1, 4}).code, "value");
}

TEST_F(JudgeTest, ARememberedAnswerIsStale) {
  write({5, 6, 7, 8});
  EXPECT_EQ(verdict({1, 2, 3, 4}, {5, 6, 7, 8}).code, "stale");
}

TEST_F(JudgeTest, AnUnwrittenOutputIsStale) {
  float poison;
  std::memset(&poison, 0xFF, sizeof poison);
  write({1, 2, 3, poison});
  EXPECT_EQ(verdict({1, 2, 3, 4}).code, "stale");
}

TEST_F(JudgeTest, WrongFormIsAWrongResult) {
  write({1, 2, 3, 4, 5, 6});
  EXPECT_THAT(verdict({1, 2, 3, 4}).message, HasSubstr("is f32 2x3, expected f32 2x2"));
  write({1, 2, 3, 4}, "d");
  EXPECT_EQ(verdict({1, 2, 3, 4}).code, "shape");
  Tensor t(DType::kF64, Shape({2, 2}));
  write_safetensors(path_, {{"c", t.view()}});
  EXPECT_EQ(verdict({0, 0, 0, 0}).code, "shape");
}

TEST_F(JudgeTest, GarbageIsAFailureNotACrash) {
  write_file_atomically(path_, "garbage");
  EXPECT_EQ(verdict({1, 2, 3, 4}).status, Status::kFailed);
  EXPECT_EQ(verdict({1, 2, 3, 4}).code, "no_output");
}

TEST_F(JudgeTest, OnlyTheSampledRowsAreLookedAt) {
  write({1, 2, 99, 99});
  auto e = expectation({1, 2, 0, 0});
  e.rows = {0};
  e.values = {1, 2};
  e.sample_seed = 5;
  const auto v = judge({e}, path_, [](int) -> const std::vector<Expectation>& {
    throw InternalError("not needed");
  });
  EXPECT_EQ(v.status, Status::kOk);
  EXPECT_EQ(v.fidelity.checked->sampled, true);
  EXPECT_EQ(v.fidelity.checked->seed, 5);
}

TEST_F(JudgeTest, WhatWasNotWrittenShowsOutsideTheSampleToo) {
  float poison;
  std::memset(&poison, 0xFF, sizeof poison);
  const auto code = [&](float where_nobody_looks) {
    write({1, 2, 99, where_nobody_looks});
    auto e = expectation({1, 2, 0, 0});
    e.rows = {0};
    e.values = {1, 2};
    e.sample_seed = 5;
    static const std::vector<Expectation> kOther = {expectation({9, 9, 9, 9})};
    return judge({e}, path_, [](int) -> const std::vector<Expectation>& { return kOther; }).code;
  };
  EXPECT_EQ(code(99), "");
  EXPECT_EQ(code(NAN), "nan");
  EXPECT_EQ(code(poison), "stale");
}

TEST_F(JudgeTest, OnlyTheSampledColumnsOfARowAreLookedAt) {
  const auto status = [&](std::vector<float> out) {
    write(out);
    auto e = expectation({0, 0, 0, 0, 0, 0});
    e.columns = {0, 2};
    e.values = {1, 3, 4, 6};
    const auto v = judge({e}, path_, [&](int) -> const std::vector<Expectation>& {
      static const std::vector<Expectation> kOther = {expectation({9, 9, 9, 9, 9, 9})};
      return kOther;
    });
    EXPECT_EQ(v.fidelity.checked->elements, 4);
    EXPECT_EQ(v.fidelity.checked->rows, 2);
    return v.status;
  };
  EXPECT_EQ(status({1, 99, 3, 4, 99, 6}), Status::kOk);
  EXPECT_EQ(status({1, 2, 99, 4, 5, 6}), Status::kWrongResult);
  EXPECT_EQ(status({1, 2, 3, 99, 5, 6}), Status::kWrongResult);
}

TEST_F(JudgeTest, TheDifferenceFromTheBaselineIsSaidAndNotJudged) {
  write({1, 2, 99, 99});
  auto e = expectation({1, 2, 0, 0});
  e.rows = {0};
  e.values = {1, 2};
  const auto judged = [&] {
    return judge({e}, path_,
                 [](int) -> const std::vector<Expectation>& { throw InternalError("not needed"); });
  };
  EXPECT_FALSE(judged().from_baseline.has_value());
  e.baseline = {1, 2};
  EXPECT_EQ(judged().from_baseline.value(), 0);
  e.baseline = {1, 1.6};
  EXPECT_DOUBLE_EQ(judged().from_baseline.value(), 0.25);
  e.baseline = {0, 2};
  EXPECT_DOUBLE_EQ(judged().from_baseline.value(), 1);
  e.baseline = {1, NAN};
  EXPECT_EQ(judged().from_baseline.value(), INFINITY);
  EXPECT_EQ(judged().status, Status::kOk);
}

TEST_F(JudgeTest, WithoutAnOracleItSaysSo) {
  const auto v = judge(
      {}, path_, [](int) -> const std::vector<Expectation>& { throw InternalError("not needed"); });
  EXPECT_EQ(v.status, Status::kOk);
  EXPECT_EQ(v.fidelity.status, "no_oracle");
}

TEST_F(JudgeTest, ACertificateJudgesWhereNoValueIsExpected) {
  const auto certified = [&](const Certificate& certificate) {
    return judge(
        {}, path_,
        [](int) -> const std::vector<Expectation>& { throw InternalError("not needed"); },
        certificate);
  };
  const auto right = certified({"laws", 7, ""});
  EXPECT_EQ(right.status, Status::kOk);
  EXPECT_EQ(right.fidelity.status, "pass");
  EXPECT_EQ(right.fidelity.checked->elements, 7);
  EXPECT_EQ(right.fidelity.oracle, "laws");
  const auto wrong = certified({"laws", 7, "rank 3 has half of the sum"});
  EXPECT_EQ(wrong.status, Status::kWrongResult);
  EXPECT_EQ(wrong.message, "rank 3 has half of the sum");
  EXPECT_EQ(wrong.fidelity.status, "fail");
}

TEST_F(JudgeTest, ACertificateIsHeardBesideRightValues) {
  write({1, 2, 3, 4});
  const auto v = judge(
      {expectation({1, 2, 3, 4})}, path_,
      [](int) -> const std::vector<Expectation>& { throw InternalError("no"); },
      Certificate{"laws", 1, "a copy of the input"});
  EXPECT_EQ(v.status, Status::kWrongResult);
  EXPECT_EQ(v.message, "a copy of the input");
}

TEST(Fidelity, IntegersCountToTheLastDigit) {
  const std::int64_t large = (std::int64_t{1} << 60) + 1;
  Tensor out(DType::kI64, Shape({2}));
  out.as<std::int64_t>()[0] = large;
  out.as<std::int64_t>()[1] = large + 1;
  Expectation e;
  e.shape = {2};
  e.rows = {0, 1};
  e.values = {static_cast<double>(large), static_cast<double>(large)};
  EXPECT_TRUE(compare(e, out.view()).passed());  // as doubles they are the same
  e.integers = {large, large};
  const auto d = compare(e, out.view());
  EXPECT_FALSE(d.passed());
  EXPECT_EQ(d.worst_index, 1);
  EXPECT_EQ(d.max_abs, 1);
  e.atol = 1;
  EXPECT_TRUE(compare(e, out.view()).passed());

  Tensor keys(DType::kU64, Shape({1}));
  keys.as<std::uint64_t>()[0] = ~std::uint64_t{0};
  Expectation k;
  k.shape = {1};
  k.rows = {0};
  k.values = {0x1p64};
  k.integers = {-1};  // by its bits
  EXPECT_TRUE(compare(k, keys.view()).passed());
  k.integers = {-2};
  EXPECT_FALSE(compare(k, keys.view()).passed());
}

TEST(Fidelity, TheNearestValueOfADtypeIsRight) {
  Tensor out(DType::kF32, Shape({3}));
  out.as<float>()[0] = std::numeric_limits<float>::infinity();
  out.as<float>()[1] = 0;
  out.as<float>()[2] = 1;
  Expectation e;
  e.shape = {3};
  e.rows = {0, 1, 2};
  e.values = {1e300, 2e-60, 1};
  e.rtol = 1e-6;
  EXPECT_TRUE(compare(e, out.view()).passed());
  e.values = {1e30, 2e-60, 1};  // f32 has that
  EXPECT_FALSE(compare(e, out.view()).passed());
  e.values = {1e300, 2e-30, 1};
  EXPECT_FALSE(compare(e, out.view()).passed());
}

TEST(Fidelity, CountsUnitsInTheLastPlace) {
  Tensor t(DType::kF32, Shape({2, 1}));
  t.as<float>()[0] = std::nextafter(1.0f, 2.0f);
  t.as<float>()[1] = std::nextafter(0.0f, 1.0f);  // the smallest denormal
  auto e = expectation({1, 0});
  const auto f = compare(e, t.view());
  EXPECT_DOUBLE_EQ(f.ulp_max.value(), 1);
  EXPECT_DOUBLE_EQ(f.max_abs, 0x1p-23);
}

TEST(Fidelity, EmptyOutputsPass) {
  Tensor t(DType::kF32, Shape({0, 4}));
  Expectation e;
  e.output = "c";
  EXPECT_TRUE(compare(e, t.view()).passed());
}

}  // namespace
}  // namespace assay::lab
