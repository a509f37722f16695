// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Zip archives whose entries are stored as they are, which is how torch writes its own: mapped, so
// that an entry is a piece of the file. Zip64 is understood.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/file.h"

namespace assay::models::pt2 {

// CRC-32 as zip has it (IEEE 802.3, reflected).
std::uint32_t zip_crc32(std::span<const std::byte> bytes);

class ZipFile {
 public:
  // Throws UserError that names the path, and the entry where one is to blame: no archive, one that
  // is cut off, entries that are compressed, encrypted, twice there or outside of the file.
  explicit ZipFile(const std::string& path);

  const std::string& path() const { return path_; }
  bool contains(std::string_view name) const { return entries_.find(name) != entries_.end(); }
  // The entry's bytes, valid while this object lives. Its checksum is looked at every time: who
  // reads an entry again keeps the span. Throws UserError that names path and entry: none of that
  // name, other content than was written.
  std::span<const std::byte> bytes(std::string_view name) const;
  std::string_view text(std::string_view name) const;

  struct Entry {
    std::span<const std::byte> bytes;
    std::uint32_t crc = 0;
  };
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }

 private:
  std::string path_;
  MappedFile file_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace assay::models::pt2
