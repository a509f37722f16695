// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// A program without NetCDF and HDF5: what it has works, what it has not is said at once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "base/error.h"
#include "base/file.h"
#include "transport/files/data_file.h"
#include "transport/files/netcdf_reader.h"

namespace assay::transport {
namespace {

std::string environment_refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const EnvironmentError& e) {
    return e.what();
  }
  return "nothing was refused";
}

TEST(LeftOut, FormatsAreRefusedBeforeAnythingIsSolved) {
  const TemporaryDirectory folder;
  const auto in_folder = [&](const char* name) { return folder.path() + name; };
  for (const char* name : {"/a.nc", "/a.h5"}) {
    EXPECT_THAT(environment_refusal([&] { check_data_path(in_folder(name)); }),
                ::testing::HasSubstr("built without NetCDF and HDF5"));
  }
  EXPECT_THAT(environment_refusal([&] { NetcdfReader file(in_folder("/a.nc")); }),
              ::testing::HasSubstr("/a.nc"));
  check_data_path(in_folder("/a.npz"));
  write_data_file(in_folder("/a.npz"), {{{"n", 1}}, {{"x", {"n"}, {1}, "1", "one"}}, {}, {}, {}});
  EXPECT_GT(std::filesystem::file_size(in_folder("/a.npz")), 100u);
}

}  // namespace
}  // namespace assay::transport
