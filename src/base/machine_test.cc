// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/machine.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Machine, FingerprintCoversTheHardwareAlone) {
  Machine a;
  a.cpu_model = "one";
  Machine b = a;
  b.kernel = "newer";
  b.os = "other";
  b.governor = "powersave";
  b.gpu_driver = "555";
  EXPECT_EQ(a.fingerprint(), b.fingerprint());
  b.cores = 2;
  EXPECT_NE(a.fingerprint(), b.fingerprint());
  b = a;
  b.gpus = {"H200"};
  EXPECT_NE(a.fingerprint(), b.fingerprint());
}

TEST(Machine, ReadsThisOne) {
  const auto machine = read_machine();
  EXPECT_FALSE(machine.cpu_model.empty());
  EXPECT_GE(machine.cores, 1);
  EXPECT_GE(machine.logical_cpus, machine.cores);
  EXPECT_GT(machine.memory_gib, 0);
  EXPECT_EQ(machine.fingerprint(), read_machine().fingerprint());
}

}  // namespace
}  // namespace assay
