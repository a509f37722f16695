// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/verifier.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <iterator>
#include <memory>

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "compiler/graph/dtypes.h"
#include "compiler/program/program_json.h"
#include "compiler/run/memory_plan.h"
#include "compiler/verify/guarded_block.h"
#include "compiler/verify/input_roles.h"
#include "compiler/verify/one_sided.h"

namespace assay::compiler {

namespace {
// What many trials of one size may interpret together, where one has too few elements for all kinds
// of numbers.
constexpr double kFewElements = 2e4;
}  // namespace

std::vector<Bindings> affordable_symbols(const Graph& graph, const VerifyOptions& options) {
  auto most = options.most;
  auto values = symbol_values(graph, most);
  while (most > 1 && interpreted_elements(graph, values.back()) > options.most_work) {
    most = most * 3 / 4;
    values = symbol_values(graph, most -= most % 2 == 0);
  }
  for (auto& beyond : symbols_beyond_borders(graph, most)) {
    if (interpreted_elements(graph, beyond) > options.most_kernel_work) continue;
    values.insert(values.end() - 1, std::move(beyond));
  }
  return values;
}

std::vector<Bindings> symbols_of_other_styles(const Graph& graph, VerifyOptions options) {
  options.most_work = std::min(options.most_work, options.most_other_work);
  return affordable_symbols(graph, options);
}

std::vector<Bindings> long_symbols(const Graph& graph, const VerifyOptions& options) {
  std::vector<Bindings> values;
  if (options.most_alone == 0) return values;
  const auto known = affordable_symbols(graph, options);
  for (const auto& [name, interval] : graph.symbols()) {
    auto alone = known.front();
    const auto tried = std::max<std::int64_t>(known.back().at(name), 1);
    for (auto most = options.most_alone; most > tried; most = most / 2 | 1) {
      alone[name] = std::min(interval.high, most);
      if (alone[name] <= tried) break;
      if (interpreted_elements(graph, alone) > options.cheap_work) continue;
      values.push_back(alone);
      break;
    }
  }
  return values;
}

std::vector<Bindings> fitting_symbols(const Graph& graph, const VerifyOptions& options) {
  std::vector<Bindings> values;
  const auto add = [&](const auto& value_of, double most_work) {
    Bindings all;
    for (const auto& [name, interval] : graph.symbols()) {
      all[name] = std::clamp(value_of(name, interval), interval.low, interval.high);
    }
    const bool is_known = std::ranges::find(values, all) != values.end();
    if (!all.empty() && !is_known && interpreted_elements(graph, all) <= most_work) {
      values.push_back(std::move(all));
    }
  };
  for (const auto fitting : options.fitting) {
    add([&](const auto&, const auto&) { return fitting; }, options.cheap_work);
  }
  const auto used = used_symbols(graph.symbols(), options);
  if (!options.used_at.empty()) {
    add([&](const auto& name, const auto&) { return used.at(name); }, options.most_work);
  }
  return values;
}

Bindings used_symbols(const Symbols& symbols, const VerifyOptions& options) {
  Bindings values;
  for (const auto& [name, interval] : symbols) {
    const auto at = options.used_at.find(name);
    values[name] = at == options.used_at.end()
                       ? interval.low
                       : std::clamp(at->second, interval.low, interval.high);
  }
  return values;
}

// An input between guards, and what it was when it was made. It begins where an element may begin,
// and nothing longer: files of weights are like that.
struct Verifier::Input {
  Input(const Tensor& tensor, int threads)
      : dtype(tensor.dtype()),
        shape(tensor.shape()),
        block(tensor.bytes().size(), tensor.bytes().data(), size_of(dtype)),
        made(block.fingerprint(threads)) {}
  TensorView view() const { return {dtype, block.data(), shape}; }

  DType dtype;
  Shape shape;
  GuardedBlock block;
  std::uint64_t made;
};

// Weights are the same in all trials, and lie there once.
struct Verifier::Prepared {
  Bindings symbols;
  std::string what;
  std::map<std::string, std::shared_ptr<const Input>> inputs;
  std::map<std::string, BoundedTensor> expected;
  bool is_repeated = false;  // for want of other inputs of that size
  bool is_preceded = false;  // likewise: a call with the same ones, turned, comes first
};

// What one program works on: at the same addresses in many calls, as a model's activations are, so
// that what is kept by address is seen. Inputs that all trials share, and large ones, stay where
// they are.
struct Verifier::Desk {
  using Blocks = std::map<std::string, GuardedBlock>;
  Blocks inputs, outputs;  // states are inputs
  OneSided one_sided;
  bool is_shifted = false;
  bool is_turned = false;  // GuardedBlock::turn()

  // From now on everything begins one element behind the beginning of a vector.
  void shift() {
    inputs.clear();
    outputs.clear();
    is_shifted = true;
  }
  std::byte* put(Blocks& blocks, const Buffer& buffer, std::size_t bytes, const std::byte* from) {
    const auto& name = buffer.name;
    const auto [at, is_new] =
        blocks.try_emplace(name, bytes, from, is_shifted ? size_of(buffer.dtype) : 0);
    if (!is_new) at->second.hold(bytes, from);
    if (from != nullptr && is_turned) at->second.turn(size_of(buffer.dtype));
    return at->second.data();
  }
};

VerifyOptions with_roots(const Graph& graph, VerifyOptions options) {
  std::erase(options.styles, InputStyle::kPositive);
  if (may_leave_roots(graph)) options.styles.push_back(InputStyle::kPositive);
  return options;
}

Verifier::Verifier(const Graph& graph, VerifyOptions options, KnownProducts* products)
    : graph_(graph), options_(with_roots(graph, std::move(options))), products_(products) {}
Verifier::~Verifier() = default;

std::vector<Verifier::Prepared>& Verifier::prepared() {
  if (!prepared_.empty()) return prepared_;
  std::vector<Prepared> trials;
  auto values = affordable_symbols(graph_, options_);
  const auto in_all_styles = values.size();
  const auto of_other_styles = symbols_of_other_styles(graph_, options_);
  for (auto& more : {long_symbols(graph_, options_), fitting_symbols(graph_, options_)}) {
    for (const auto& symbols : more) {
      if (std::ranges::find(values, symbols) == values.end()) values.push_back(symbols);
    }
  }
  // Weights are the same nearly everywhere, and large: one copy from the beginning.
  const auto give = [&](const Bindings& symbols, InputStyle style, std::uint64_t further = 0) {
    auto trial = make_trial(graph_, symbols, style, options_.seed + further);
    Prepared made{symbols, std::move(trial.what), {}, {}};
    for (auto& [name, tensor] : trial.inputs) {
      auto input = std::make_shared<const Input>(tensor, 1);
      tensor = Tensor(DType::kBool, Shape({0}));
      for (const auto& before : trials) {
        const auto& known = before.inputs.at(name);
        if (known->shape == input->shape && known->made == input->made) input = known;
      }
      made.inputs.emplace(name, std::move(input));
    }
    trials.push_back(std::move(made));
  };
  const auto expect = [&](Prepared& trial) {
    InputViews views;
    std::map<std::string, std::uint64_t> fingerprints;
    for (const auto& [name, input] : trial.inputs) {
      views.emplace(name, input->view());
      fingerprints.emplace(name, input->made);
    }
    trial.expected = products_ != nullptr
                         ? products_->interpret(graph_, views, trial.symbols, fingerprints)
                         : interpret_with_bounds(graph_, views, trial.symbols);
  };
  // Large ones beside each other: the interpreter has one thread.
  const bool is_long = interpreted_elements(graph_, values[in_all_styles - 1]) > 1e6;
  const bool is_direct = options_.tries_direct && has_factors(graph_) &&
                         interpreted_elements(graph_, values.front()) <= options_.most_work;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto before = static_cast<std::ptrdiff_t>(trials.size());
    give(values[i], options_.styles.front());
    const bool has_other = i < in_all_styles && i < of_other_styles.size() &&
                           of_other_styles[i] == values[i] && options_.styles.size() > 1;
    trials.back().is_repeated = i < in_all_styles && !has_other;
    trials.back().is_preceded = i >= in_all_styles;
    for (std::size_t k = 1; i < in_all_styles && k < options_.styles.size(); ++k) {
      // As many, but for what is beyond a border at one size and not at the other.
      const auto& symbols = of_other_styles[std::min(i, of_other_styles.size() - 1)];
      give(symbols, options_.styles[k]);
      if (options_.styles[k] != InputStyle::kAdversarial) continue;
      const auto work = interpreted_elements(graph_, symbols);
      const auto seeds = trials_of_kinds(graph_, symbols);
      for (std::uint64_t more = 1; more < seeds && static_cast<double>(more) * work < kFewElements;
           ++more) {
        give(symbols, options_.styles[k], more);
      }
    }
    if (i == 0 && is_direct) give(values[i], InputStyle::kDirect);
    std::vector<std::future<void>> all;
    for (auto at = trials.begin() + before; at != trials.end(); ++at) {
      all.push_back(
          std::async(is_long ? std::launch::async : std::launch::deferred, expect, std::ref(*at)));
    }
    for (auto& one : all) one.get();
  }
  prepared_ = std::move(trials);
  return prepared_;
}

void Verifier::Coverage::add(const BoundedTensor& expected) {
  elements += expected.value.element_count();
  const auto view = expected.value.view();
  const bool may_be_nan = is_floating(view.dtype());
  for (std::int64_t i = 0; i < view.element_count(); ++i) {
    if (std::isinf(expected.bounds[static_cast<std::size_t>(i)])) continue;
    bounded += !may_be_nan || !std::isnan(value_as_double(view, i));
  }
}
void Verifier::Coverage::add(const Coverage& more) {
  elements += more.elements;
  bounded += more.bounded;
}

std::map<std::string, Verifier::Coverage> Verifier::coverage_by_output() {
  std::map<std::string, Coverage> all;
  for (const auto& trial : prepared()) {
    for (const auto& [name, expected] : trial.expected) all[name].add(expected);
  }
  return all;
}
Verifier::Coverage Verifier::coverage() {
  Coverage all;
  for (const auto& [name, of_output] : coverage_by_output()) all.add(of_output);
  return all;
}

// Twice at each size, with other inputs: what a call leaves behind is not what the next one needs.
// And once more at the first size, after all others.
std::vector<Verifier::Prepared*> Verifier::calls() {
  std::vector<Prepared*> calls;
  for (auto& trial : prepared()) {
    calls.push_back(&trial);
    if (trial.is_repeated) calls.push_back(&trial);
  }
  calls.push_back(calls.front());
  return calls;
}

// Candidates have most of their steps in common, and models' weights are long to look at: once for
// each kernel that reads them. What a kernel spoilt that reads something else shows in the results
// of the next program.
std::set<std::string> Verifier::inputs_of_new_steps(const Program& program,
                                                    const Runtime& runtime) {
  if (std::exchange(seen_with_, &runtime) != &runtime) steps_seen_.clear();
  std::vector<std::string> kernels;
  for (auto kernel : program.kernels) {
    kernel.rules.clear();
    kernels.push_back(canonical_json(kernel_to_json(kernel)));
  }
  std::set<std::string> names;
  for (const auto& step : program.steps) {
    auto key = kernels[step.kernel];
    std::set<std::string> read;
    for (const auto id : step.buffers) {
      const auto& buffer = program.buffers[id];
      const bool is_given = buffer.kind == Buffer::Kind::kInput;
      key += is_given ? "; " + buffer.name : ";";
      if (is_given) read.insert(buffer.name);
    }
    if (steps_seen_.insert(short_hash(key)).second) names.merge(read);
  }
  return names;
}

std::optional<std::string> Verifier::mistake_of(const Program& program, const Runtime& runtime) {
  for (const auto& trial : prepared()) {
    const auto text = mistake_in_plan(program, plan_memory(program, trial.symbols));
    if (!text.empty()) return fmt::format("memory: {} ({})", text, trial.what);
  }
  Executor executor(program, runtime, {.canaries = true});
  Desk desk;
  int number = 0;
  const auto all = calls();
  for (const auto* trial : all) {
    if (++number == (std::ssize(all) + 1) / 2 + 1) desk.shift();
    std::optional<std::string> mistake;
    try {
      desk.is_turned = trial->is_preceded;
      if (desk.is_turned) call(executor, *trial, desk);
      desk.is_turned = false;
      mistake = mistake_in(executor, *trial, desk);
    } catch (const InternalError& e) {
      mistake = e.what();
    }
    if (mistake) return fmt::format("{} ({}, call {})", *mistake, trial->what, number);
  }
  if (auto mistake = desk.one_sided.mistake()) return mistake;
  const auto names = inputs_of_new_steps(program, runtime);
  std::set<const Input*> seen;
  for (const auto& trial : prepared_) {
    for (const auto& [name, input] : trial.inputs) {
      if (!names.contains(name) || !seen.insert(input.get()).second) continue;
      if (input->block.fingerprint(runtime.threads) == input->made) continue;
      const auto text = fmt::format("input '{}' was overwritten ({})", name, trial.what);
      prepared_.clear();  // made anew when they are needed
      steps_seen_.clear();
      return text;
    }
  }
  return std::nullopt;
}

// Returns the inputs that lie on the desk.
std::map<std::string, const Verifier::Input*> Verifier::call(Executor& executor,
                                                             const Prepared& trial,
                                                             Desk& desk) const {
  const auto& program = executor.program();
  std::map<std::string, const Input*> moved;
  std::vector<std::byte*> pointers;
  for (const auto& buffer : program.buffers) {
    const auto bytes = [&] {
      return static_cast<std::size_t>(product(buffer.shape).at(trial.symbols)) *
             size_of(buffer.dtype);
    };
    switch (buffer.kind) {
      case Buffer::Kind::kTemporary:
        break;
      case Buffer::Kind::kInput: {
        const auto& input = trial.inputs.at(buffer.name);
        constexpr std::size_t kLarge = std::size_t{8} << 20;
        const auto is_this = [&](const Prepared& other) {
          return other.inputs.at(buffer.name) == input;
        };
        if (bytes() > kLarge || std::ranges::all_of(prepared_, is_this)) {
          pointers.push_back(input->block.data());
          break;
        }
        moved.emplace(buffer.name, input.get());
        pointers.push_back(desk.put(desk.inputs, buffer, bytes(), input->block.data()));
        break;
      }
      // What the program may change is its own; all else it only reads.
      case Buffer::Kind::kState:
        pointers.push_back(
            desk.put(desk.inputs, buffer, bytes(), trial.inputs.at(buffer.name)->block.data()));
        break;
      case Buffer::Kind::kOutput:
        pointers.push_back(desk.put(desk.outputs, buffer, bytes(), nullptr));
        break;
    }
  }
  executor.run(trial.symbols, pointers);
  return moved;
}

std::optional<std::string> Verifier::mistake_in(Executor& executor, const Prepared& trial,
                                                Desk& desk) const {
  const auto moved = call(executor, trial, desk);
  const auto beside = [](std::string_view name) {
    return fmt::format("what lies beside '{}' was overwritten", name);
  };
  for (const auto& [name, input] : trial.inputs) {
    if (!input->block.is_whole()) return beside(name);
  }
  for (const auto* blocks : {&desk.inputs, &desk.outputs}) {
    for (const auto& [name, block] : *blocks) {
      if (!block.is_whole()) return beside(name);
    }
  }
  for (const auto& [name, input] : moved) {
    if (desk.inputs.at(name).fingerprint(1) == input->made) continue;
    return fmt::format("input '{}' was overwritten", name);
  }
  for (const auto& output : graph_.outputs()) {
    const auto& expected = trial.expected.at(output.name);
    const auto& block =
        output.replaces.empty() ? desk.outputs.at(output.name) : desk.inputs.at(output.replaces);
    const TensorView got(expected.value.dtype(), block.data(), expected.value.shape());
    const auto text = difference(expected, got);
    if (!text.empty()) return fmt::format("output '{}': {}", output.name, text);
    desk.one_sided.look(output.name, expected, got);
  }
  return std::nullopt;
}

}  // namespace assay::compiler
