// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/session/searched_program.h"

#include <gtest/gtest.h>

#include "compiler/choose/compile.h"
#include "compiler/cpu/cpu_runtime.h"
#include "models/session/generate.h"
#include "models/testing/model_folder.h"

namespace assay::models {
namespace {

using FamilyAndDtype = std::tuple<Family, DType>;

class SearchedProgramOf : public testing::TestWithParam<FamilyAndDtype> {};

std::string name_of_pair(const testing::TestParamInfo<FamilyAndDtype>& info) {
  std::string name(name_of(std::get<Family>(info.param)));
  std::erase(name, '-');
  return name + std::string(assay::name_of(std::get<DType>(info.param)));
}
INSTANTIATE_TEST_SUITE_P(SearchedProgram, SearchedProgramOf,
                         testing::Combine(testing::ValuesIn(kAllFamilies),
                                          testing::Values(DType::kF32, DType::kBF16)),
                         name_of_pair);

// What a search finds says the same, whatever its seed and budget; layers are searched for by their
// kinds.
TEST_P(SearchedProgramOf, SaysTheSameForEverySeedAndBudget) {
  const auto [family, dtype] = GetParam();
  const ModelFolder folder(family, {.dtype = dtype});
  const LoadedModel model(folder.path());
  const auto runtime = compiler::cpu_runtime(2);
  const GraphLimits limits{.context = 40, .chunk = 8};
  const std::vector<std::int64_t> prompt = {5, 6, 7, 9, 200, 31};
  const auto said = [&](compiler::Program program) {
    Session session(model.config, model.weights, limits, std::move(program), runtime);
    return generate(session, prompt, {.max_tokens = 30}).tokens;
  };
  const auto expected =
      said(compiler::compile_default(model_graph(model.config, model.weights, limits)));
  EXPECT_EQ(expected.size(), 30u);
  for (const std::uint64_t seed : {0U, 7U}) {
    for (const int budget : {0, 6}) {
      compiler::SearchOptions options;
      options.candidates = budget;
      options.seconds = 600;
      options.seed = seed;
      // Whether programs are right is not the question here.
      options.verify.most = 5;
      options.verify.most_in_kernels = 9;
      options.verify.most_work = options.verify.most_kernel_work = 1e6;
      options.verify.cheap_work = 1e5;
      options.verify.fitting.clear();
      options.verify.far.clear();
      auto searched = searched_program(model, limits, runtime, options);
      EXPECT_EQ(searched.found.tried, budget);
      EXPECT_EQ(said(std::move(searched.program)), expected) << seed << " " << budget;
    }
  }
}

}  // namespace
}  // namespace assay::models
