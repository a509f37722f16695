// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

// Test vectors of FIPS 180-4 and of RFC 3720 (appendix B.4).
TEST(Hash, Sha256KnowsThePublishedVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Hash, Sha256PadsEveryTailLength) {
  // 55, 56, 63, 64 bytes straddle the point where the length needs a second block.
  EXPECT_EQ(sha256_hex(std::string(55, 'a')),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(sha256_hex(std::string(56, 'a')),
            "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(sha256_hex(std::string(64, 'a')),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

TEST(Hash, Sha256IsTheSameHoweverTheTextIsTorn) {
  const std::string text(300, 'a');
  for (const std::size_t size : {1, 63, 64, 65, 128, 299}) {
    const TextPieces pieces = [&](std::size_t offset) {
      return std::string_view(text).substr(offset, size);
    };
    EXPECT_EQ(sha256_hex(pieces), sha256_hex(text)) << size;
  }
}

TEST(Hash, Crc32cKnowsThePublishedVectors) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
}

TEST(Hash, Crc32cOfAnyLengthIsThatOfItsBits) {
  std::string text;
  for (int size = 0; size < 70; ++size) {
    std::uint32_t crc = ~0u;
    for (const unsigned char byte : text) {
      for (int bit = 0; bit < 8; ++bit) {
        const auto differs = (crc ^ byte >> bit) & 1;
        crc = (crc >> 1) ^ (differs * 0x82f63b78u);
      }
    }
    const auto half = std::string_view(text).substr(0, text.size() / 2);
    const auto rest = std::string_view(text).substr(half.size());
    for (const auto of : {crc32c, crc32c_by_tables}) {
      EXPECT_EQ(of(text, 0), ~crc) << size;
      EXPECT_EQ(of(rest, of(half, 0)), ~crc) << size;
    }
    text += static_cast<char>(37 * size + 200);
  }
}

}  // namespace
}  // namespace assay
