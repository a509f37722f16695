// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/zip_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/pt2/test_archive.h"

namespace assay::models::pt2 {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ZipTest : public testing::Test {
 protected:
  std::string path() const { return folder_.path() + "/a.zip"; }
  void write(const std::string& content) const { write_quickly(path(), content); }
  std::string refusal(const std::string& content) const {
    write(content);
    return refusal_text([&] {
      const ZipFile zip(path());
      for (const auto& [name, entry] : zip.entries()) zip.bytes(name);
    });
  }
  const std::map<std::string, std::string> entries_{
      {"m/a", "hello"}, {"m/b", ""}, {"m/c", std::string(100, 'x')}};

 private:
  TemporaryDirectory folder_;
};

TEST_F(ZipTest, ChecksumIsThatOfTheStandard) {
  const auto crc = [](std::string_view text) { return zip_crc32(std::as_bytes(std::span(text))); };
  EXPECT_EQ(crc(""), 0U);
  EXPECT_EQ(crc("123456789"), 0xCBF43926U);
  EXPECT_EQ(crc("The quick brown fox jumps over the lazy dog"), 0x414FA339U);
}

TEST_F(ZipTest, EntriesAreRead) {
  for (const bool is_zip64 : {false, true}) {
    write(zipped(entries_, {.is_zip64 = is_zip64}));
    const ZipFile zip(path());
    EXPECT_EQ(zip.entries().size(), entries_.size());
    for (const auto& [name, content] : entries_) EXPECT_EQ(zip.text(name), content) << name;
    EXPECT_THAT(refusal_text([&] { zip.bytes("m/d"); }), HasSubstr("no entry 'm/d'"));
  }
}

TEST_F(ZipTest, WhatIsNotStoredIsRefusedByName) {
  EXPECT_THAT(refusal(zipped(entries_, {.method = 8})), HasSubstr("'m/a' is compressed"));
  EXPECT_THAT(refusal(zipped(entries_, {.flags = 1})), HasSubstr("'m/a' is encrypted"));
}

TEST_F(ZipTest, DamageIsFound) {
  auto content = zipped(entries_);
  content[content.find("hello")] = 'j';
  EXPECT_THAT(refusal(content), HasSubstr("'m/a' is damaged"));
  auto twice = zipped(entries_);
  for (std::size_t at = 0; (at = twice.find("m/b", at)) != std::string::npos; ++at)
    twice[at + 2] = 'a';
  EXPECT_THAT(refusal(twice), HasSubstr("'m/a' is there twice"));
  EXPECT_THAT(refusal(""), StartsWith(path()));
  EXPECT_THAT(refusal("PK\3\4 and no more"), HasSubstr("no end record"));
}

// Cut off anywhere, and with any byte of the lists changed: read, or refused in words.
TEST_F(ZipTest, AnyChangeIsReadOrRefused) {
  for (const bool is_zip64 : {false, true}) {
    const auto whole = zipped(entries_, {.is_zip64 = is_zip64});
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_THAT(refusal(whole.substr(0, size)), StartsWith(path())) << size;
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const int change : {1, 0x80, 0xFF}) {
        auto content = whole;
        content[at] = static_cast<char>(content[at] ^ change);
        const auto text = refusal(content);
        if (text.empty()) continue;
        EXPECT_THAT(text, StartsWith(path())) << at;
      }
    }
  }
}

}  // namespace
}  // namespace assay::models::pt2
