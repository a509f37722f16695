// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::lab {
namespace {

std::string command_of(const RunRequest& request) {
  std::string text;
  for (const auto& [option, value] : run_arguments(request)) text += " " + option + "=" + value;
  return text;
}

// A request none of whose values is the usual one.
RunRequest unusual_request() {
  RunRequest r;
  r.cases = {"a", "b"};
  r.mode = "points";
  r.points = {{"n", 3}};
  r.providers = {"x", "y"};
  r.skip = {"z"};
  r.platforms = {"cpu", "cuda"};
  r.rounds = 7;
  r.budget_s = 90;
  r.settings.steady_s = 0.25;
  r.settings.batches = 6;
  r.settings.warm_up_calls = 4;
  r.time_limit_s = 30;
  r.memory_limit = 1 << 30;
  r.cpu_slots = 2;
  r.gpus = 2;
  r.cores = 1;
  r.settle_s = 0.5;
  r.max_steal = 0.1;
  r.max_foreign = 0.2;
  r.max_tries = 5;
  r.order_seed = 18446744073709551615u;
  r.in_process = true;
  r.label = "night";
  return r;
}

TEST(Request, TheCommandSaysEverythingThatIsNotUsual) {
  EXPECT_EQ(command_of(unusual_request()),
            " =a =b --points={\"n\":3} --providers=x,y --skip=z --platforms=cpu,cuda --rounds=7"
            " --budget=90.0 --steady=0.25 --batches=6 --warm-up=4 --limit=30.0"
            " --memory=1073741824 --cpu-slots=2 --gpus=2 --cores=1 --settle=0.5 --max-steal=0.1 "
            "--max-foreign=0.2 --tries=5"
            " --seed=18446744073709551615 --in-process= --label=night");
  EXPECT_EQ(command_of(default_request(false)), "");
  EXPECT_EQ(command_of(default_request(true)), " --quick=");
  RunRequest precise = default_request(true);
  precise.precision = 0.01;
  precise.rounds = 70;
  EXPECT_EQ(command_of(precise), " --quick= --precision=0.01");
}

TEST(Request, SurvivesTheFileWholeOrInPart) {
  const auto json = request_to_json(unusual_request());
  EXPECT_EQ(request_to_json(request_from_json(json, "request")), json);
  const auto sparse = request_from_json({{"mode", "quick"}, {"cases", {"a"}}}, "request");
  EXPECT_EQ(command_of(sparse), " =a --quick=");
}

TEST(Request, SidesKeepTheirCaseFiles) {
  auto request = unusual_request();
  request.sides = {{"old", "", "1a2b", true}, {"new", "/bin/true"}};
  request.sides[0].case_file = RequestedFile{"a", "/old/bench.toml", {{"/old/bench.toml", "00ff"}}};
  const auto json = request_to_json(request);
  EXPECT_FALSE(json["sides"][1].contains("case_file"));
  const auto back = request_from_json(json, "request");
  EXPECT_EQ(request_to_json(back), json);
  EXPECT_EQ(back.sides[0].case_file->sha256.at("/old/bench.toml"), "00ff");
  EXPECT_FALSE(back.sides[1].case_file);
  auto bad = json;
  bad["sides"][0]["case_file"] = {{"case", "a"}};
  EXPECT_THROW(request_from_json(bad, "request"), UserError);
}

TEST(Request, WrongTypesAreRefused) {
  for (const Json& bad : {Json(3), Json{{"cases", "a"}}, Json{{"rounds", "many"}},
                          Json{{"order_seed", -1}}, Json{{"settings", {{"steady_s", "long"}}}}}) {
    EXPECT_THROW(request_from_json(bad, "request"), UserError) << bad;
  }
}

}  // namespace
}  // namespace assay::lab
