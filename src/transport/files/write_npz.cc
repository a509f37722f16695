// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// A .npz file is a zip archive of .npy files. Both formats are small enough to be written here:
// local headers with deflated data, then the central directory.
#include <zlib.h>

#include <cstdint>
#include <cstring>

#include "base/error.h"
#include "transport/files/data_file.h"

namespace assay::transport {
namespace {

void put(std::string& out, std::uint64_t value, int bytes) {  // little endian
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
}

// Version 1.0 of the .npy format: magic, header padded to 64 bytes, elements.
std::string npy(const char* dtype, const std::vector<std::size_t>& shape, std::string_view bytes) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (", dtype);
  for (const auto n : shape) header += fmt::format("{},", n);
  header += "), }";
  header.append(64 - (header.size() + 11) % 64, ' ');
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  put(out, header.size(), 2);
  return out + header + std::string(bytes);
}

std::string npy(const std::vector<std::size_t>& shape, const std::vector<double>& values) {
  std::string bytes;
  for (const double v : values) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &v, sizeof bits);
    put(bytes, bits, 8);
  }
  return npy("<f8", shape, bytes);
}

std::string deflated(const std::string& data, const std::string& path) {
  z_stream stream = {};
  // A negative window: no zlib header, as zip wants it.
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    fail("cannot compress for '{}'", path);
  }
  std::string out(deflateBound(&stream, data.size()), '\0');
  std::string in = data;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) fail("cannot compress for '{}'", path);
  return out;
}

class Zip {
 public:
  explicit Zip(const std::string& path) : path_(path) {}

  void add(const std::string& name, const std::string& data) {
    if (data.size() > 0x7FFFFFFF) fail("an array is too large for npz: '{}'", name);
    const auto packed = deflated(data, path_);
    const auto crc =
        crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
    std::string common;
    put(common, 20, 2);                       // version needed
    put(common, 0, 2);                        // flags
    put(common, 8, 2);                        // deflate
    put(common, 0, 2), put(common, 0x21, 2);  // 1980-01-01: files of equal content are equal
    put(common, crc, 4), put(common, packed.size(), 4), put(common, data.size(), 4);
    put(common, name.size(), 2), put(common, 0, 2);
    const auto offset = file_.size();
    put(file_, 0x04034b50, 4);
    file_ += common + name + packed;
    put(directory_, 0x02014b50, 4);
    put(directory_, 20, 2);  // version made by
    directory_ += common;
    put(directory_, 0, 2), put(directory_, 0, 2), put(directory_, 0, 2), put(directory_, 0, 4);
    put(directory_, offset, 4);
    directory_ += name;
    ++entries_;
  }

  std::string finish() {
    const auto offset = file_.size();
    if (offset > 0x7FFFFFFF) fail("the results are too large for npz: '{}'", path_);
    file_ += directory_;
    put(file_, 0x06054b50, 4);
    put(file_, 0, 4);
    put(file_, entries_, 2), put(file_, entries_, 2);
    put(file_, directory_.size(), 4), put(file_, offset, 4);
    put(file_, 0, 2);
    return file_;
  }

 private:
  std::string path_, file_, directory_;
  std::uint64_t entries_ = 0;
};

}  // namespace

std::string npz_bytes(const std::string& path, const DataFile& data) {
  std::map<std::string, std::size_t> size(data.dimensions.begin(), data.dimensions.end());
  Zip zip(path);
  for (const auto& v : data.variables) {
    std::vector<std::size_t> shape;
    for (const auto& name : v.dimensions) shape.push_back(size.at(name));
    zip.add(v.name + ".npy", npy(shape, v.values));
  }
  std::string description;
  for (const auto& v : data.variables) {
    description += fmt::format("{} [{}]: {}\n", v.name, v.unit, v.description);
  }
  zip.add("variables.npy", npy("|u1", {description.size()}, description));
  for (const auto& [name, text] : data.texts)
    zip.add(name + ".npy", npy("|u1", {text.size()}, text));
  for (const auto& [name, number] : data.numbers) {
    zip.add(name + ".npy", npy({}, std::vector<double>{number}));
  }
  for (const auto& [name, number] : data.integers) {
    std::string bytes;
    put(bytes, static_cast<std::uint64_t>(number), 8);
    zip.add(name + ".npy", npy("<i8", {}, bytes));
  }
  return zip.finish();
}

}  // namespace assay::transport
