// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/choose/search.h"

#include <algorithm>
#include <limits>

#include "base/build_id.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/philox.h"
#include "compiler/choose/mutation.h"
#include "compiler/choose/search_journal.h"
#include "compiler/graph/graph_json.h"

namespace assay::compiler {
namespace {

// Raised whenever programs of equal choices change, or the lines of a journal: what tells builds
// apart that have no id.
constexpr int kVersion = 9;

// Candidates are numbered as they are drawn.
constexpr std::int64_t kGreatestNumber = 1'000'000'000;

// One that was the best: what others are made of.
struct Member {
  Genome genome;
  double relative = 1, low = 1, high = 1;      // time over the default program's (referee.h)
  std::optional<Candidates::Freedom> freedom;  // when it is first needed
};

// Verified is, among others, the size that is timed.
VerifyOptions with_used(VerifyOptions options, Bindings symbols) {
  if (options.used_at.empty()) options.used_at = std::move(symbols);
  return options;
}

// What decides which programs there are and how fast they are, in short.
std::string search_name(const Graph& graph, const Runtime& runtime, const SearchOptions& options) {
  Json key = {{"graph", graph_to_json(graph)},
              {"runtime", runtime.name},
              {"threads", runtime.threads},
              {"units", runtime.units},
              {"toolchain", __VERSION__},
              {"machine", options.machine},
              {"version", kVersion},
              {"disabled", options.compile.disabled},
              {"build", build_id()}};
  for (const auto& [name, value] : options.symbols) key["symbols"][name] = value;
  return short_hash(canonical_json(key));
}
std::string file_of(const std::string& folder, const std::string& name) {
  return folder + "/" + name + ".jsonl";
}

class Search {
 public:
  Search(const Graph& graph, const Runtime& runtime, const SearchOptions& options)
      : graph_(graph),
        runtime_(runtime),
        options_(options),
        candidates_(graph, options.compile),
        symbols_(options.symbols.empty() ? default_symbols(graph) : options.symbols),
        verifier_(graph, with_used(options.verify, symbols_)),
        default_hash_(hash_of({})),
        seen_{default_hash_},
        name_(search_name(graph, runtime, options)),
        journal_(options.folder.empty() ? "" : file_of(options.folder, name_),
                 [this](const Json& line) { return takes(line); }) {}

  SearchResult run() {
    const auto begin = monotonic_ns();
    const auto elapsed = [&] { return static_cast<double>(monotonic_ns() - begin) * 1e-9; };
    if (const auto warning = journal_.warning(); !warning.empty()) warn(warning);
    result_.stop = "candidates";
    for (int i = 0; result_.from_before + result_.tried < options_.candidates; ++i) {
      if (known_numbers_.contains(i)) continue;
      if (elapsed() >= options_.seconds) {
        result_.stop = "seconds";
        break;
      }
      if (!try_one(i)) {
        result_.stop = "nothing new";
        break;
      }
    }
    // What another seed found is used where it is clearly faster.
    const bool is_others = others_best_.relative < best().relative * kClearlyFaster;
    const auto& fastest = is_others ? others_best_ : best();
    result_.genome = fastest.genome;
    result_.program = candidates_.program(fastest.genome, runtime_);
    result_.speedup = 1 / fastest.relative;
    result_.speedup_low = 1 / fastest.high;
    result_.speedup_high = 1 / fastest.low;
    const bool was_verified = !is_default(result_.genome) || default_is_verified_;
    if (options_.verifies_result || (options_.candidates > 0 && !was_verified)) {
      verify_used(result_.program, result_.genome);
    }
    if (verified_.contains(program_hash(result_.program))) {
      result_.verified = verifier_.coverage(result_.program, runtime_);
    }
    result_.seconds = elapsed();
    return std::move(result_);
  }

 private:
  const Member& best() const { return population_.front(); }
  std::string seed() const { return std::to_string(options_.seed); }

  static bool is_default(const Genome& genome) { return genome == Genome{}; }
  void warn(const std::string& what) const {
    if (options_.warn) options_.warn(what);
  }

  // A line of the journal, in the order they were made, so that the population becomes what it was.
  // False: it makes no sense.
  bool takes(const Json& line) {
    // Of another search, copied here.
    if (!line.contains("search") || line["search"] != name_) return false;
    if (line.contains("verified")) {
      default_is_verified_ = default_is_verified_ || line["verified"] == default_hash_;
      return line["verified"].is_string();
    }
    auto known = known_from(line);
    // The latter was written by a program that made others of the same choices.
    if (!known || (known->faster && known->program != hash_of(known->faster->genome))) return false;
    const bool is_own = known->seed == seed();
    if (is_own) {
      // Two searches at once may both have written a program's line.
      if (seen_.insert(known->program).second) ++result_.from_before;
      known_numbers_.insert(known->number);
    }
    if (!known->faster) return true;
    if (is_own) {
      admit(std::move(*known->faster));
    } else if (known->faster->relative < others_best_.relative) {
      others_best_ = std::move(*known->faster);
    }
    return true;
  }
  // On a disk that is full or not ours to write, what was found is still found.
  void keep(Json line) {
    if (!keeps_) return;
    line["search"] = name_;
    try {
      journal_.add(line);
    } catch (const UserError& e) {
      keeps_ = false;
      warn(fmt::format("{}: from here on nothing of this search is kept", e.what()));
    }
  }
  std::string hash_of(const Genome& genome) const {
    return program_hash(candidates_.program(genome, runtime_));
  }
  struct Known {
    std::string seed, program;
    int number = 0;
    std::optional<Member> faster;
  };
  // Nothing where a line is none of ours.
  static std::optional<Known> known_from(const Json& line) {
    try {
      Known known{line.at("seed").get<std::string>(), line.at("program").get<std::string>(), 0, {}};
      const auto number = line.at("number").get<std::int64_t>();
      if (number < 0 || number > kGreatestNumber) return std::nullopt;
      known.number = static_cast<int>(number);
      const auto genome = genome_from_json(line.at("genome"), "search journal");
      if (!line.value("faster", false)) return known;
      const double relative = number_from_json(line.at("relative"), "search journal");
      const auto& between = line.at("between");
      known.faster = Member{genome,
                            relative,
                            number_from_json(between.at(0), "search journal"),
                            number_from_json(between.at(1), "search journal"),
                            {}};
      const auto& [_, told, low, high, freedom] = *known.faster;
      const bool is_possible = low > 0 && low <= told && told <= high && told <= 1 &&
                               high < std::numeric_limits<double>::infinity();
      if (!is_possible) return std::nullopt;
      return known;
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }
  void admit(Member member) {
    constexpr std::size_t kPopulation = 8;
    population_.insert(population_.begin(), std::move(member));
    if (population_.size() > kPopulation) population_.pop_back();
  }

  // False: nothing new is found any more.
  bool try_one(int number) {
    const Philox stream(options_.seed + 1, static_cast<std::uint64_t>(number));
    std::uint64_t next = 0;
    const auto below = [&](std::size_t bound) {
      return static_cast<std::size_t>(uniform_below(stream[next++], bound));
    };
    // Most changes of a good program are changes of nothing: of a layer nine of ten. An attempt
    // takes a millisecond, a candidate a hundred.
    constexpr int kAttempts = 512;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      // Rather the best than those it was made of.
      const auto first = below(population_.size()), second = below(population_.size());
      auto& parent = population_[std::min(first, second)];
      if (!parent.freedom) parent.freedom = candidates_.freedom(parent.genome, runtime_);
      auto genome = mutated(parent.genome, *parent.freedom, below);
      const auto choices = genome_to_json(genome);
      if (!proposed_.insert(canonical_json(choices)).second) {
        ++result_.duplicates;
        continue;
      }
      auto program = candidates_.program(genome, runtime_);
      const auto hash = program_hash(program);
      if (!seen_.insert(hash).second) {
        ++result_.duplicates;
        continue;
      }
      Json line = {{"seed", seed()}, {"number", number}, {"genome", choices}, {"program", hash}};
      judge(std::move(genome), program, line);
      keep(line);
      ++result_.tried;
      if (options_.progress) options_.progress(canonical_json(line));
      return true;
    }
    return false;
  }

  // Memory first, then right or wrong, then time.
  void judge(Genome genome, const Program& program, Json& line) {
    prepare();
    if (options_.memory_limit > 0 &&
        plan_memory(program, trial_->symbols).arena_bytes > options_.memory_limit) {
      ++result_.too_large;
      line["too_large"] = true;
      return;
    }
    verify(program, genome, Use::kTimed);
    const auto verdict = referee_->judge(program);
    if (verdict.by_steps) line["by_steps"] = true;
    if (verdict.is_given_up) {
      ++result_.abandoned;
      line["abandoned"] = true;
      return;
    }
    ++result_.timed;
    line["relative"] = number_to_json(verdict.relative);
    if (!verdict.is_faster) return;
    verify(program, genome, Use::kUsed);
    line["faster"] = true;
    line["between"] = {number_to_json(verdict.low), number_to_json(verdict.high)};
    admit({std::move(genome), verdict.relative, verdict.low, verdict.high, {}});
  }
  void prepare() {
    if (referee_) return;
    trial_ = make_trial(graph_, symbols_, InputStyle::kOrdinary, 1);
    auto program = candidates_.program(best().genome, runtime_);
    if (!is_default(best().genome) || !default_is_verified_) verify_used(program, best().genome);
    referee_ = (options_.referee ? options_.referee : clock_referee)(
        {runtime_, *trial_, candidates_.program({}, runtime_), std::move(program),
         best().relative});
  }
  // What is used is looked at further out than what is only timed: that takes longer.
  enum class Use : std::uint8_t { kTimed, kUsed };
  void verify(const Program& program, const Genome& genome, Use use) {
    const auto hash = program_hash(program);
    const bool is_right =
        (!verified_.insert(hash).second || !verifier_.mistake_of(program, runtime_)) &&
        (use == Use::kTimed || !far_verified_.insert(hash).second ||
         !verifier_.mistake_far_out(program, runtime_));
    if (is_right) return;
    const auto compile = [&](const Graph& part) {
      return Candidates(part, options_.compile).program(genome, runtime_);
    };
    throw WrongProgram(minimised(graph_, compile, runtime_, with_used(options_.verify, symbols_)));
  }

  // The default program's line is its own: a search that is killed before its first candidate is
  // done has that. What nobody can hold to a bound is told each time.
  void verify_used(const Program& program, const Genome& genome) {
    verify(program, genome, Use::kUsed);
    if (!is_default(genome) || default_is_verified_) return;
    if (!verifier_.coverage(program, runtime_).unheld.empty()) return;
    default_is_verified_ = true;
    keep({{"verified", default_hash_}});
  }

  const Graph& graph_;
  const Runtime& runtime_;
  const SearchOptions& options_;
  Candidates candidates_;
  const Bindings symbols_;
  ProgramVerifier verifier_;
  std::string default_hash_;                     // of the program without choices
  bool default_is_verified_ = false;             // now, or by an earlier search
  std::vector<Member> population_ = {Member{}};  // the best first, then those it displaced
  Member others_best_;                           // of other seeds
  std::set<std::string> seen_;                   // programs, by their hash
  std::set<int> known_numbers_;                  // of this seed's candidates in the journal
  std::set<std::string> proposed_;  // genomes in this process: a shorter way to the same answer
  std::set<std::string> verified_, far_verified_;  // programs that are right
  std::optional<Trial> trial_;
  std::unique_ptr<Referee> referee_;
  SearchResult result_;
  std::string name_;       // in each line of the journal: whose it is
  SearchJournal journal_;  // fills what is above
  bool keeps_ = true;
};

}  // namespace

SearchResult search(const Graph& graph, const Runtime& runtime, const SearchOptions& options) {
  return Search(graph, runtime, options).run();
}

VerifyOptions small_sizes() {
  VerifyOptions options;
  options.most = options.most_in_kernels = 6;
  options.far.clear();
  options.styles = {InputStyle::kOrdinary, InputStyle::kAdversarial};
  return options;
}

std::string mistake_among_candidates(const Graph& graph, const Runtime& runtime, int count,
                                     std::uint64_t seed, VerifyOptions options) {
  const Candidates candidates(graph, {});
  options.seed = seed;
  ProgramVerifier verifier(graph, options);
  const Philox stream(seed, 0x6361);
  std::uint64_t next = 0;
  const auto below = [&](std::size_t bound) {
    return static_cast<std::size_t>(uniform_below(stream[next++], bound));
  };
  Genome genome;
  for (int i = 0; i < count; ++i) {
    const auto mistake = verifier.mistake_of(candidates.program(genome, runtime), runtime);
    if (mistake) return fmt::format("candidate {}: {}", i, *mistake);
    const auto freedom = candidates.freedom(genome, runtime);
    genome = mutated(std::move(genome), freedom, below);
  }
  return {};
}

std::string search_file(const Graph& graph, const Runtime& runtime, const SearchOptions& options) {
  return file_of(options.folder, search_name(graph, runtime, options));
}

Bindings default_symbols(const Graph& graph) {
  constexpr std::int64_t kMost = 256;
  Bindings symbols;
  for (const auto& [name, interval] : graph.symbols()) {
    symbols[name] = std::max(interval.low, std::min(interval.high, kMost));
  }
  return symbols;
}

}  // namespace assay::compiler
