// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/error.h"
#include "lab/testing/toy_case.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class PlanTest : public testing::Test {
 protected:
  PlanTest() {
    std::vector<Provider> providers(6);
    providers[0] = {.id = "plain", .description = ""};
    providers[1] = {.id = "even-only", .description = ""};
    providers[2] = {.id = "greedy", .description = ""};
    providers[3] = {.id = "missing",
                    .description = "",
                    .runtime = Runtime::kPython,
                    .modules = {"a_module_that_does_not_exist"}};
    providers[4] = {.id = "simulated", .description = "", .origin = Origin::kSimulated};
    providers[5] = {.id = "device", .description = "", .platforms = {"cuda"}};
    cases_.add(std::make_unique<ToyCase>(providers));
    request_.cases = {"toy_double"};
    request_.rounds = 4;
  }
  Plan plan() {
    return make_plan(cases_, request_, probe_, Skip{"no_device", "this machine has no GPU"},
                     1 << 30);
  }
  const Contender& contender(const PointPlan& at, const std::string& id) {
    for (const auto& c : at.contenders) {
      if (c.provider.id == id) return c;
    }
    throw InternalError("no such contender");
  }

  CaseRegistry cases_;
  RunRequest request_;
  EnvironmentProbe probe_{{"/bin/sh", "", ""}};
};

TEST_F(PlanTest, RefusalsArePlannedWithTheirReasons) {
  request_.mode = "points";
  request_.points = {{"n", 7}};
  request_.platforms = {"cpu", "cuda"};
  const auto p = plan();
  ASSERT_EQ(p.points.size(), 1u);
  const auto& at = p.points[0];
  EXPECT_FALSE(contender(at, "plain").refused);
  EXPECT_EQ(contender(at, "even-only").refused->why.code, "provider_not_applicable");
  EXPECT_EQ(contender(at, "greedy").refused->why.code, "over_memory_estimate");
  EXPECT_EQ(contender(at, "missing").refused->status, Status::kEnvMissing);
  EXPECT_EQ(contender(at, "missing").refused->why.code, "module_missing");
  EXPECT_EQ(contender(at, "device").refused->why.code, "no_device");
  EXPECT_EQ(p.attempts, 4 + 4 + 1);
  EXPECT_EQ(at.order.size(), 4u);
  EXPECT_EQ(at.order[0].size(), 1u);
}

TEST_F(PlanTest, PartsOfAPlanAreThePlan) {
  request_.mode = "points";
  request_.points = Json::array({{{"n", 2}}, {{"n", 4}}, {{"n", 8}}});
  const auto whole = plan();
  int attempts = 0;
  std::size_t members = 0;
  for (const auto& at : whole.points) {
    auto part = plan();
    keep_points(part, request_, [&](const PointPlan& p) { return p.point == at.point; });
    ASSERT_EQ(part.points.size(), 1u);
    EXPECT_EQ(part.points[0].order, at.order);
    // What is not installed is told at the first point alone.
    EXPECT_EQ(part.points[0].contenders.size(), at.contenders.size());
    attempts += part.attempts;
    for (const auto& batch : part.batches) members += batch.members.size();
  }
  EXPECT_EQ(attempts, whole.attempts);
  EXPECT_EQ(members, 3u);  // of the simulated one
}

TEST_F(PlanTest, DeterministicProvidersShareOneProcess) {
  request_.providers = {"plain", "simulated"};
  const auto p = plan();
  ASSERT_EQ(p.points.size(), 2u);
  ASSERT_EQ(p.batches.size(), 1u);
  EXPECT_EQ(p.batches[0].members.size(), 2u);
  EXPECT_EQ(p.attempts, 2 * 4 + 2);
}

TEST_F(PlanTest, TheUsersChoicesAreSkipsWithACodeOfTheirOwn) {
  request_.skip = {"plain"};
  EXPECT_EQ(contender(plan().points[0], "plain").refused->why.code, "excluded");
}

TEST_F(PlanTest, PointsTakeMissingKeysFromTheRepresentativeOne) {
  request_.mode = "points";
  request_.points = Json::array({{{"n", 5}}, {{"seed", 3}}, {{"n", 5}}});
  const auto points = selected_points(cases_.find("toy_double"), request_);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(canonical_json(points[0]), R"({"dtype":"f64","n":5,"seed":0})");
  EXPECT_EQ(canonical_json(points[1]), R"({"dtype":"f64","n":8,"seed":3})");
}

TEST_F(PlanTest, APointMaySayWhichCaseItIsFor) {
  request_.mode = "points";
  request_.points =
      Json::array({{{"case", "toy_double"}, {"n", 5}}, {{"case", "other"}, {"m", 7}}});
  const auto points = selected_points(cases_.find("toy_double"), request_);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(canonical_json(points[0]), R"({"dtype":"f64","n":5,"seed":0})");
  EXPECT_THAT([&] { plan(); },
              ThrowsMessage<UserError>(HasSubstr("none of the cases that run: \"other\"")));
  request_.points = {{"case", "nope"}};  // one point, not in a list
  EXPECT_THAT([&] { plan(); },
              ThrowsMessage<UserError>(HasSubstr("none of the cases that run: \"nope\"")));
}

TEST_F(PlanTest, TypingErrorsAreNamed) {
  request_.providers = {"plane"};
  EXPECT_THAT([&] { plan(); }, ThrowsMessage<UserError>(HasSubstr("'plane'")));
  request_.providers = {};
  request_.cases = {"toy"};
  EXPECT_THAT([&] { plan(); }, ThrowsMessage<UserError>("unknown case (known: toy_double): 'toy'"));
  request_.cases = {"toy_double"};
  request_.providers = {"device"};
  EXPECT_THAT([&] { plan(); }, ThrowsMessage<UserError>(HasSubstr("nothing to run")));
}

TEST_F(PlanTest, OneProviderUnderSeveralNames) {
  request_.providers = {"plain", "plain@b", "plain@c"};
  const auto p = plan();
  const auto& at = p.points[0];
  ASSERT_EQ(at.contenders.size(), 3u);
  EXPECT_EQ(at.contenders[1].name, "plain@b");
  EXPECT_EQ(at.contenders[1].provider.id, "plain");
  EXPECT_EQ(at.contenders[1].command, at.contenders[0].command);
  EXPECT_EQ(at.baseline, "plain");
  EXPECT_EQ(at.order[0].size(), 3u);
  EXPECT_EQ(p.attempts, 2 * 3 * 4);
  for (const char* bad : {"plain@", "plain@a b", "plain@a@b", "@b", "nobody@b"}) {
    request_.providers = {bad};
    EXPECT_THAT([&] { plan(); }, ThrowsMessage<UserError>(HasSubstr(bad))) << bad;
  }
}

TEST_F(PlanTest, WhoeverRunsHasABaseline) {
  const auto baseline = [&](std::vector<std::string> providers, std::string asked = "",
                            std::vector<std::string> skip = {}) {
    request_.providers = std::move(providers);
    request_.baseline = std::move(asked);
    request_.skip = std::move(skip);
    return plan().points[0].baseline;
  };
  EXPECT_EQ(baseline({}), "plain");
  EXPECT_EQ(baseline({}, "even-only"), "even-only");
  EXPECT_EQ(baseline({"simulated", "even-only"}), "simulated");
  EXPECT_EQ(baseline({"even-only", "simulated"}), "even-only");
  EXPECT_EQ(baseline({"even-only", "simulated"}, "simulated"), "simulated");
  EXPECT_EQ(baseline({"even-only@a", "plain@b", "plain@c"}), "plain@b");
  EXPECT_EQ(baseline({"even-only@a", "plain@b", "plain@c"}, "plain@c"), "plain@c");
  EXPECT_EQ(baseline({"missing", "even-only"}), "even-only");  // what does not run is no baseline
  EXPECT_EQ(baseline({"plain", "even-only"}, "", {"plain"}), "even-only");
  EXPECT_THAT([&] { baseline({}, "nobody"); }, ThrowsMessage<UserError>(HasSubstr("'nobody'")));
  EXPECT_THAT(
      [&] { baseline({"plain"}, "even-only"); },
      ThrowsMessage<UserError>(HasSubstr("not among the providers asked for: 'even-only'")));
}

TEST_F(PlanTest, SidesHaveWorkersOfTheirOwn) {
  request_.sides = {{"baseline", "/bin/true"}, {"current", ""}};
  const auto p = plan();
  const auto& at = p.points[0];
  ASSERT_EQ(at.contenders.size(), 10u);  // five providers on cpu, on both sides
  EXPECT_EQ(at.contenders[0].name, "plain@baseline");
  EXPECT_EQ(at.contenders[0].command, std::vector<std::string>{"/bin/true"});
  EXPECT_EQ(at.contenders[1].name, "plain@current");
  EXPECT_EQ(at.contenders[1].command, std::vector<std::string>{"/bin/sh"});
  EXPECT_EQ(at.baseline, "plain@baseline");
  EXPECT_EQ(reference_of(at, 1), 0u);
  for (const auto& c : at.contenders) {
    const auto why = c.refused ? c.refused->why.code : "";
    EXPECT_EQ(why == "provider_not_applicable", c.name == "missing@baseline") << c.name;
    EXPECT_EQ(why == "module_missing", c.name == "missing@current") << c.name;
  }
  request_.providers = {"even-only@current", "even-only@baseline"};
  EXPECT_EQ(plan().points[0].baseline, "even-only@current");
  request_.sides[1].worker = "/no/such/program";
  EXPECT_THAT([&] { plan(); }, ThrowsMessage<UserError>(HasSubstr("/no/such/program")));
  request_.sides[1] = {"baseline", ""};
  EXPECT_THAT([&] { plan(); }, ThrowsMessage<UserError>(HasSubstr("same label")));
}

TEST_F(PlanTest, ASideHasTheProvidersOfItsOwnCase) {
  Provider changed{.id = "plain", .description = "of the other side"};
  changed.judged = false;
  cases_.add_side("new", std::make_unique<ToyCase>(std::vector<Provider>{changed}));
  request_.providers = {"plain@old", "plain@new", "even-only@old", "even-only@new"};
  const auto p = plan();
  const auto& at = p.points[0];
  ASSERT_EQ(at.contenders.size(), 3u);  // the other side has no even-only
  EXPECT_EQ(at.contenders[0].name, "plain@old");
  EXPECT_TRUE(at.contenders[0].provider.judged);
  EXPECT_EQ(at.contenders[1].name, "plain@new");
  EXPECT_EQ(at.contenders[1].provider.description, "of the other side");
  EXPECT_FALSE(at.contenders[1].provider.judged);
  EXPECT_EQ(at.contenders[2].name, "even-only@old");
}

TEST_F(PlanTest, RequestsSurviveTheFile) {
  request_.sides = {{"baseline", "/bin/true"}};
  request_.precision = 0.01;
  request_.budget_s = 90;
  auto json = request_to_json(request_);
  const auto back = request_from_json(json, "request");
  EXPECT_EQ(canonical_json(request_to_json(back)), canonical_json(json));
  for (const char* newer : {"sides", "precision", "budget_s"}) json.erase(newer);
  EXPECT_TRUE(request_from_json(json, "an older request").sides.empty());
}

TEST_F(PlanTest, AddingAPointLeavesTheOrderOfTheOthersAlone) {
  request_.providers = {"plain", "even-only"};
  request_.mode = "quick";
  const auto small = plan();
  request_.mode = "standard";
  EXPECT_EQ(plan().points[0].order, small.points[0].order);
}

}  // namespace
}  // namespace assay::lab
