// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/process.h"
#include "tensor/test_sample.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Npy : public testing::Test {
 protected:
  std::string path(const std::string& name = "t.npy") const { return folder_.path() + "/" + name; }

  // A file with the given header dictionary and data, version 1, not padded unless asked for.
  std::string make(const std::string& header, const std::string& data, char version = 1) {
    std::string file = "\x93NUMPY";
    file += version;
    file += '\0';
    const auto length = static_cast<std::uint32_t>(header.size());
    file.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
    std::ofstream(path(), std::ios::binary) << file << header << data;
    return path();
  }

  std::string refusal(const std::string& header, const std::string& data) {
    make(header, data);
    try {
      NpyFile file(path());
    } catch (const UserError& e) {
      const std::string message = e.what();
      EXPECT_THAT(message, HasSubstr(path()));
      return message;
    }
    return "accepted";
  }

  TemporaryDirectory folder_;
};

bool equal(const TensorView& a, const TensorView& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  for (std::int64_t i = 0; i < a.element_count(); ++i) {
    if (value_as_complex(a, i) != value_as_complex(b, i)) return false;
  }
  return true;
}

TEST_F(Npy, EveryDtypeVersionAndOrderComesBack) {
  for (int i = 0; i <= static_cast<int>(DType::kC128); ++i) {
    const auto dtype = static_cast<DType>(i);
    const Tensor t = sample(dtype, {3, 4, 5});
    for (const int version : {1, 2, 3}) {
      for (const bool fortran : {false, true}) {
        if (dtype == DType::kBF16) {
          EXPECT_THAT(
              [&] {
                write_npy(path(), t.view(), {version, fortran});
              },
              ThrowsMessage<UserError>(HasSubstr("NumPy has no dtype bf16")));
          continue;
        }
        write_npy(path(), t.view(), {version, fortran});
        const NpyFile file(path());
        EXPECT_TRUE(equal(file.view(), t.view())) << name_of(dtype) << version << fortran;
        EXPECT_EQ(file.view().is_contiguous(), !fortran);
        EXPECT_TRUE(equal(read_npy(path()).view(), t.view()));
      }
    }
  }
}

TEST_F(Npy, AwkwardShapes) {
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{7}, Shape{3, 0, 2}, Shape{1, 1}}) {
    const Tensor t = sample(DType::kF64, shape);
    for (const bool fortran : {false, true}) {
      write_npy(path(), t.view(), {1, fortran});
      EXPECT_TRUE(equal(NpyFile(path()).view(), t.view())) << shape.to_string();
    }
  }
}

TEST_F(Npy, WritesStridedViewsInPieces) {
  // Rows longer than a piece, rows shorter than a piece, and one axis alone.
  const Tensor t = sample(DType::kU8, {3, 3'000'000});
  for (const TensorView& view : {t.view().slice(1, 0, 3'000'000, 2), t.view().transpose(),
                                 t.view().select(0, 1).slice(0, 0, 3'000'000, 3)}) {
    write_npy(path(), view);
    const Tensor back = read_npy(path());
    const Tensor expected = Tensor::copy(view);
    EXPECT_EQ(back.shape(), expected.shape());
    EXPECT_TRUE(std::ranges::equal(back.bytes(), expected.bytes()));
  }
}

TEST_F(Npy, HeadersThatOthersWrite) {
  const std::string two_floats = {0, 0, '\x80', '\x3f', 0, 0, 0, '\x40'};
  // Double quotes, no padding (so that the data is misaligned), other order of keys, Python 2
  // longs.
  make(R"({"shape": (2L,), "fortran_order": True, "descr": "<f4"})", two_floats);
  EXPECT_EQ(NpyFile(path()).view().at<float>(1), 2.0f);
  make("{'descr':'=f4','fortran_order':False,'shape':(1,2)}   \n", two_floats, 3);
  EXPECT_EQ(NpyFile(path()).view().at<float>(0, 1), 2.0f);
}

TEST_F(Npy, BigEndianIsSwapped) {
  make("{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}",
       {'\x3f', '\x80', 0, 0, '\x40', 0, 0, 0});
  EXPECT_THAT(read_npy(path()).as<float>(), ElementsAre(1.0f, 2.0f));
  make("{'descr': '>c8', 'fortran_order': True, 'shape': (1, 1)}",
       {'\x3f', '\x80', 0, 0, '\x40', 0, 0, 0});
  EXPECT_EQ(NpyFile(path()).view().at<std::complex<float>>(0, 0), std::complex<float>(1, 2));
  make("{'descr': '>i2', 'fortran_order': False, 'shape': ()}", {1, 2});
  EXPECT_EQ(value_as_double(NpyFile(path()).view(), 0), 258);
}

TEST_F(Npy, BigEndianTakesNoMemoryBesideTheMapping) {
  std::string header = "{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}";
  header.append(128 - 10 - header.size(), ' ');  // elements begin aligned, as NumPy has them
  make(header, {'\x3f', '\x80', 0, 0, '\x40', 0, 0, 0});
  const auto before = read_file(path());
  const NpyFile file(path());
  EXPECT_EQ(file.view().at<float>(1), 2.0f);
  // The elements lie in the one place where this process has the file.
  const auto at = reinterpret_cast<std::uintptr_t>(file.view().raw_data());
  std::istringstream maps(read_file("/proc/self/maps"));
  bool found = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::istringstream(line) >> std::hex >> begin >> dash >> end;
    found |= begin <= at && at < end && line.find(path()) != std::string::npos;
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(read_file(path()), before);
}

TEST_F(Npy, RefusesWithOneClearLine) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}";
  const std::string four(4, '\0');
  EXPECT_EQ(refusal(good, four), "accepted");
  EXPECT_THAT(refusal(good, "123"), HasSubstr("take 4 bytes, the file has 3"));
  EXPECT_THAT(refusal(good, four + "x"), HasSubstr("take 4 bytes, the file has 5"));
  EXPECT_THAT(refusal("{'descr': '<f4', 'shape': (1,)}", four),
              HasSubstr("lacks the key 'fortran_order'"));
  EXPECT_THAT(refusal("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", four),
              HasSubstr("not supported: '|O'"));
  EXPECT_THAT(refusal("{'descr': '<V2', 'fortran_order': False, 'shape': (2,)}", four),
              HasSubstr("'<V2'"));
  EXPECT_THAT(refusal("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", four),
              HasSubstr("structured"));
  EXPECT_THAT(
      refusal("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", four),
      HasSubstr("repeats the key 'descr'"));
  EXPECT_THAT(refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': True}", four),
              HasSubstr("unknown key 'x'"));
  EXPECT_THAT(refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", four),
              HasSubstr("extent"));
  EXPECT_THAT(
      refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", four),
      HasSubstr("extent"));
  EXPECT_THAT(
      refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", four),
      HasSubstr("too many elements: 4294967296x4294967296"));
  EXPECT_THAT(refusal("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}", four),
              HasSubstr("True or False at 'Maybe"));
  EXPECT_THAT(refusal(good + " rubbish\n", four), HasSubstr("goes on after its end: 'rubbish"));
  EXPECT_THAT(refusal("{'descr': '<f4", four), HasSubstr("without end"));
  EXPECT_THAT(refusal("{'descr': '|b1', 'fortran_order': False, 'shape': (4,)}", {0, 1, 2, 0}),
              HasSubstr("byte 2 of the bool elements is neither 0 nor 1: 2"));
  std::ofstream(path(), std::ios::binary) << "hello";
  EXPECT_THAT([&] { NpyFile{path()}; }, ThrowsMessage<UserError>(HasSubstr("not a .npy file")));
  EXPECT_THAT([&] { NpyFile{path("absent.npy")}; },
              ThrowsMessage<UserError>(HasSubstr("absent.npy")));
}

TEST_F(Npy, NumpyReadsWhatWeWriteAndWeReadWhatItWrites) {
  const auto python = [](std::vector<std::string> arguments) {
    ProcessSpec spec;
    spec.argv = {"/usr/bin/python3", "-c"};  // Debian's, which has Debian's NumPy
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    return run_process(spec);
  };
  ASSERT_EQ(python({"import numpy"}).exit_code, 0) << "install python3-numpy";
  const Tensor t = sample(DType::kC64, {3, 4});
  write_npy(path("ours.npy"), t.view(), {1, true});
  const ProcessResult result =
      python({"import sys, numpy as np\n"
              "a = np.load(sys.argv[1], mmap_mode='r')\n"
              "assert a.flags.f_contiguous and a.dtype == np.complex64\n"
              "np.save(sys.argv[2], np.ascontiguousarray(a) * 2)\n"
              "np.save(sys.argv[3], np.asfortranarray(a.real.astype('>f8')))\n",
              path("ours.npy"), path("doubled.npy"), path("swapped.npy")});
  ASSERT_EQ(result.exit_code, 0) << result.stderr_text;
  const NpyFile doubled(path("doubled.npy")), swapped(path("swapped.npy"));
  ASSERT_EQ(doubled.view().shape(), t.shape());
  for (std::int64_t i = 0; i < t.element_count(); ++i) {
    EXPECT_EQ(value_as_complex(doubled.view(), i), value_as_complex(t.view(), i) * 2.0);
    EXPECT_EQ(value_as_double(swapped.view(), i), value_as_complex(t.view(), i).real());
  }
}

}  // namespace
}  // namespace assay
