// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "base/file.h"

namespace assay {
namespace {

// FIPS 180-4, section 4.2.2: fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian(const unsigned char* p) {
  return std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 | p[3];
}

constexpr std::size_t kBlock = 64;

class Sha256 {
 public:
  void block(const unsigned char* data) {
    std::array<std::uint32_t, 64> w;
    for (int t = 0; t < 16; ++t) w[t] = big_endian(data + 4 * t);
    for (int t = 16; t < 64; ++t) {
      const auto a = w[t - 15], b = w[t - 2];
      w[t] = w[t - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) + w[t - 7] +
             (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (int t = 0; t < 64; ++t) {
      const auto t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                      ((e & f) ^ (~e & g)) + kRound[t] + w[t];
      const auto t2 =
          (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const std::array<std::uint32_t, 8> add = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i) state_[i] += add[i];
  }

  std::string hex() const {
    std::string text;
    for (const auto word : state_) text += fmt::format("{:08x}", word);
    return text;
  }

 private:
  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
};

// What a byte does to the sum when k more bytes follow it: with eight tables eight bytes are taken
// at once, since none waits for another.
constexpr auto kCrc32c = [] {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0u);
    tables[0][i] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t i = 0; i < 256; ++i) {
      const auto before = tables[k - 1][i];
      tables[k][i] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}();

#ifdef __x86_64__
// By the processor's own instruction, a dozen times as fast.
bool has_crc32c() {
  static const bool kHas = __builtin_cpu_supports("sse4.2") != 0;
  return kHas;
}
__attribute__((target("sse4.2"))) std::uint32_t crc32c_of_processor(std::string_view bytes,
                                                                    std::uint32_t crc) {
  std::uint64_t wide = crc;
  for (; bytes.size() >= sizeof wide; bytes.remove_prefix(sizeof wide)) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  crc = static_cast<std::uint32_t>(wide);
  for (const unsigned char byte : bytes) crc = __builtin_ia32_crc32qi(crc, byte);
  return crc;
}
#endif

}  // namespace

std::string sha256_hex(const TextPieces& bytes) {
  Sha256 hash;
  const auto block = [&](std::string_view text) {
    hash.block(reinterpret_cast<const unsigned char*>(text.data()));
  };
  std::size_t size = 0;
  std::string begun;  // less than a block
  for (auto piece = bytes(0); !piece.empty(); piece = bytes(size)) {
    size += piece.size();
    if (!begun.empty()) {
      const auto missing = std::min(kBlock - begun.size(), piece.size());
      begun += piece.substr(0, missing);
      piece.remove_prefix(missing);
      if (begun.size() < kBlock) continue;
      block(begun);
    }
    for (; piece.size() >= kBlock; piece.remove_prefix(kBlock)) block(piece);
    begun = piece;
  }

  // The tail: a one bit, zeros, and the length in bits as a big-endian 64-bit number.
  const std::uint64_t bits = std::uint64_t{size} * 8;
  begun += '\x80';
  begun.resize((begun.size() <= kBlock - 8 ? 1 : 2) * kBlock);
  for (std::size_t i = 0; i < 8; ++i)
    begun[begun.size() - 1 - i] = static_cast<char>(bits >> 8 * i);
  for (std::size_t i = 0; i < begun.size(); i += kBlock) block(std::string_view(begun).substr(i));
  return hash.hex();
}

std::string sha256_hex(std::string_view bytes) { return sha256_hex(pieces_of(bytes)); }

std::string short_hash(std::string_view text) { return sha256_hex(text).substr(0, 16); }

std::string sha256_file(const std::string& path) { return sha256_hex(MappedFile(path).text()); }

std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t before) {
  constexpr std::size_t kAtOnce = kCrc32c.size();
  std::uint32_t crc = ~before;
  for (; bytes.size() >= kAtOnce; bytes.remove_prefix(kAtOnce)) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), kAtOnce);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    word ^= crc;
    crc = 0;
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      crc ^= kCrc32c[kAtOnce - 1 - i][(word >> 8 * i) & 0xff];
    }
  }
  for (const unsigned char byte : bytes) crc = (crc >> 8) ^ kCrc32c[0][(crc ^ byte) & 0xff];
  return ~crc;
}

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
#ifdef __x86_64__
  if (has_crc32c()) return ~crc32c_of_processor(bytes, ~before);
#endif
  return crc32c_by_tables(bytes, before);
}

}  // namespace assay
