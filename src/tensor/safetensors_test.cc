// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "tensor/npy.h"
#include "tensor/test_sample.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Safetensors : public testing::Test {
 protected:
  std::string path(const std::string& name = "t.safetensors") const {
    return folder_.path() + "/" + name;
  }

  void make(const std::string& header, const std::string& data) {
    const std::uint64_t length = header.size();
    std::ofstream file(path(), std::ios::binary);
    file.write(reinterpret_cast<const char*>(&length), 8);
    file << header << data;
  }

  std::string refusal(const std::string& header, const std::string& data) {
    make(header, data);
    try {
      SafetensorsFile file(path());
    } catch (const UserError& e) {
      const std::string message = e.what();
      EXPECT_THAT(message, HasSubstr(path()));
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
      return message;
    }
    return "accepted";
  }

  TemporaryDirectory folder_;
};

TEST_F(Safetensors, EveryDtypeComesBackAligned) {
  std::vector<Tensor> tensors;
  std::vector<std::pair<std::string, TensorView>> named;
  for (int i = 0; i <= static_cast<int>(DType::kC128); ++i) {
    tensors.push_back(sample(static_cast<DType>(i), {3, 5}));
    named.emplace_back(std::string(name_of(tensors.back().dtype())), tensors.back().view());
  }
  tensors.push_back(Tensor(DType::kF32, {0, 4}));
  named.emplace_back("empty", tensors.back().view());
  tensors.push_back(sample(DType::kF32, {}));
  named.emplace_back("scalar \"ü\"", tensors.back().view());
  named.emplace_back("transposed", named[11].second.transpose());
  write_safetensors(path(), named, {{"format", "pt"}, {"note", "two\nlines"}});

  const SafetensorsFile file(path());
  EXPECT_EQ(file.names().size(), named.size());
  EXPECT_EQ(file.metadata().at("note"), "two\nlines");
  for (const auto& [name, view] : named) {
    ASSERT_TRUE(file.contains(name));
    const TensorView stored = file.view(name);
    EXPECT_EQ(stored.dtype(), view.dtype());
    ASSERT_EQ(stored.shape(), view.shape());
    EXPECT_TRUE(std::ranges::equal(Tensor::copy(stored).bytes(), Tensor::copy(view).bytes()));
  }
  EXPECT_FALSE(file.contains("nothing"));
  EXPECT_THAT([&] { file.view("nothing"); },
              ThrowsMessage<UserError>(HasSubstr("no tensor named \"nothing\"")));
}

TEST_F(Safetensors, BytesDependOnContentAlone) {
  const Tensor a = sample(DType::kF32, {2}), b = sample(DType::kF64, {3});
  write_safetensors(path("1"), {{"a", a.view()}, {"b", b.view()}}, {{"x", "1"}, {"y", "2"}});
  write_safetensors(path("2"), {{"b", b.view()}, {"a", a.view()}}, {{"y", "2"}, {"x", "1"}});
  EXPECT_EQ(read_file(path("1")), read_file(path("2")));
}

TEST_F(Safetensors, MovingTheFileKeepsItsViews) {
  make(R"({"m":{"dtype":"F32","shape":[1],"data_offsets":[1,5]},)"
       R"("b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
       std::string("\x07\0\0\x80\x3f", 5));
  SafetensorsFile file(path());  // `m` is misaligned in the file: copied, not refused
  const SafetensorsFile moved = std::move(file);
  EXPECT_EQ(moved.view("m").at<float>(0), 1.0f);
  EXPECT_EQ(moved.view("b").at<std::uint8_t>(0), 7);
}

TEST_F(Safetensors, EmptyFileOfTensors) {
  write_safetensors(path(), {});
  EXPECT_TRUE(SafetensorsFile(path()).names().empty());
}

TEST_F(Safetensors, RefusesWithOneClearLine) {
  const std::string four(4, '\0');
  const auto one = [](const std::string& entry) { return "{\"a\":{" + entry + "}}"; };
  const std::string good = R"("dtype":"F32","shape":[1],"data_offsets":[0,4])";
  EXPECT_EQ(refusal(one(good), four), "accepted");
  EXPECT_EQ(refusal(one(good) + "   ", four), "accepted");  // padding
  EXPECT_THAT(refusal(one(good), "123"), HasSubstr("tensors end at byte 4, the file has 3"));
  EXPECT_THAT(refusal(one(good), four + "x"), HasSubstr("bytes after the last tensor: 1"));
  EXPECT_THAT(refusal(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), four),
              HasSubstr("shape 2 and dtype f32 take 8 bytes, data_offsets are [0,4]"));
  EXPECT_THAT(refusal(one(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"), four),
              HasSubstr("data_offsets are [4,0]"));
  EXPECT_THAT(refusal(one(R"("dtype":"F32","shape":[1],"data_offsets":[-4,0])"), four),
              HasSubstr("not two offsets: [-4,0]"));
  EXPECT_THAT(
      refusal(one(R"("dtype":"F32","shape":[1],"data_offsets":[18446744073709551612,0])"), four),
      HasSubstr("data_offsets are [18446744073709551612,0]"));
  EXPECT_THAT(
      refusal(one(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4])"), four),
      HasSubstr("not a shape"));
  EXPECT_THAT(
      refusal(one(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4])"), four),
      HasSubstr("too many elements"));
  EXPECT_THAT(refusal(one(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])"), four),
              HasSubstr("not a shape: [1.0]"));
  EXPECT_THAT(refusal(one(R"("dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4])"), four),
              HasSubstr("unsupported dtype: \"F8_E4M3\""));
  EXPECT_THAT(refusal(one(R"("dtype":"F32","shape":[1])"), four),
              HasSubstr("missing key 'data_offsets'"));
  EXPECT_THAT(refusal(one(good + R"(,"x":1)"), four), HasSubstr("unknown key: \"x\""));
  EXPECT_THAT(refusal("{\"a\":{" + good + "},\"a\":{" + good + "}}", four),
              HasSubstr("repeated key \"a\""));
  EXPECT_THAT(refusal("{\"a\":{" + good + "},\"b\":{" + good + "}}", four),
              HasSubstr("tensor \"b\" overlaps another at byte 0"));
  EXPECT_THAT(refusal(one(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), four + four),
              HasSubstr("belong to none: 0 to 4"));
  EXPECT_THAT(refusal(R"({"a\nb":1})", ""), HasSubstr(R"(tensor "a\nb": expected an object: 1)"));
  EXPECT_THAT(refusal(R"({"__metadata__":{"a":1}})", ""), HasSubstr("not a string: 1"));
  EXPECT_THAT(refusal(R"({"__metadata__":[]})", ""), HasSubstr("not an object"));
  EXPECT_THAT(refusal("[]", ""), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal("{", ""), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal(one(R"("dtype":"BOOL","shape":[4],"data_offsets":[0,4])"), {0, 1, 3, 0}),
              HasSubstr("neither 0 nor 1: 3"));
  EXPECT_THAT(refusal("{\"a\":" + std::string(1000, '['), ""), HasSubstr("nested deeper"));

  std::ofstream(path(), std::ios::binary) << "1234567";
  EXPECT_THAT([&] { SafetensorsFile{path()}; }, ThrowsMessage<UserError>(HasSubstr("too short")));
  std::ofstream(path(), std::ios::binary) << "\xff\xff\xff\xff\xff\xff\xff\xff{}";
  EXPECT_THAT([&] { SafetensorsFile{path()}; }, ThrowsMessage<UserError>(HasSubstr("too long")));
  std::ofstream(path(), std::ios::binary) << std::string("\x10\0\0\0\0\0\0\0{}", 10);
  EXPECT_THAT([&] { SafetensorsFile{path()}; },
              ThrowsMessage<UserError>(HasSubstr("cut off in its header")));
}

TEST_F(Safetensors, RefusesToWriteWhatCannotBeRead) {
  const Tensor t(DType::kF32, {1});
  EXPECT_THAT(
      [&] {
        write_safetensors(path(), {{"a", t.view()}, {"a", t.view()}});
      },
      ThrowsMessage<UserError>(HasSubstr("two tensors are named \"a\"")));
  EXPECT_THROW(write_safetensors(path(), {{"__metadata__", t.view()}}), UserError);
  EXPECT_THAT(
      [&] {
        write_safetensors(path(), {{"a\xff", t.view()}});
      },
      ThrowsMessage<UserError>(HasSubstr("not valid UTF-8")));
  EXPECT_FALSE(std::filesystem::exists(path()));
}

// Files larger than the limit fail as they do on a full disk: write() writes a part, then nothing.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(Safetensors, AFailedWriteLeavesTheOldFileAndNothingElse) {
  const Tensor small(DType::kF32, {4}), large(DType::kF32, {100'000});
  for (const bool existed : {false, true}) {
    if (existed) write_safetensors(path(), {{"old", small.view()}});
    std::string safetensors_error, npy_error;
    {
      const FileSizeLimit limit(4096);
      try {
        write_safetensors(path(), {{"new", large.view()}});
      } catch (const UserError& e) {
        safetensors_error = e.what();
      }
      try {
        write_npy(path("t.npy"), large.view());
      } catch (const UserError& e) {
        npy_error = e.what();
      }
    }
    EXPECT_THAT(safetensors_error, HasSubstr("cannot write '" + path() + "'"));
    EXPECT_THAT(npy_error, HasSubstr("cannot write '" + path("t.npy") + "'"));
    std::vector<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      left.push_back(entry.path().filename());
    }
    if (existed) {
      EXPECT_THAT(left, ElementsAre("t.safetensors"));
      EXPECT_TRUE(SafetensorsFile(path()).contains("old"));
    } else {
      EXPECT_TRUE(left.empty());
    }
  }
  EXPECT_THAT([&] { write_safetensors(path("no/such/folder"), {}); },
              ThrowsMessage<UserError>(HasSubstr(path("no/such/folder"))));
  if (std::filesystem::exists("/dev/full")) {
    EXPECT_THAT(
        [&] {
          write_safetensors("/dev/full", {{"a", large.view()}});
        },
        ThrowsMessage<UserError>(HasSubstr("/dev/full")));
    EXPECT_TRUE(std::filesystem::exists("/dev/full"));
  }
}

}  // namespace
}  // namespace assay
