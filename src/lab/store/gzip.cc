// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace assay::lab {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
// Rows shrink to a tenth or a thirtieth; zeros to a thousandth, and a small file fills the memory.
constexpr std::size_t kHarmless = std::size_t{64} << 20, kMostTimes = 250;
constexpr int kGzipOnly = 16 + MAX_WBITS;  // as zlib spells it

}  // namespace

class Gunzip::Inflater {
 public:
  Inflater() { check(::inflateInit2(&stream, kGzipOnly) == Z_OK, "zlib can be used"); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { ::inflateEnd(&stream); }
  z_stream stream = {};
};

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

Gunzip::Gunzip(std::string what)
    : what_(std::move(what)), inflater_(std::make_unique<Inflater>()) {}

Gunzip::~Gunzip() = default;

void Gunzip::add(std::string_view bytes, std::string& text) {
  auto& stream = inflater_->stream;
  bool is_full = false;  // there may be more of what was read
  while (is_full || !bytes.empty()) {
    if (!inside_ && read_ > 0) {  // zeros after a member fill a block of a tape or a disk
      bytes.remove_prefix(std::min(bytes.find_first_not_of('\0'), bytes.size()));
      if (bytes.empty()) return;
    }
    if (written_ > std::max(kHarmless, kMostTimes * read_))
      fail("{}: more than {} times its size behind its compression", what_, kMostTimes);
    const auto piece = std::min(bytes.size(), kPiece);
    const auto before = text.size();
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
    read_ += read, written_ += written;
    is_full = stream.avail_out == 0;
    if (status == Z_STREAM_END) {
      inside_ = is_full = false;
      ::inflateReset(&stream);
    } else if (status == Z_OK) {
      inside_ = true;
    } else if (status != Z_BUF_ERROR) {  // which is: nothing was left of what was read
      fail("{}: not whole, or damaged: {}", what_, stream.msg != nullptr ? stream.msg : "no data");
    }
  }
}

void Gunzip::end() const {
  if (inside_) fail("{}: not whole, or damaged: it ends too soon", what_);
}

}  // namespace assay::lab
