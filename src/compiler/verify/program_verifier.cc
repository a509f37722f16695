// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/program_verifier.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <utility>

#include "base/json.h"
#include "compiler/program/kernel_graph.h"
#include "compiler/program/program_json.h"
#include "compiler/verify/sampled_rows.h"
#include "compiler/verify/widened.h"

namespace assay::compiler {
namespace {

// What a kernel computes, and how.
std::string way_of(Kernel kernel, const Runtime& runtime) {
  kernel.rules.clear();
  return fmt::format("{} {} {}", runtime.name, runtime.threads,
                     canonical_json(kernel_to_json(kernel)));
}

// More than twice the keys from which on attention is computed in parts, and no multiple of a
// block.
constexpr std::int64_t kMostAlone = 4099;

// Of a kernel by itself, of which a search has hundreds: elements to interpret at sizes beyond
// those that everything is tried at, and for each style of inputs but the first.
constexpr double kCheapKernel = 2e6, kOtherStyles = 1e6;

// What is hidden need not be read (program.h), which bounds do not know.
bool hides_something(const Kernel& kernel) {
  const auto* attention = std::get_if<Attention>(&kernel.work);
  return attention != nullptr && (attention->causal || attention->mask);
}

// Other values of symbols than a program's: as many rows as blocks and panels are long, where that
// is cheap.
VerifyOptions options_for(const Kernel& kernel, const Graph& graph, VerifyOptions options) {
  options.cheap_work = std::min(options.cheap_work, kCheapKernel);
  auto many = options;
  many.most = options.most_in_kernels;
  many.most_work = options.cheap_work;
  options.most_work = options.most_kernel_work;
  if (affordable_symbols(graph, many).back() > affordable_symbols(graph, options).back()) {
    options = many;
  }
  options.most_alone = kMostAlone;
  // Attention takes what is masked block by block.
  const bool is_attention = std::holds_alternative<Attention>(kernel.work);
  const bool is_masked = hides_something(kernel);
  if (!is_masked) options.most_other_work = kOtherStyles;
  options.tries_direct = false;  // of the whole: a kernel is held to what it says itself
  // Zeros do nothing to a large product that ordinary numbers do not.
  if (interpreted_elements(graph, symbols_of_other_styles(graph, options).back()) >
      options.cheap_work) {
    options.styles.resize(1);
  } else {
    for (const auto style : {InputStyle::kStrong, InputStyle::kAdversarial}) {
      if (std::ranges::find(options.styles, style) == options.styles.end()) {
        options.styles.push_back(style);
      }
    }
  }
  if (is_masked) std::erase(options.styles, InputStyle::kAdversarial);
  if (is_attention && !is_masked) options.styles.push_back(InputStyle::kSpecks);
  return options;
}

}  // namespace

// Inputs, those that are the same in several trials once, and what the graph makes of them in f64.
struct ProgramVerifier::Trial {
  Bindings symbols;
  std::string what;
  std::map<std::string, std::shared_ptr<const Tensor>> inputs;
  std::map<std::string, BoundedTensor> expected;
  std::unique_ptr<ProgramMeaning> meaning;
  bool has_nan = false;
  bool is_smooth = false;  // small causes have small effects, nearly everywhere
  bool is_counted = true;  // in what is said to be held: strong numbers are looked at besides
};

// A kernel's definition, and what is expected of it.
struct ProgramVerifier::PreparedKernel {
  Graph graph;
  std::optional<Verifier> verifier;
  SampledRows::All sampled;

  std::optional<std::string> mistake_of(const Kernel& way, const Symbols& symbols,
                                        const Runtime& runtime) {
    auto mistake = verifier->mistake_of(program_of(way, symbols), runtime);
    for (const auto& rows : sampled.sizes) {
      if (!mistake) mistake = rows.mistake_of(way, runtime);
    }
    return mistake;
  }
};

ProgramVerifier::ProgramVerifier(const Graph& graph, VerifyOptions options)
    : graph_(graph), options_(with_roots(graph, options)), runs_(graph, std::move(options)) {}
ProgramVerifier::~ProgramVerifier() = default;

// With inputs that one of `others` has already where they are the same.
ProgramVerifier::Trial ProgramVerifier::given(const Bindings& symbols, InputStyle style,
                                              std::span<const Trial> others) const {
  auto drawn = make_trial(graph_, symbols, style, options_.seed);
  Trial trial{symbols, std::move(drawn.what), {}, {}, {}};
  for (auto& [name, tensor] : drawn.inputs) {
    auto input = std::make_shared<const Tensor>(std::move(tensor));
    for (const auto& other : others) {
      const auto& known = other.inputs.at(name);
      if (known->shape() == input->shape() &&
          std::memcmp(known->bytes().data(), input->bytes().data(), input->bytes().size()) == 0) {
        input = known;
      }
    }
    trial.inputs.emplace(name, std::move(input));
  }
  // A remainder of something large goes anywhere.
  bool has_remainders = false;
  for (NodeId id = 0; id < graph_.size(); ++id) {
    has_remainders = has_remainders || graph_.node(id).op == Op::kMod;
  }
  trial.has_nan = style == InputStyle::kAdversarial;
  trial.is_smooth =
      !has_remainders && style != InputStyle::kAdversarial && style != InputStyle::kHuge;
  trial.is_counted = std::ranges::find(options_.styles, style) != options_.styles.end();
  return trial;
}

// What is rounded is a matter of the graph, not of inputs: one trial, the smallest, shows it.
void ProgramVerifier::expect(Trial& trial, bool shows_roundings) const {
  const auto wide = widened_with_originals(graph_);
  std::optional<RoundedValues> rounded;
  if (shows_roundings) rounded.emplace();
  const auto observe = [&](NodeId wide_id, std::span<const TensorView> computed) {
    if (!rounded) return;
    for (const auto id : wide.originals[wide_id]) rounded->add(graph_, id, computed[wide_id]);
  };
  InputViews views;
  for (const auto& [name, input] : trial.inputs) views.emplace(name, input->view());
  trial.expected = interpret_with_bounds(wide.graph, views, trial.symbols, observe);
  if (rounded) rounded->sort();
  trial.meaning =
      std::make_unique<ProgramMeaning>(std::move(views), trial.symbols, std::move(rounded));
}

std::vector<ProgramVerifier::Trial>& ProgramVerifier::trials() {
  if (!trials_.empty()) return trials_;
  std::vector<Trial> made;
  const auto values = affordable_symbols(graph_, options_);
  // Large ones beside each other: the interpreter has one thread.
  const bool is_long = interpreted_elements(graph_, values.back()) > options_.cheap_work;
  for (const auto& symbols : values) {
    const auto before = static_cast<std::ptrdiff_t>(made.size());
    auto styles = options_.styles;
    // Of large ones strong numbers are for programs that are going to be used (far_trials).
    if (symbols == values.back() && !is_long) {
      styles.insert(styles.end(), {InputStyle::kStrong, InputStyle::kHuge});
      if (std::ranges::find(styles, InputStyle::kAdversarial) == styles.end()) {
        styles.push_back(InputStyle::kAdversarial);
      }
    }
    for (const auto style : styles) made.push_back(given(symbols, style, made));
    std::vector<std::future<void>> all;
    for (auto at = made.begin() + before; at != made.end(); ++at) {
      all.push_back(
          std::async(is_long ? std::launch::async : std::launch::deferred,
                     [this, at, is_first = at == made.begin()] { expect(*at, is_first); }));
    }
    for (auto& one : all) one.get();
  }
  trials_ = std::move(made);
  return trials_;
}

std::vector<ProgramVerifier::Trial>& ProgramVerifier::far_trials() {
  if (std::exchange(has_far_trials_, true)) return far_trials_;
  auto options = options_;
  options.cheap_work = options_.far_work;
  std::vector<Bindings> values;
  for (const auto far : options_.far) {
    options.most_alone = far;
    for (auto& symbols : long_symbols(graph_, options)) {
      if (std::ranges::find(values, symbols) == values.end()) values.push_back(std::move(symbols));
    }
  }
  for (const auto& symbols : values) {
    far_trials_.push_back(given(symbols, options_.styles.front(), far_trials_));
    expect(far_trials_.back(), false);
  }
  const auto greatest = affordable_symbols(graph_, options_).back();
  if (!options_.far.empty() && interpreted_elements(graph_, greatest) > options_.cheap_work) {
    far_trials_.push_back(given(greatest, InputStyle::kStrong, trials_));
    expect(far_trials_.back(), false);
  }
  return far_trials_;
}

std::optional<std::string> ProgramVerifier::mistake_far_out(const Program& program,
                                                            const Runtime& runtime) {
  if (auto mistake = mistake_in_meaning(program, far_trials())) return mistake;
  for (const auto& kernel : program.kernels) {
    if (!right_beyond_.insert(way_of(kernel, runtime)).second) continue;
    for (const auto border : runtime.row_borders) {
      const auto rows = SampledRows::beyond(border, kernel, program.symbols, options_, products_);
      if (!rows) continue;
      if (auto mistake = rows->mistake_of(kernel, runtime)) {
        right_beyond_.erase(way_of(kernel, runtime));
        return fmt::format("a kernel ({}) by itself: {}", kind_of(kernel), *mistake);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> ProgramVerifier::mistake_in_meaning(const Program& program,
                                                               std::vector<Trial>& trials) const {
  const bool hides = std::ranges::any_of(program.kernels, hides_something);
  for (auto& trial : trials) {
    if (hides && trial.has_nan) continue;
    const auto got = trial.meaning->of(program);
    if (const auto& narrower = trial.meaning->narrower()) {
      return fmt::format("{} ({}, in f64)", *narrower, trial.what);
    }
    for (const auto& output : graph_.outputs()) {
      const auto& name = output.replaces.empty() ? output.name : output.replaces;
      const auto& expected = trial.expected.at(output.name);
      auto text = difference(expected, got.at(name));
      if (text.empty() && trial.is_smooth) text = difference_in_the_open(expected, got.at(name));
      if (text.empty()) continue;
      return fmt::format("its kernels mean something else: output '{}': {} ({}, in f64)",
                         output.name, text, trial.what);
    }
  }
  return std::nullopt;
}

std::optional<std::string> ProgramVerifier::mistake_in_kernels(const Program& program,
                                                               const Runtime& runtime) {
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < program.kernels.size(); ++i) {
    if (!right_.contains(way_of(program.kernels[i], runtime))) unknown.push_back(i);
  }
  // What is expected of the next kernels is interpreted meanwhile, a thread for each.
  const auto prepare = [&](std::size_t i) {
    auto prepared = std::make_unique<PreparedKernel>();
    const auto& kernel = program.kernels[i];
    prepared->graph = definition_of(kernel, program.symbols).graph;
    const auto options = options_for(kernel, prepared->graph, options_);
    prepared->verifier.emplace(prepared->graph, options, &products_);
    prepared->verifier->prepare();
    prepared->sampled = SampledRows::of(kernel, program.symbols, options, products_);
    return prepared;
  };
  std::deque<std::future<std::unique_ptr<PreparedKernel>>> next;
  std::size_t begun = 0;
  for (const auto i : unknown) {
    for (; begun < unknown.size() && std::ssize(next) < runtime.threads; ++begun) {
      next.push_back(std::async(std::launch::async, prepare, unknown[begun]));
    }
    const auto prepared = next.front().get();
    next.pop_front();
    const auto& kernel = program.kernels[i];
    auto& verifier = *prepared->verifier;
    if (const auto mistake = prepared->mistake_of(kernel, program.symbols, runtime)) {
      return fmt::format("kernel {} ({}) by itself: {}", i, kind_of(kernel), *mistake);
    }
    const auto held = verifier.coverage_by_output();
    right_.emplace(way_of(kernel, runtime), held);
    if (prepared->sampled.misses_use) unseen_.insert(way_of(kernel, runtime));
    for (const auto& [name, of_operand] : held) kernels_.add(of_operand);
    // What is expected is at hand now: the kernel's other ways are looked at too.
    auto other = kernel;
    for (other.variant = 0; other.variant < runtime.variants(kernel); ++other.variant) {
      const auto its_way = way_of(other, runtime);
      if (right_.contains(its_way)) continue;
      if (!prepared->mistake_of(other, program.symbols, runtime)) right_.emplace(its_way, held);
    }
  }
  return std::nullopt;
}

std::optional<std::string> ProgramVerifier::mistake_of(const Program& program,
                                                       const Runtime& runtime) {
  if (auto mistake = mistake_in_meaning(program, trials())) return mistake;
  if (auto mistake = mistake_in_kernels(program, runtime)) return mistake;
  return runs_.mistake_of(program, runtime);
}

// Whether any kernel that the output is made by is held to nothing. One that was not looked at here
// was at another time.
bool ProgramVerifier::has_open_kernel(const Program& program, const Output& output,
                                      const Runtime& runtime) const {
  const auto& name = output.replaces.empty() ? output.name : output.replaces;
  std::vector<bool> is_needed(program.buffers.size());
  for (std::size_t id = 0; id < program.buffers.size(); ++id) {
    const auto& buffer = program.buffers[id];
    const auto kind = output.replaces.empty() ? Buffer::Kind::kOutput : Buffer::Kind::kState;
    is_needed[id] = buffer.kind == kind && buffer.name == name;
  }
  for (std::size_t i = program.steps.size(); i-- > 0;) {
    const auto& step = program.steps[i];
    const auto& kernel = program.kernels[step.kernel];
    const auto known = right_.find(way_of(kernel, runtime));
    bool is_of_it = false;
    for (std::uint32_t at = 0; at < step.buffers.size(); ++at) {
      if (!kernel.operands[at].is_written || !is_needed[step.buffers[at]]) continue;
      is_of_it = true;
      if (known != right_.end() && known->second.at(operand_name(at)).is_open()) return true;
    }
    if (!is_of_it) continue;
    for (const auto id : step.buffers) is_needed[id] = true;
  }
  return false;
}

ProgramVerifier::Coverage ProgramVerifier::coverage(const Program& program,
                                                    const Runtime& runtime) {
  Coverage all;
  std::map<std::string, Verifier::Coverage> meanings;
  for (const auto& trial : trials()) {
    if (!trial.is_counted) continue;
    for (const auto& [name, expected] : trial.expected) meanings[name].add(expected);
  }
  const auto runs = runs_.coverage_by_output();
  for (const auto& output : graph_.outputs()) {
    const auto& meaning = meanings.at(output.name);
    all.meaning.add(meaning);
    all.runs.add(runs.at(output.name));
    if (!runs.at(output.name).is_open()) continue;
    if (meaning.is_open() || has_open_kernel(program, output, runtime)) {
      all.unheld.push_back(output.name);
    }
  }
  all.kernels = kernels_;
  for (std::size_t i = 0; i < program.kernels.size(); ++i) {
    const auto& kernel = program.kernels[i];
    if (!unseen_.contains(way_of(kernel, runtime))) continue;
    all.unseen.push_back(fmt::format("kernel {} ({})", i, kind_of(kernel)));
  }
  return all;
}

}  // namespace assay::compiler
