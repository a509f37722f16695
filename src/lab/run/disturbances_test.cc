// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/disturbances.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Row disturbed(double foreign, bool kept) {
  Row row;
  row.provenance.cpus = {0, 1};
  row.provenance.noise.emplace().foreign_fraction = foreign;
  if (kept) row.provenance.contaminated = "load";
  return row;
}

TEST(Disturbances, TheFirstIsToldAtOnceAndTheOthersAreCounted) {
  Disturbances d(0.02);
  EXPECT_THAT(d.notice(disturbed(0.02, false)), IsEmpty()) << "as much as is allowed";
  EXPECT_THAT(d.notice(disturbed(0.48, false)),
              ElementsAre(HasSubstr("other programs took 48 % of the time of cores [0,1]")));
  EXPECT_THAT(d.notice(disturbed(0.5, false)), IsEmpty());
  EXPECT_THAT(d.notice(disturbed(0.5, true)), ElementsAre(HasSubstr("kept though disturbed")));
  EXPECT_THAT(d.notice(disturbed(0.5, true)), IsEmpty());
  EXPECT_THAT(d.notice(disturbed(0.5, true)), ElementsAre(HasSubstr("exclusion does not end")));
  EXPECT_THAT(d.notice(disturbed(0.5, true)), IsEmpty());
  EXPECT_THAT(d.sum(), ElementsAre(HasSubstr("in 6 attempts"), HasSubstr("4 attempts were kept")));
  EXPECT_THAT(Disturbances(0.02).sum(), IsEmpty());
}

}  // namespace
}  // namespace assay::lab
