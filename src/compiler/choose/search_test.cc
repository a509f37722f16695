// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/choose/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <cstring>

#include <filesystem>

#include "base/file.h"
#include "base/philox.h"
#include "compiler/choose/search_journal.h"
#include "compiler/cpu/cpu_runtime.h"
#include "compiler/graph/graph_models.h"
#include "compiler/program/program_json.h"
#include "compiler/testing/random_graph.h"

namespace assay::compiler {
namespace {

using testing::Contains;
using testing::HasSubstr;

// A layer of a model, small.
GraphTensor layer(Graph& g, const GraphTensor& x, const std::string& name) {
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
Graph layers(int count, DType dtype = DType::kF32) {
  Graph g;
  auto x = GraphTensor::input(g, "x", dtype, {g.symbol("s", 1, 9), 8});
  for (int i = 0; i < count; ++i) x = layer(g, x, "layer" + std::to_string(i) + ".");
  x.set_output("y");
  return g;
}

// Of a search, in seconds: however slow the machine is, its candidates are tried.
constexpr double kAllTheTime = 1e9;

std::string fresh_folder(const char* name) {
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("assay-{}-{}", name, ::getpid());
  std::filesystem::remove_all(path);
  return path.string();
}

TEST(Search, LayersShareTheirKernels) {
  const auto one = compile_default(layers(1)), five = compile_default(layers(5));
  // The first layer reads what is given and the last one writes what is asked for.
  EXPECT_LE(five.kernels.size(), one.kernels.size() + 2);
  EXPECT_EQ(compile_default(layers(9)).kernels.size(), five.kernels.size());
  EXPECT_EQ(5 * one.steps.size(), five.steps.size());
}

TEST(Search, ChoicesOfOneLayerAreThoseOfAll) {
  const auto g = layers(4);
  const auto runtime = plain_runtime();
  const Candidates candidates(g, {});
  const auto freedom = candidates.freedom({}, runtime);
  ASSERT_FALSE(freedom.options.empty());
  int shared = 0;
  for (const auto& [signature, count] : freedom.options) {
    Genome genome;
    genome.options[signature] = 1;
    const auto program = candidates.program(genome, runtime);
    // The first layer reads the input, so that a few of its choices are its own.
    shared += program.kernels.size() <= compile_default(g).kernels.size() + 3 ? 1 : 0;
  }
  EXPECT_GE(shared, static_cast<int>(freedom.options.size()) / 2);
}

TEST(Search, FindsItsWayVerifiesAndGoesOnWhereItWas) {
  const auto g = layers(1);
  const auto runtime = plain_runtime();
  SearchOptions options;
  options.folder = fresh_folder("search");
  options.candidates = 6;
  options.seconds = kAllTheTime;
  options.symbols = {{"s", 3}};
  options.verify.most = 3;
  const auto first = search(g, runtime, options);
  EXPECT_EQ(first.tried, 6);
  EXPECT_GE(first.speedup, 1.0);
  const auto file = search_file(g, runtime, options);
  const auto text = read_file(file);
  EXPECT_EQ(std::ranges::count(text, '\n'), 6);

  // Nothing is tried again, and the winner is the same.
  const auto again = search(g, runtime, options);
  EXPECT_EQ(again.tried, 0);
  EXPECT_EQ(program_hash(again.program), program_hash(first.program));
  options.candidates = 0;
  EXPECT_EQ(program_hash(search(g, runtime, options).program), program_hash(first.program));

  // Killed in the middle of a line, and what others wrote is no line of ours.
  const auto winner = parse_json(text.substr(0, text.find('\n')), "line");
  auto impossible = winner;
  impossible["faster"] = true;
  impossible["relative"] = -1;
  const auto foreign = "[1,2]\nnull\n\n{\"seed\":\"0\",\"program\":7}\nnot json\n" +
                       canonical_json(impossible) + "\n";
  write_file_atomically(file, foreign + text.substr(0, text.size() - 10));
  options.candidates = 6;
  const auto resumed = search(g, runtime, options);
  EXPECT_EQ(resumed.from_before, 5);
  EXPECT_EQ(resumed.tried, 1);
  // What it proposes is what it proposed then.
  const auto programs = [](const std::vector<Json>& lines) {
    std::vector<Json> hashes;
    for (const auto& line : lines) {
      if (line.contains("genome") && line.value("relative", Json()) != -1) {
        hashes.push_back(line.at("program"));
      }
    }
    return hashes;
  };
  const auto now = SearchJournal(file).lines();
  write_file_atomically(file, text);
  EXPECT_EQ(programs(now), programs(SearchJournal(file).lines()));
  std::filesystem::remove_all(options.folder);
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
SearchOptions counted(std::uint64_t seed, std::string folder, std::uint64_t noise = 1) {
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
// Of the lines of one seed.
std::vector<std::string> proposed(const std::string& file, std::uint64_t seed) {
  std::vector<std::string> programs;
  const SearchJournal journal(file);
  for (const auto& line : journal.lines()) {
    if (line.at("seed") == std::to_string(seed)) programs.push_back(line.at("program"));
  }
  return programs;
}

TEST(Search, ASeedHasItsCandidatesWhateverTheClockSaysOfThoseThatAreNoFaster) {
  const auto g = layers(1);
  const auto runtime = plain_runtime();
  const auto first = counted(0, fresh_folder("seed0"), 1);
  const auto again = counted(0, fresh_folder("seed0again"), 2);
  const auto other = counted(1, fresh_folder("seed1"));
  const auto found = search(g, runtime, first);
  EXPECT_GT(found.speedup, 1) << "something wins, or this says little";
  EXPECT_EQ(program_hash(found.program), program_hash(search(g, runtime, again).program));
  search(g, runtime, other);
  const auto programs = proposed(search_file(g, runtime, first), 0);
  EXPECT_EQ(programs.size(), 12U);
  EXPECT_EQ(programs, proposed(search_file(g, runtime, again), 0));
  const auto others = proposed(search_file(g, runtime, other), 1);
  EXPECT_NE(programs, others);

  // Beside what another seed left, it proposes the same; in the end the fastest of both is used.
  auto beside = counted(1, first.folder);
  const auto of_both = search(g, runtime, beside);
  EXPECT_EQ(proposed(search_file(g, runtime, beside), 1), others);
  EXPECT_GE(of_both.speedup, found.speedup);
  for (const auto* options : {&first, &again, &other}) {
    std::filesystem::remove_all(options->folder);
  }
}

TEST(Search, KilledAfterAnyByteItEndsAsItWouldHave) {
  const auto g = layers(1);
  const auto runtime = plain_runtime();
  const auto options = counted(0, fresh_folder("killed"));
  const auto whole = search(g, runtime, options);
  const auto file = search_file(g, runtime, options);
  const auto text = read_file(file);
  const Philox stream(7, 0);
  for (std::uint64_t i = 0; i < 6; ++i) {
    write_file_atomically(file, text.substr(0, uniform_below(stream[i], text.size())));
    const auto resumed = search(g, runtime, options);
    EXPECT_EQ(resumed.from_before + resumed.tried, 12);
    EXPECT_EQ(program_hash(resumed.program), program_hash(whole.program));
    EXPECT_EQ(proposed(file, 0).size(), 12U);
  }
  std::filesystem::remove_all(options.folder);
}

TEST(Search, TooLargeIsNotTried) {
  SearchOptions options;
  options.candidates = 3;
  options.seconds = kAllTheTime;
  options.memory_limit = 1;
  options.symbols = {{"s", 3}};
  options.verify.most = 3;
  const auto result = search(layers(1), plain_runtime(), options);
  EXPECT_EQ(result.too_large, 3);
  EXPECT_EQ(result.timed, 0);
}

TEST(Search, AKernelThatIsWrongStopsIt) {
  auto runtime = plain_runtime();
  // One that adds a little where it should not.
  class OffByOne : public ReadyKernel {
   public:
    explicit OffByOne(const Kernel& kernel)
        : inner_(plain_runtime().prepare(kernel)),
          is_attention_(kind_of(kernel) == "attention"),
          kernel_(kernel) {}
    void run(const Bindings& symbols, std::span<std::byte* const> operands) override {
      inner_->run(symbols, operands);
      if (!is_attention_) return;
      const auto out = std::get<Attention>(kernel_.work).out.operand;
      *reinterpret_cast<float*>(operands[out]) += 0.01F;  // NOLINT
    }

   private:
    std::unique_ptr<ReadyKernel> inner_;
    bool is_attention_;
    Kernel kernel_;
  };
  runtime.prepare = [](const Kernel& kernel) { return std::make_unique<OffByOne>(kernel); };
  SearchOptions options;
  options.candidates = 3;
  options.seconds = kAllTheTime;
  options.symbols = {{"s", 3}};
  options.verify.most = 3;
  try {
    search(layers(1), runtime, options);
    FAIL() << "a wrong program is not let through";
  } catch (const WrongProgram& e) {
    EXPECT_THAT(e.rules(), Contains("attention"));
    EXPECT_THAT(e.what(), HasSubstr("the smallest graph"));
    EXPECT_THAT(std::string(e.what()), testing::Not(HasSubstr("down")));
  }
}

// Random genomes of random graphs: every one computes what the graph says. `compiler_sweep` does
// the same for ten thousand graphs.
TEST(Search, EveryCandidateOfRandomGraphsIsRight) {
  const auto runtime = plain_runtime();
  for (std::uint64_t seed = 1000; seed < 1030; ++seed) {
    const auto wrong = mistake_among_candidates(random_graph(seed), runtime, 5, seed);
    ASSERT_EQ(wrong, "") << "seed " << seed;
  }
}

// Nothing is read of an operand, or nothing is written, and sums of nothing are 0.
TEST(Search, EveryCandidateOfRandomGraphsWithEmptyAxesIsRight) {
  const auto runtime = cpu_runtime(2);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto graph = random_graph_with_empty_axes(seed);
    const auto wrong = mistake_among_candidates(graph, runtime, 3, seed);
    ASSERT_EQ(wrong, "") << "seed " << seed;
  }
}

// Blocks, last parts of blocks, second threads; attention, rotary, the greatest few, experts.
TEST(Search, EveryCandidateOfRandomModelGraphsIsRight) {
  const auto runtime = cpu_runtime(2);
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const auto wrong = mistake_among_candidates(random_model_graph(seed), runtime, 3, seed, {});
    ASSERT_EQ(wrong, "") << "seed " << seed;
  }
}

// They do leave the first tile.
TEST(Search, RandomModelGraphsAreLarge) {
  class Short : public ReadyKernel {
   public:
    explicit Short(const Kernel& kernel)
        : kernel_(kernel), right_(plain_runtime().prepare(kernel)) {}
    void run(const Bindings& symbols, std::span<std::byte* const> operands) override {
      right_->run(symbols, operands);
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const auto& formal = kernel_.operands[i];
        const auto elements = product(formal.shape).at(symbols);
        if (!formal.is_written || elements <= 1000) continue;
        std::memset(operands[i], 0, static_cast<std::size_t>(elements) * size_of(formal.dtype));
      }
    }

   private:
    Kernel kernel_;
    std::unique_ptr<ReadyKernel> right_;
  };
  auto runtime = plain_runtime();
  runtime.prepare = [](const Kernel& kernel) { return std::make_unique<Short>(kernel); };
  int seen = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    seen += !mistake_among_candidates(random_model_graph(seed), runtime, 1, seed, {}).empty();
  }
  EXPECT_GE(seen, 6);  // half of them; the others are cut short or end in a sum
}

}  // namespace
}  // namespace assay::compiler
