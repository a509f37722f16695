// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/choose/search.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/philox.h"
#include "compiler/choose/timing.h"
#include "compiler/graph/graph_json.h"

namespace assay::compiler {
namespace {

// Raised whenever programs of equal choices change.
constexpr int kVersion = 2;
// A candidate must be that much faster to take the best one's place: less is noise.
constexpr double kMargin = 0.97;

struct Member {
  Genome genome;
  double relative = 1;  // time over the default program's
};

// What is known of the candidates of one search, on disk too.
class SearchJournal {
 public:
  explicit SearchJournal(std::string path) : path_(std::move(path)) {
    if (path_.empty() || !std::filesystem::exists(path_)) return;
    const auto text = read_file(path_);
    std::size_t at = 0;
    while (true) {
      const auto end = text.find('\n', at);
      if (end == std::string::npos) break;  // a torn line is one that was never written
      try {
        lines_.push_back(parse_json(text.substr(at, end - at), path_));
      } catch (const UserError&) {
        break;
      }
      at = end + 1;
    }
    if (at != text.size()) write_file_atomically(path_, text.substr(0, at));
  }
  const std::vector<Json>& lines() const { return lines_; }
  void add(Json line) {
    lines_.push_back(line);
    if (path_.empty()) return;
    make_directories(std::filesystem::path(path_).parent_path().string());
    const UniqueFd fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (!fd) fail_to_write("write", path_, errno);
    write_fully(fd.get(), canonical_json(line) + "\n", path_);
    ::fsync(fd.get());
  }

 private:
  std::string path_;
  std::vector<Json> lines_;
};

// One to three choices changed.
template <typename Below>
Genome mutated(const Candidates& candidates, const Runtime& runtime, Genome genome, Below&& below) {
  const auto freedom = candidates.freedom(genome, runtime);
  const auto changes = 1 + below(3);
  for (std::size_t i = 0; i < changes; ++i) {
    switch (below(6)) {
      case 0:
      case 1: {
        if (freedom.options.empty()) break;
        auto at = freedom.options.begin();
        std::advance(at, below(freedom.options.size()));
        genome.options[at->first] = static_cast<std::uint32_t>(below(at->second));
        if (genome.options[at->first] == 0) genome.options.erase(at->first);
        break;
      }
      case 2: {
        if (freedom.nodes.empty()) break;
        const auto node = freedom.nodes[below(freedom.nodes.size())];
        if (!genome.kept.insert(node).second) genome.kept.erase(node);
        break;
      }
      case 3:
        (below(2) == 0 ? genome.epilogues : genome.shares) ^= true;
        break;
      default: {
        if (freedom.kernels.empty()) break;
        const auto& [kernel, count] = freedom.kernels[below(freedom.kernels.size())];
        genome.variants[kernel] = static_cast<std::uint32_t>(below(count));
        if (genome.variants[kernel] == 0) genome.variants.erase(kernel);
      }
    }
  }
  return genome;
}

class Search {
 public:
  Search(const Graph& graph, const Runtime& runtime, const SearchOptions& options)
      : graph_(graph),
        runtime_(runtime),
        options_(options),
        candidates_(graph, options.compile),
        verifier_(graph, options.verify),
        journal_(options.folder.empty() ? "" : search_file(graph, runtime, options)) {}

  SearchResult run() {
    const auto begin = monotonic_ns();
    const auto elapsed = [&] { return static_cast<double>(monotonic_ns() - begin) * 1e-9; };
    read_journal();
    result_.stop = "candidates";
    for (int i = result_.from_before; i < options_.candidates; ++i) {
      if (elapsed() >= options_.seconds) {
        result_.stop = "seconds";
        break;
      }
      if (!try_one(i)) {
        result_.stop = "nothing new";
        break;
      }
    }
    result_.genome = best().genome;
    result_.program = candidates_.program(best().genome, runtime_);
    result_.speedup = 1 / best().relative;
    result_.seconds = elapsed();
    return std::move(result_);
  }

 private:
  const Member& best() const { return population_.front(); }

  // Lines in the order they were made, so that the population becomes what it was.
  void read_journal() {
    population_ = {Member{}};
    seen_.insert(program_hash(candidates_.program({}, runtime_)));
    for (const auto& line : journal_.lines()) {
      const auto genome = genome_from_json(line.value("genome", Json::object()), "search journal");
      seen_.insert(line.value("program", ""));
      if (line.contains("relative")) {
        admit({genome, number_from_json(line.at("relative"), "search journal")});
      }
      ++result_.from_before;
    }
    result_.from_before = std::min(result_.from_before, static_cast<int>(journal_.lines().size()));
  }
  void admit(Member member) {
    constexpr std::size_t kPopulation = 8;
    const bool is_best = member.relative < best().relative * kMargin;
    const auto at = is_best ? population_.begin()
                            : std::ranges::upper_bound(population_.begin() + 1, population_.end(),
                                                       member.relative, {}, &Member::relative);
    population_.insert(at, std::move(member));
    if (population_.size() > kPopulation) population_.pop_back();
  }

  // False: nothing new is found any more.
  bool try_one(int number) {
    const Philox stream(options_.seed + 1, static_cast<std::uint64_t>(number));
    std::uint64_t next = 0;
    const auto below = [&](std::size_t bound) {
      return static_cast<std::size_t>(uniform_below(stream[next++], bound));
    };
    constexpr int kAttempts = 64;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      auto genome =
          mutated(candidates_, runtime_, population_[below(population_.size())].genome, below);
      auto program = candidates_.program(genome, runtime_);
      const auto hash = program_hash(program);
      if (!seen_.insert(hash).second) {
        ++result_.duplicates;
        continue;
      }
      Json line = {{"genome", genome_to_json(genome)}, {"program", hash}};
      judge(std::move(genome), std::move(program), line);
      journal_.add(line);
      ++result_.tried;
      if (options_.progress) options_.progress(canonical_json(line));
      return true;
    }
    return false;
  }

  // Memory first, then right or wrong, then time.
  void judge(Genome genome, Program program, Json& line) {
    prepare();
    if (options_.memory_limit > 0 &&
        plan_memory(program, trial_->symbols).arena_bytes > options_.memory_limit) {
      ++result_.too_large;
      line["too_large"] = true;
      return;
    }
    verify(program, genome);
    TimedProgram timed(std::move(program), runtime_, *trial_);
    const auto times = duel(*timed_best_, timed);
    if (!times.second_s) {
      ++result_.abandoned;
      line["abandoned"] = true;
      return;
    }
    ++result_.timed;
    double ratio = *times.second_s / times.first_s;
    // Of many that are no faster, one looks so: it has to be so twice, and what is told is its time
    // beside the default program's own, never a product of ratios.
    bool is_best = ratio < kMargin;
    if (is_best) {
      const auto again = duel(*timed_best_, timed);
      is_best = again.second_s && *again.second_s < kMargin * again.first_s;
    }
    double relative = best().relative * std::max(ratio, kMargin);
    if (is_best) {
      const auto beside = duel(*timed_default_, timed, 9);
      is_best = beside.second_s && *beside.second_s < beside.first_s * best().relative * kMargin;
      if (is_best) relative = *beside.second_s / beside.first_s;
    }
    line["relative"] = number_to_json(relative);
    line["seconds"] = *times.second_s;
    if (is_best) timed_best_ = std::make_unique<TimedProgram>(std::move(timed));
    admit({std::move(genome), relative});
  }
  void prepare() {
    if (timed_best_) return;
    const auto symbols = options_.symbols.empty() ? default_symbols(graph_) : options_.symbols;
    trial_ = make_trial(graph_, symbols, InputStyle::kOrdinary, 1);
    auto program = candidates_.program(best().genome, runtime_);
    verify(program, best().genome);
    timed_best_ = std::make_unique<TimedProgram>(std::move(program), runtime_, *trial_);
    timed_default_ =
        std::make_unique<TimedProgram>(candidates_.program({}, runtime_), runtime_, *trial_);
  }
  void verify(const Program& program, const Genome& genome) {
    if (!verifier_.mistake_of(program, runtime_)) return;
    const auto compile = [&](const Graph& part) {
      return Candidates(part, options_.compile).program(genome, runtime_);
    };
    throw WrongProgram(minimised(graph_, compile, runtime_, options_.verify));
  }

  const Graph& graph_;
  const Runtime& runtime_;
  const SearchOptions& options_;
  Candidates candidates_;
  Verifier verifier_;
  SearchJournal journal_;
  std::vector<Member> population_;  // the best first, the others by their time
  std::set<std::string> seen_;
  std::optional<Trial> trial_;
  std::unique_ptr<TimedProgram> timed_best_, timed_default_;
  SearchResult result_;
};

}  // namespace

SearchResult search(const Graph& graph, const Runtime& runtime, const SearchOptions& options) {
  return Search(graph, runtime, options).run();
}

std::string mistake_among_candidates(const Graph& graph, const Runtime& runtime, int count,
                                     std::uint64_t seed) {
  const Candidates candidates(graph, {});
  VerifyOptions options;
  options.seed = seed;
  options.most = 6;
  options.styles = {InputStyle::kOrdinary, InputStyle::kAdversarial};
  Verifier verifier(graph, options);
  const Philox stream(seed, 0x6361);
  std::uint64_t next = 0;
  const auto below = [&](std::size_t bound) {
    return static_cast<std::size_t>(uniform_below(stream[next++], bound));
  };
  Genome genome;
  for (int i = 0; i < count; ++i) {
    const auto mistake = verifier.mistake_of(candidates.program(genome, runtime), runtime);
    if (mistake) return fmt::format("candidate {}: {}", i, *mistake);
    genome = mutated(candidates, runtime, std::move(genome), below);
  }
  return {};
}

std::string search_file(const Graph& graph, const Runtime& runtime, const SearchOptions& options) {
  Json key = {{"graph", graph_to_json(graph)},
              {"runtime", runtime.name},
              {"machine", options.machine},
              {"version", kVersion},
              {"disabled", options.compile.disabled}};
  for (const auto& [name, value] : options.symbols) key["symbols"][name] = value;
  return options.folder + "/" + short_hash(canonical_json(key)) + ".jsonl";
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
