// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// The header of NetCDF-3, as the format's specification has it: big-endian numbers, names and
// values padded to four bytes. Counts are 4 bytes long, in CDF-5 8; places in the file 4 bytes in
// the classic format, else 8.
#include "transport/files/netcdf_length.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace assay::transport {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();

std::uint64_t bounded_product(std::uint64_t a, std::uint64_t b) {
  return a != 0 && b > kMost / a ? kMost : a * b;
}
std::uint64_t bounded_sum(std::uint64_t a, std::uint64_t b) {
  return a > kMost - b ? kMost : a + b;
}

class Header {
 public:
  Header(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  // How long the file must be.
  std::uint64_t length() {
    const auto version = bytes_[3];
    at_ = 4;
    count_bytes_ = version == 5 ? 8 : 4;
    const std::size_t place_bytes = version == 1 ? 4 : 8;
    const auto records = number(count_bytes_);
    const bool streaming = records == (count_bytes_ == 4 ? 0xffffffffU : ~std::uint64_t{0});

    std::vector<std::uint64_t> dimensions;
    for (auto n = list(); n > 0; --n) {
      name();
      dimensions.push_back(number(count_bytes_));
    }
    attributes();
    std::vector<Variable> variables;
    for (auto n = list(); n > 0; --n) {
      name();
      Variable v;
      v.bytes = 1;
      for (auto rank = number(count_bytes_), i = std::uint64_t{0}; i < rank; ++i) {
        const auto dimension = number(count_bytes_);
        if (dimension >= dimensions.size()) damaged();
        const auto size = dimensions[static_cast<std::size_t>(dimension)];
        if (size == 0 && i == 0) {
          v.record = true;
        } else {
          v.bytes = bounded_product(v.bytes, size);
        }
      }
      attributes();
      v.bytes = bounded_product(v.bytes, type_size(number(4)));
      number(count_bytes_);  // the same size, padded; too small a number for large variables
      v.begin = number(place_bytes);
      variables.push_back(v);
    }

    std::uint64_t record_bytes = 0;
    const auto of_records = std::ranges::count(variables, true, &Variable::record);
    for (const auto& v : variables) {
      if (v.record)
        record_bytes = bounded_sum(record_bytes, of_records == 1 ? v.bytes : padded(v.bytes));
    }
    std::uint64_t end = at_;
    for (const auto& v : variables) {
      if (v.record && (records == 0 || streaming)) continue;
      auto last = bounded_sum(v.begin, v.bytes);
      if (v.record) last = bounded_sum(last, bounded_product(records - 1, record_bytes));
      end = std::max(end, last);
    }
    return end;
  }

 private:
  struct Variable {
    std::uint64_t begin = 0, bytes = 0;
    bool record = false;
  };

  static std::uint64_t padded(std::uint64_t bytes) { return bounded_sum(bytes, 3) / 4 * 4; }
  [[noreturn]] void damaged() const { fail("{}: the header of the NetCDF file is damaged", path_); }

  std::uint64_t number(std::size_t bytes) {
    if (bytes_.size() - at_ < bytes) {
      fail("{}: the file is cut short: it ends after {} bytes, inside its header", path_,
           bytes_.size());
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      value = value << 8 | static_cast<unsigned char>(bytes_[at_ + i]);
    }
    at_ += bytes;
    return value;
  }
  void skip(std::uint64_t bytes) {
    if (bytes > bytes_.size() - at_) {
      fail("{}: the file is cut short: it ends after {} bytes, inside its header", path_,
           bytes_.size());
    }
    at_ += static_cast<std::size_t>(bytes);
  }
  std::uint64_t list() {
    number(4);  // a tag, or 0 where the list is absent
    return number(count_bytes_);
  }
  void name() { skip(padded(number(count_bytes_))); }
  void attributes() {
    for (auto n = list(); n > 0; --n) {
      name();
      const auto size = type_size(number(4));
      skip(padded(bounded_product(number(count_bytes_), size)));
    }
  }
  std::uint64_t type_size(std::uint64_t type) const {
    // byte, char, short, int, float, double; CDF-5: unsigned byte, short, int, then 64-bit
    // integers.
    static constexpr std::uint64_t kSizes[] = {1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    if (type < 1 || type > std::size(kSizes)) damaged();
    return kSizes[type - 1];
  }

  std::string_view bytes_;
  const std::string& path_;
  std::size_t at_ = 0, count_bytes_ = 4;
};

}  // namespace

void check_netcdf_length(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.text();
  if (bytes.size() < 4 || !bytes.starts_with("CDF")) return;
  if (bytes[3] != 1 && bytes[3] != 2 && bytes[3] != 5) return;  // the library says what is wrong
  const auto length = Header(bytes, path).length();
  if (bytes.size() < length) {
    fail("{}: the file is cut short: its header asks for {} bytes, got {}", path, length,
         bytes.size());
  }
}

}  // namespace assay::transport
