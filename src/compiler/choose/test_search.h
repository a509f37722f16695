// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Searches for tests: models that are small, and a referee that has no clock.

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/philox.h"
#include "compiler/choose/search.h"
#include "compiler/choose/search_journal.h"
#include "compiler/graph/graph_models.h"

namespace assay::compiler {

// A layer of a model, small.
inline GraphTensor layer(Graph& g, const GraphTensor& x, const std::string& name) {
  const auto input = [&](const char* what, std::vector<Dim> shape) {
    return GraphTensor::input(g, name + what, x.dtype(), std::move(shape));
  };
  const Dim s = x.shape()[0];
  const auto heads = [&](const GraphTensor& y) { return y.split(-1, 4).transpose(0, 1); };
  const auto h = rms_norm(x, input("norm", {8}), 1e-5);
  AttentionOptions options;
  options.causal = true;
  const auto mixed =
      attention(heads(matmul(h, input("q", {8, 8}))), heads(matmul(h, input("k", {8, 8}))),
                heads(matmul(h, input("v", {8, 8}))), options);
  const auto x1 = x + matmul(mixed.transpose(0, 1).reshape({s, 8}), input("o", {8, 8}));
  const auto h1 = rms_norm(x1, input("norm1", {8}), 1e-5);
  return x1 + matmul(swiglu(matmul(h1, input("gate", {8, 12})), matmul(h1, input("up", {8, 12}))),
                     input("down", {12, 8}));
}
inline Graph layers(int count, DType dtype = DType::kF32) {
  Graph g;
  auto x = GraphTensor::input(g, "x", dtype, {g.symbol("s", 1, 9), 8});
  for (int i = 0; i < count; ++i) x = layer(g, x, "layer" + std::to_string(i) + ".");
  x.set_output("y");
  return g;
}

// Of a search, in seconds: however slow the machine is, its candidates are tried.
inline constexpr double kAllTheTime = 1e9;

inline std::string fresh_folder(const char* name) {
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("assay-{}-{}", name, ::getpid());
  std::filesystem::remove_all(path);
  return path.string();
}

inline std::vector<Json> lines_of(const std::string& file) {
  std::vector<Json> lines;
  const SearchJournal journal(file, [&](const Json& line) {
    lines.push_back(line);
    return true;
  });
  return lines;
}
// The programs of one seed, in their order.
inline std::vector<std::string> proposed(const std::string& file, std::uint64_t seed) {
  std::vector<std::string> programs;
  for (const auto& line : lines_of(file)) {
    if (line.value("seed", "") == std::to_string(seed)) programs.push_back(line.at("program"));
  }
  return programs;
}

// Says that programs of more steps are faster; what it tells of those that are not is noise.
class CountingReferee : public Referee {
 public:
  CountingReferee(const RefereeContext& context, std::uint64_t noise)
      : standard_(seconds(context.standard)), best_(seconds(context.best)), noise_(noise, 0) {}
  Verdict judge(const Program& candidate) override {
    const double relative = seconds(candidate) / standard_;
    if (seconds(candidate) >= best_ * kClearlyFaster) {
      return {.relative = relative + 1e-3 * uniform(noise_[next_++], 0, 1)};
    }
    best_ = seconds(candidate);
    return {.is_faster = true, .relative = relative, .low = relative, .high = relative};
  }

 private:
  static double seconds(const Program& program) {
    return 1 / static_cast<double>(program.steps.size());
  }
  double standard_, best_;
  Philox noise_;
  std::uint64_t next_ = 0;
};
inline SearchOptions counted(std::uint64_t seed, std::string folder, std::uint64_t noise = 1) {
  SearchOptions options;
  options.candidates = 12;
  options.seconds = kAllTheTime;
  options.seed = seed;
  options.symbols = {{"s", 3}};
  options.verify.most = 3;
  options.folder = std::move(folder);
  options.referee = [noise](const RefereeContext& context) {
    return std::make_unique<CountingReferee>(context, noise);
  };
  return options;
}

}  // namespace assay::compiler
