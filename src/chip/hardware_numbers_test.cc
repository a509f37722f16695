// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// Hardware numbers live in topology files. In the sources of this folder (tests apart) a number is
// arithmetic (small integers, powers of ten for units, shifts) or an error here. Limits that
// protect the simulating computer are written as shifts.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"

namespace assay::chip {
namespace {

struct Literal {
  std::string text;
  int line;
};

bool word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// The numbers of a C++ source, without those in comments, strings, names and shifts.
std::vector<Literal> literals(const std::string& source) {
  std::vector<Literal> out;
  int line = 1;
  std::string before;  // the last two characters that are not blank
  for (std::size_t i = 0; i < source.size();) {
    const char c = source[i];
    if (c == '\n') ++line;
    if (source.compare(i, 2, "//") == 0) {
      i = std::min(source.find('\n', i), source.size());
    } else if (source.compare(i, 3, "R\"(") == 0) {
      const std::size_t end = source.find(")\"", i);
      line += static_cast<int>(std::count(source.begin() + static_cast<long>(i),
                                          source.begin() + static_cast<long>(end), '\n'));
      i = end + 2;
    } else if (c == '"' || c == '\'') {
      for (++i; source[i] != c; ++i) i += source[i] == '\\' ? 1 : 0;
      ++i;
    } else if (digit(c)) {
      std::size_t end = i;
      while (end < source.size() &&
             (word(source[end]) || source[end] == '.' || source[end] == '\'' ||
              (source[end] == '-' && source[end - 1] == 'e'))) {
        ++end;
      }
      if (before != "<<" && before != ">>") out.push_back({source.substr(i, end - i), line});
      before = "0";
      i = end;
    } else if (word(c)) {
      while (i < source.size() && word(source[i])) ++i;
      before = "a";
    } else {
      if (std::isspace(static_cast<unsigned char>(c)) == 0) {
        before = (before + c).substr(before.size() > 1 ? before.size() - 1 : 0);
      }
      ++i;
    }
  }
  return out;
}

bool arithmetic(const std::string& text) {
  static const std::set<std::string> known = {
      "0", "1", "2", "3", "4", "0.0", "0.99", "10", "100", "1000", "1'000'000'000'000"};
  return known.contains(text) || text.starts_with("1e");  // powers of ten
}

TEST(HardwareNumbers, TheScannerSeesThem) {
  std::vector<std::string> seen;
  for (const auto& l :
       literals("int a1 = 256; // 512\nf(\"64\", 'x', 1 << 12, 0x20, 1e-9, 4'096.5);"
                "R\"(77)\" x>>3, -32")) {
    seen.push_back(l.text + "@" + std::to_string(l.line));
  }
  EXPECT_EQ(seen,
            (std::vector<std::string>{"256@1", "1@2", "0x20@2", "1e-9@2", "4'096.5@2", "32@2"}));
}

TEST(HardwareNumbers, LiveInTopologyFilesOnly) {
  const std::map<std::string, std::set<std::string>> exceptions = {
      {"scalesim.cc", {"8"}},  // columns of a foreign file
  };
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(ASSAY_CHIP_SOURCES)) {
    const std::string name = entry.path().filename().string();
    const std::string extension = entry.path().extension().string();
    if ((extension != ".h" && extension != ".cc") || name.find("_test") != std::string::npos) {
      continue;
    }
    ++files;
    const auto known = exceptions.find(name);
    for (const auto& literal : literals(read_file(entry.path().string()))) {
      EXPECT_TRUE(arithmetic(literal.text) ||
                  (known != exceptions.end() && known->second.contains(literal.text)))
          << name << ":" << literal.line << " holds the number " << literal.text;
    }
  }
  EXPECT_GE(files, 40);
}

}  // namespace
}  // namespace assay::chip
