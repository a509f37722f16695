// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/gzip.h"

#include <zlib.h>

#include <algorithm>

#include "base/error.h"

namespace assay::lab {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
// Rows shrink to a tenth or a thirtieth; zeros to a thousandth, and a small file fills the memory.
constexpr std::size_t kHarmless = std::size_t{64} << 20, kMostTimes = 250;
constexpr int kGzipOnly = 16 + MAX_WBITS;  // as zlib spells it

class Inflater {
 public:
  Inflater() { check(::inflateInit2(&stream, kGzipOnly) == Z_OK, "zlib can be used"); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { ::inflateEnd(&stream); }
  z_stream stream = {};
};

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::string gunzip(std::string_view bytes, std::string_view what) {
  Inflater inflater;
  auto& stream = inflater.stream;
  std::string text;
  const auto most = std::max(kHarmless, kMostTimes * bytes.size());
  bool inside = false;  // a member has begun and not ended
  while (inside || !bytes.empty()) {
    const auto piece = std::min(bytes.size(), kPiece);
    const auto before = text.size();
    if (before > most)
      fail("{}: more than {} times its size behind its compression", what, kMostTimes);
    text.resize(before + kPiece);
    // zlib reads what it is given as a pointer to what it could write.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(piece);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + before);
    stream.avail_out = static_cast<uInt>(kPiece);
    const int status = ::inflate(&stream, Z_NO_FLUSH);
    const auto read = piece - stream.avail_in, written = kPiece - stream.avail_out;
    text.resize(before + written);
    bytes.remove_prefix(read);
    if (status == Z_STREAM_END) {
      inside = false;
      ::inflateReset(&stream);
    } else if (status == Z_OK && (read > 0 || written > 0)) {
      inside = true;
    } else {
      fail("{}: not whole, or damaged: {}", what,
           stream.msg != nullptr ? stream.msg : "it ends too soon");
    }
  }
  return text;
}

}  // namespace assay::lab
