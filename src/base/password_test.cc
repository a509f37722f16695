// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/password.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace assay {
namespace {

TEST(Password, IsHiddenInMessages) {
  for (const auto& [message, shown] : std::vector<std::pair<std::string, std::string>>{
           {"cannot read 'store=postgresql://lab:secret@h/db'",
            "cannot read 'store=postgresql://lab:…@h/db'"},
           {"no such file: ' jdbc:postgresql://h/db?user=u&password=secret'",
            "no such file: ' jdbc:postgresql://h/db?user=u&password=…'"},
           {"'a://u:secret@h' and 'b://v:secret@h'", "'a://u:…@h' and 'b://v:…@h'"},
           {"password=secret", "password=…"},
           {"no run of that name: 'u:secret@h/db'", "no run of that name: 'u:…@h/db'"},
           {"--store=u:sec/r@t@h/db, :secret@h", "--store=u:…@h/db, :…@h"},
           {"jdbc:postgresql:u:secret@h", "jdbc:…@h"},
           {"'/data/12:30/a@n1', 'a@h:5432/db', 'u:$X@h', 'a:@h', 'j.jsonl:12: no key x@'",
            "'/data/12:30/a@n1', 'a@h:5432/db', 'u:$X@h', 'a:@h', 'j.jsonl:12: no key x@'"},
           {"got 'https://h:80/a@b' and n=5, passes=2, ' = '",
            "got 'https://h:80/a@b' and n=5, passes=2, ' = '"},
           {"", ""}}) {
    EXPECT_EQ(without_passwords(message), shown);
    EXPECT_EQ(without_passwords(shown), shown);
  }
}

}  // namespace
}  // namespace assay
