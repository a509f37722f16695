// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Generated sources through NVRTC, which needs no device, for the oldest and the newest
// architecture; and the cache of what it makes.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "compiler/choose/compile.h"
#include "compiler/cuda/cubin_cache.h"
#include "compiler/cuda/nvrtc.h"
#include "compiler/cuda/source/greatest_text.h"
#include "compiler/cuda/source/symbols_text.h"
#include "compiler/cuda/testing/trial_kernels.h"
#include "compiler/testing/random_graph.h"

namespace assay::compiler::cuda {
namespace {

class Sources : public testing::Test {
 protected:
  void SetUp() override {
    try {
      nvrtc_.emplace();
    } catch (const EnvironmentError& e) {
      GTEST_SKIP() << e.what();
    }
  }
  void expect_compiles(const KernelSource& source, const std::string& what) {
    for (const char* architecture : {"sm_80", "sm_90"}) {
      std::string cubin;
      ASSERT_NO_THROW(cubin = nvrtc_->compile(source.code, architecture)) << what;
      // Machine code is an ELF file.
      EXPECT_EQ(cubin.substr(1, 3), "ELF") << what;
    }
  }
  std::optional<Nvrtc> nvrtc_;
};

TEST_F(Sources, OfEveryKindCompile) {
  for (const auto& list :
       {trial_products(), trial_grouped(), trial_attentions(), trial_scatters()}) {
    for (std::size_t i = 0; i < list.size(); i += 4)
      expect_compiles(source_of(list[i].kernel, {}), list[i].what);
  }
  expect_compiles(greatest_source(), "the greatest");
  expect_compiles(symbols_source(), "symbols");
}

TEST_F(Sources, OfRandomProgramsCompile) {
  for (std::uint64_t seed = 40; seed < 41; ++seed) {
    for (const auto& kernel : compile_default(random_graph(seed)).kernels)
      expect_compiles(source_of(kernel, {}), "graph " + std::to_string(seed));
  }
}

TEST(CanonicalSource, IsOneForSymbolsOfOtherNames) {
  const auto of = [](const char* name) {
    Kernel kernel;
    const auto rows = Dim::symbol(name);
    kernel.operands = {{DType::kBF16, {rows, 64}, false},
                       {DType::kBF16, {32, 64}, false},
                       {DType::kF32, {rows, 32}, true}};
    Matmul work;
    work.a = {0, View::contiguous({rows, 64})};
    work.b = {1, View::contiguous({32, 64}).permute({1, 0})};
    work.out = {2, View::contiguous({rows, 32})};
    kernel.work = work;
    return source_of(kernel, {});
  };
  EXPECT_EQ(of("s").code, of("tokens").code);
  EXPECT_EQ(of("tokens").symbols, std::vector<std::string>{"tokens"});
  EXPECT_EQ(of("s").plan({{"s", 3}}), of("t").plan({{"t", 3}}));
}

TEST(CubinCache, GivesBackWhatItKept) {
  const TemporaryDirectory folder;
  const CubinCache cache(folder.path() + "/kernels");
  EXPECT_FALSE(cache.find("source", "sm_90"));
  cache.keep("source", "sm_90", "machine code");
  EXPECT_EQ(cache.find("source", "sm_90"), "machine code");
  EXPECT_FALSE(cache.find("source", "sm_80"));
  EXPECT_FALSE(cache.find("another", "sm_90"));
  EXPECT_FALSE(CubinCache("").find("source", "sm_90"));
}

TEST(CubinCache, DoesNotBelieveTornFiles) {
  const TemporaryDirectory folder;
  const CubinCache cache(folder.path());
  cache.keep("source", "sm_90", "machine code");
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    const auto whole = read_file(file.path());
    for (const auto length : {std::size_t{0}, std::size_t{10}, whole.size() - 1}) {
      write_file_atomically(file.path(), whole.substr(0, length));
      EXPECT_FALSE(cache.find("source", "sm_90")) << length;
    }
    auto changed = whole;
    changed.back() ^= 1;
    write_file_atomically(file.path(), changed);
    EXPECT_FALSE(cache.find("source", "sm_90"));
  }
  cache.keep("source", "sm_90", "machine code");
  EXPECT_EQ(cache.find("source", "sm_90"), "machine code");
}

}  // namespace
}  // namespace assay::compiler::cuda
