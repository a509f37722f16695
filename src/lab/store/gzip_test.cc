// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/gzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// printf 'rows\n' | gzip -9n | xxd -i
const std::string kRows(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x2b\xca\x2f\x2f\xe6\x02\x00\x19"
    "\x1e\x0c\x93\x05\x00\x00\x00",
    25);

std::string gunzip(std::string_view bytes, const std::string& what, std::size_t at_once = 1000) {
  Gunzip gunzip(what);
  std::string text;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(at_once, bytes.size()))) {
    gunzip.add(bytes.substr(0, at_once), text);
  }
  gunzip.end();
  return text;
}

TEST(Gzip, GivesBackWhatWasCompressed) {
  EXPECT_TRUE(is_gzip(kRows));
  EXPECT_FALSE(is_gzip("rows\n"));
  EXPECT_EQ(gunzip(kRows, "f"), "rows\n");
  for (const std::size_t at_once : {1, 2, 7, 1000}) {
    EXPECT_EQ(gunzip(kRows + kRows, "f", at_once), "rows\nrows\n");
  }
  EXPECT_EQ(gunzip("", "f"), "");
  for (const std::size_t at_once : {1, 3, 1000}) {
    EXPECT_EQ(gunzip(kRows + std::string(487, '\0'), "f", at_once), "rows\n");
    EXPECT_EQ(gunzip(kRows + std::string(7, '\0') + kRows, "f", at_once), "rows\nrows\n");
  }
}

TEST(Gzip, WhatIsDamagedIsNamed) {
  for (std::size_t n = 1; n < kRows.size(); ++n) {
    EXPECT_THAT([&] { gunzip(kRows.substr(0, n), "f.gz"); },
                ThrowsMessage<UserError>(HasSubstr("f.gz: not whole, or damaged")))
        << n;
  }
  for (std::size_t i = kRows.size() - 8; i < kRows.size(); ++i) {  // checksum and length
    auto damaged = kRows;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_THROW(gunzip(damaged, "f.gz"), UserError) << i;
  }
  EXPECT_THROW(gunzip(kRows + "rest", "f.gz"), UserError);
}

}  // namespace
}  // namespace assay::lab
