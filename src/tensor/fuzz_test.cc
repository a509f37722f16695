// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Valid files, mutated: a reader must throw UserError or succeed, never crash, and what it then
// shows must be readable to the last byte. Seeded, so a failure repeats; the sanitised build runs
// the same mutations.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/philox.h"
#include "tensor/fill.h"
#include "tensor/npy.h"
#include "tensor/safetensors.h"

namespace assay {
namespace {

using namespace std::string_view_literals;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : stream_(seed, stream_key("fuzz")) {}
  std::size_t below(std::size_t bound) {
    return static_cast<std::size_t>(uniform_below(stream_[next_++], bound));
  }

 private:
  Philox stream_;
  std::uint64_t next_ = 0;
};

// One to four of: flip a bit, set a byte, cut off, insert, delete, copy a part elsewhere. Most hit
// the first `head` bytes, where the structure is.
std::string mutated(std::string file, std::size_t head, Dice& dice) {
  static constexpr auto kLikely = "{}[]():,'\"0123456789-eLTF<>|=\\ \n\0\xff"sv;
  const auto place = [&] {
    const std::size_t range = dice.below(3) == 0 ? file.size() : std::min(head, file.size());
    return dice.below(std::max<std::size_t>(range, 1));
  };
  const std::size_t edits = 1 + dice.below(4);
  for (std::size_t i = 0; i < edits && !file.empty(); ++i) {
    const std::size_t at = place();
    switch (dice.below(7)) {
      case 0:
        file[at] = static_cast<char>(file[at] ^ (1 << dice.below(8)));
        break;
      case 1:
        file[at] = static_cast<char>(dice.below(256));
        break;
      case 2:
        file[at] = kLikely[dice.below(kLikely.size())];
        break;
      case 3:
        file.insert(at, 1, kLikely[dice.below(kLikely.size())]);
        break;
      case 4:
        file.erase(at, 1 + dice.below(4));
        break;
      case 5:
        file.insert(at, file.substr(place(), dice.below(40)));
        break;
      default:
        file.resize(dice.below(file.size() + 1));
        break;
    }
  }
  return file;
}

double sum_of(const TensorView& view) {
  double sum = 0;
  for (std::int64_t i = 0; i < view.element_count(); ++i)
    sum += std::abs(value_as_complex(view, i));
  return sum;
}

void write_plainly(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

struct Counts {
  int accepted = 0, refused = 0;
};

template <typename Read>
Counts fuzz(const std::string& path, const std::string& valid, std::size_t head, int rounds,
            std::uint64_t seed, Read read) {
  Dice dice(seed);
  Counts counts;
  for (int i = 0; i < rounds; ++i) {
    write_plainly(path, mutated(valid, head, dice));
    try {
      read(path);
      ++counts.accepted;
    } catch (const UserError& e) {
      ++counts.refused;
      EXPECT_NE(std::string(e.what()).find(path), std::string::npos) << e.what();
    }
  }
  return counts;
}

TEST(Fuzz, SafetensorsThrowOrSucceed) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/f.safetensors";
  Tensor f(DType::kF32, {3, 4}), b(DType::kBool, {7}), c(DType::kC64, {2});
  fill_uniform(f.mutable_view(), Philox(1), -1, 1);
  fill_below(b.mutable_view(), Philox(2), 2);
  const Tensor empty(DType::kI64, {0, 3});
  write_safetensors(
      path, {{"weights", f.view()}, {"mask", b.view()}, {"z", c.view()}, {"none", empty.view()}},
      {{"format", "pt"}});
  const std::string valid = read_file(path);
  const std::size_t head = valid.size() - 48 - 7 - 16;
  const Counts counts = fuzz(path, valid, head, 6000, 11, [](const std::string& p) {
    const SafetensorsFile file(p);
    for (const std::string& name : file.names()) sum_of(file.view(name));
  });
  // Both outcomes happen, or the mutations test nothing.
  EXPECT_GT(counts.accepted, 20);
  EXPECT_GT(counts.refused, 1000);
}

TEST(Fuzz, NpyThrowsOrSucceeds) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/f.npy";
  for (const bool fortran : {false, true}) {
    Tensor f(DType::kF64, {3, 4});
    fill_uniform(f.mutable_view(), Philox(1), -1, 1);
    write_npy(path, f.view(), {fortran ? 3 : 1, fortran});
    const std::string valid = read_file(path);
    const Counts counts = fuzz(path, valid, 80, 3000, fortran ? 12 : 13,
                               [](const std::string& p) { sum_of(NpyFile(p).view()); });
    EXPECT_GT(counts.accepted, 20);
    EXPECT_GT(counts.refused, 500);
  }
}

TEST(Fuzz, EveryTruncationIsRefused) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/f";
  Tensor f(DType::kF32, {5});
  write_safetensors(path, {{"a", f.view()}});
  const std::string safetensors = read_file(path);
  write_npy(path, f.view());
  const std::string npy = read_file(path);
  for (std::size_t n = 0; n < safetensors.size(); ++n) {
    write_plainly(path, safetensors.substr(0, n));
    EXPECT_THROW(SafetensorsFile{path}, UserError) << n;
  }
  for (std::size_t n = 0; n < npy.size(); ++n) {
    write_plainly(path, npy.substr(0, n));
    EXPECT_THROW(NpyFile{path}, UserError) << n;
  }
}

}  // namespace
}  // namespace assay
