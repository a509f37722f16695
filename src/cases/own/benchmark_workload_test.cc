// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/benchmark_workload.h"

#include <gtest/gtest.h>
#include <regex.h>

#include <regex>

namespace assay::cases::own {
namespace {

bool posix_match(const std::string& filter, const std::string& name) {
  regex_t compiled;
  EXPECT_EQ(::regcomp(&compiled, filter.c_str(), REG_EXTENDED | REG_NOSUB), 0) << filter;
  const bool matches = ::regexec(&compiled, name.c_str(), 0, nullptr, 0) == 0;
  ::regfree(&compiled);
  return matches;
}

TEST(ExactFilter, SelectsOneNameInEveryLanguage) {
  for (const std::string name :
       {"BM_Sort/8", "BM_Copy<int, std::vector<float>>/64/threads:2", "a.b+c*d?e|f", "x(1)[2]{3}^$",
        "back\\slash", "BM_Sort/8/iterations:10/manual_time"}) {
    const auto filter = exact_filter(name);
    for (const std::string& other : {name, name + "0", "x" + name, std::string("aXb+c*d?e|f")}) {
      const bool same = other == name;
      EXPECT_EQ(posix_match(filter, other), same) << filter << " on " << other;
      EXPECT_EQ(std::regex_search(other, std::regex(filter)), same) << filter << " on " << other;
      EXPECT_EQ(std::regex_search(other, std::regex(filter, std::regex::extended)), same)
          << filter << " on " << other;
    }
  }
}

}  // namespace
}  // namespace assay::cases::own
