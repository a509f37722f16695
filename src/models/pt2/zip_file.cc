// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/zip_file.h"

#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "base/error.h"

namespace assay::models::pt2 {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read as they lie");

// Eight bytes at a time: table k has what a byte does k bytes further on.
using CrcTables = std::array<std::array<std::uint32_t, 256>, 8>;
constexpr CrcTables crc_tables() {
  CrcTables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320U : 0);
    tables[0][i] = value;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t i = 0; i < 256; ++i) {
      const auto before = tables[k - 1][i];
      tables[k][i] = (before >> 8) ^ tables[0][before & 255];
    }
  }
  return tables;
}
constexpr CrcTables kCrcTables = crc_tables();

constexpr std::uint32_t kLocalHeader = 0x04034b50, kCentralHeader = 0x02014b50,
                        kEndRecord = 0x06054b50, kEndRecord64 = 0x06064b50,
                        kEndLocator64 = 0x07064b50;
constexpr std::uint64_t kNone32 = 0xFFFFFFFF;  // "see the zip64 field"
constexpr std::uint64_t kEndRecordSize = 22, kLocatorSize = 20, kEndRecord64Size = 56,
                        kCentralSize = 46, kLocalSize = 30, kLongestComment = 0xFFFF;
constexpr std::uint64_t kEncrypted = 1;

// Numbers of a file, each within it.
class ZipBytes {
 public:
  ZipBytes(std::span<const std::byte> bytes, const std::string& path)
      : bytes_(bytes), path_(path) {}

  std::uint64_t size() const { return bytes_.size(); }
  template <typename T>
  std::uint64_t number(std::uint64_t at) const {
    T value{};
    std::memcpy(&value, piece(at, sizeof value).data(), sizeof value);
    return value;
  }
  std::uint64_t u16(std::uint64_t at) const { return number<std::uint16_t>(at); }
  std::uint64_t u32(std::uint64_t at) const { return number<std::uint32_t>(at); }
  std::uint64_t u64(std::uint64_t at) const { return number<std::uint64_t>(at); }
  std::span<const std::byte> piece(std::uint64_t at, std::uint64_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) {
      fail("{}: not a whole zip archive: {} bytes at {} of {}", path_, size, at, bytes_.size());
    }
    return bytes_.subspan(at, size);
  }
  std::string text(std::uint64_t at, std::uint64_t size) const {
    const auto found = piece(at, size);
    return {reinterpret_cast<const char*>(found.data()), found.size()};  // NOLINT
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& path_;
};

struct Directory {
  std::uint64_t count = 0, size = 0, at = 0;
};

std::optional<std::uint64_t> find_end_record(const ZipBytes& zip) {
  if (zip.size() < kEndRecordSize) return std::nullopt;
  const auto last = zip.size() - kEndRecordSize;
  const auto first = last > kLongestComment ? last - kLongestComment : 0;
  for (auto at = last + 1; at-- > first;) {
    if (zip.u32(at) == kEndRecord && at + kEndRecordSize + zip.u16(at + 20) == zip.size()) {
      return at;
    }
  }
  return std::nullopt;
}

Directory directory_of(const ZipBytes& zip, const std::string& path) {
  const auto found = find_end_record(zip);
  if (!found) fail("{}: not a whole zip archive: it has no end record", path);
  const auto end = *found;
  Directory directory{zip.u16(end + 10), zip.u32(end + 12), zip.u32(end + 16)};
  if (end >= kLocatorSize && zip.u32(end - kLocatorSize) == kEndLocator64) {
    const auto at = zip.u64(end - kLocatorSize + 8);
    if (at > zip.size() || zip.size() - at < kEndRecord64Size || zip.u32(at) != kEndRecord64) {
      fail("{}: not a whole zip archive: no zip64 end record at {}", path, at);
    }
    directory = {zip.u64(at + 32), zip.u64(at + 40), zip.u64(at + 48)};
  }
  return directory;
}

// Sizes and the place of an entry, from the zip64 field where they do not fit in 32 bits.
void read_zip64_field(const ZipBytes& zip, std::uint64_t extra, std::uint64_t extra_size,
                      std::array<std::uint64_t*, 3> values) {
  const auto end = extra + extra_size;
  while (extra + 4 <= end) {
    const auto kind = zip.u16(extra), size = zip.u16(extra + 2);
    if (kind == 1) {
      auto at = extra + 4;
      for (auto* value : values) {
        if (*value != kNone32 || at + 8 > extra + 4 + size) continue;
        *value = zip.u64(at);
        at += 8;
      }
    }
    extra += 4 + size;
  }
}

}  // namespace

std::uint32_t zip_crc32(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  const auto at = [](std::size_t table, std::uint64_t value) {
    return kCrcTables[table][value & 255];
  };
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, 8);
    word ^= crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= at(7 - k, word >> (8 * k));
  }
  for (; i < bytes.size(); ++i)
    crc = (crc >> 8) ^ at(0, crc ^ std::to_integer<std::uint8_t>(bytes[i]));
  return ~crc;
}

ZipFile::ZipFile(const std::string& path) : path_(path), file_(path) {
  const ZipBytes zip(file_.bytes(), path_);
  const auto directory = directory_of(zip, path_);
  auto at = directory.at;
  const auto end = directory.at + zip.piece(directory.at, directory.size).size();
  for (std::uint64_t i = 0; i < directory.count; ++i) {
    if (end - at < kCentralSize || zip.u32(at) != kCentralHeader) {
      fail("{}: not a whole zip archive: {} entries are announced, {} are listed", path_,
           directory.count, i);
    }
    const auto name_size = zip.u16(at + 28), extra_size = zip.u16(at + 30),
               comment_size = zip.u16(at + 32);
    const auto name = zip.text(at + kCentralSize, name_size);
    auto packed = zip.u32(at + 20), size = zip.u32(at + 24), local = zip.u32(at + 42);
    read_zip64_field(zip, at + kCentralSize + name_size, extra_size, {&size, &packed, &local});
    if ((zip.u16(at + 8) & kEncrypted) != 0) fail("{}: entry '{}' is encrypted", path_, name);
    if (zip.u16(at + 10) != 0 || packed != size) {
      fail("{}: entry '{}' is compressed: torch.export.save stores entries as they are", path_,
           name);
    }
    if (zip.u32(local) != kLocalHeader) {
      fail("{}: entry '{}' has no header at {}", path_, name, local);
    }
    const auto data = local + kLocalSize + zip.u16(local + 26) + zip.u16(local + 28);
    const Entry entry{zip.piece(data, size), static_cast<std::uint32_t>(zip.u32(at + 16))};
    if (!entries_.emplace(name, entry).second) fail("{}: entry '{}' is there twice", path_, name);
    at += kCentralSize + name_size + extra_size + comment_size;
    if (at > end) fail("{}: not a whole zip archive: its list of entries is cut off", path_);
  }
}

std::span<const std::byte> ZipFile::bytes(std::string_view name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) fail("{}: no entry '{}'", path_, name);
  const auto& entry = found->second;
  if (zip_crc32(entry.bytes) != entry.crc) {
    fail("{}: entry '{}' is damaged: its checksum is another", path_, name);
  }
  return entry.bytes;
}

std::string_view ZipFile::text(std::string_view name) const {
  const auto found = bytes(name);
  return {reinterpret_cast<const char*>(found.data()), found.size()};  // NOLINT
}

}  // namespace assay::models::pt2
