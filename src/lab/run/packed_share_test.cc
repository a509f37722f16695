// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/packed_share.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "lab/run/run_place.h"
#include "lab/testing/example_rows.h"

namespace assay::lab {
namespace {

TEST(PackedShare, IsTheSameShareElsewhere) {
  const TemporaryDirectory here("assay-test"), there("assay-test");
  const auto of = here.path() + "/run.jsonl", journal = here.path() + "/run.jsonl.share.jsonl";
  const auto rows = testing_rows::example_run(testing_rows::kRun, 2);
  const auto run_id = rows.front().run_id;
  auto request = default_request(true);
  request.cases = {"a_case"};
  new_place(request, run_id, of);
  const RunShare share = {
      {{"a_case", Json{{"n", 3}}}}, of, "1.0", {{"assay", "12"}, {"assay-worker", "34"}}, "m"};
  write_share(journal, run_id, share, std::span(rows).first(1));

  const auto unpacked = unpack_share(packed_share(journal), there.path());
  EXPECT_TRUE(unpacked.starts_with(there.path() + "/"));
  const auto place = look_at_place(unpacked, "");
  ASSERT_TRUE(place.share);
  EXPECT_EQ(place.run_id, run_id);
  EXPECT_EQ(place.request.cases, request.cases);
  EXPECT_EQ(place.share->version, share.version);
  EXPECT_EQ(place.share->sha256, share.sha256);
  EXPECT_EQ(place.share->machine, share.machine);
  ASSERT_EQ(place.share->points.size(), 1U);
  EXPECT_EQ(place.share->points[0].case_name, "a_case");
  EXPECT_EQ(place.share->points[0].point, share.points[0].point);
  ASSERT_EQ(place.rows.size(), 1U);
  EXPECT_EQ(row_to_line(place.rows[0]), row_to_line(rows[0]));
}

TEST(PackedShare, AnythingElseIsRefused) {
  const TemporaryDirectory folder("assay-test");
  for (const char* text : {"", "{}", "{}\n", "text\n",
                           R"({"run":{}})"
                           "\n"}) {
    EXPECT_THROW(unpack_share(text, folder.path()), UserError) << text;
  }
}

}  // namespace
}  // namespace assay::lab
