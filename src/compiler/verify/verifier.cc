// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/verifier.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <future>
#include <set>

#include "base/error.h"
#include "base/memory.h"

namespace assay::compiler {
namespace {

constexpr std::size_t kOuterGuard = 128;
constexpr std::byte kOuterGuardByte{0x5A};

// An outer buffer between two guards.
class GuardedBlock {
 public:
  GuardedBlock(std::size_t bytes, const std::byte* from)
      : bytes_(bytes), block_(aligned_block<std::byte>(bytes + 2 * kOuterGuard)) {
    std::memset(block_.get(), static_cast<int>(kOuterGuardByte), bytes + 2 * kOuterGuard);
    if (from != nullptr && bytes > 0) std::memcpy(data(), from, bytes);
  }
  std::byte* data() { return block_.get() + kOuterGuard; }
  bool is_whole() const {
    const auto is_guard = [](std::byte b) { return b == kOuterGuardByte; };
    const auto* begin = block_.get();
    return std::all_of(begin, begin + kOuterGuard, is_guard) &&
           std::all_of(begin + kOuterGuard + bytes_, begin + bytes_ + 2 * kOuterGuard, is_guard);
  }

 private:
  std::size_t bytes_;
  AlignedBlock<std::byte> block_;
};

// The nodes that `root` needs, as far as `depth` operations; what lies beyond is given.
Graph cut_out(const Graph& graph, NodeId root, int depth) {
  std::map<NodeId, int> left;  // operations that may follow
  left[root] = depth;
  for (NodeId id = root + 1; id-- > 0;) {
    const auto at = left.find(id);
    if (at == left.end() || at->second == 0) continue;
    for (const auto& operand : graph.node(id).operands) {
      auto& known = left[operand.node];
      known = std::max(known, at->second - 1);
    }
  }
  Graph result;
  for (const auto& [name, interval] : graph.symbols()) {
    result.symbol(name, interval.low, interval.high);
  }
  std::map<NodeId, NodeId> numbers;
  for (const auto& [id, rest] : left) {
    auto node = graph.node(id);
    if (rest == 0 && !node.operands.empty()) {
      Node given;
      given.op = Op::kInput;
      given.dtype = node.dtype;
      given.shape = node.shape;
      given.name = fmt::format("node{}", id);
      node = std::move(given);
    }
    for (auto& operand : node.operands) operand.node = numbers.at(operand.node);
    numbers[id] = result.add(std::move(node));
  }
  result.set_output("y", numbers.at(root));
  return result;
}

std::string text_of(const Graph& graph) {
  std::string text;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const auto& node = graph.node(id);
    text += fmt::format("{}%{} = {}", id == 0 ? "" : "; ", id, name_of(node.op));
    if (!node.name.empty()) text += fmt::format(" '{}'", node.name);
    if (node.op == Op::kConst) text += fmt::format(" {:#x}", node.bits);
    text += fmt::format(" {}{}", name_of(node.dtype), to_string(node.shape));
    for (const auto& operand : node.operands) {
      text += fmt::format(" %{}", operand.node);
      if (!(operand.view == View::contiguous(graph.node(operand.node).shape))) {
        text += "(" + operand.view.to_string() + ")";
      }
    }
  }
  return text;
}

std::vector<std::string> rules_of(const Program& program) {
  std::set<std::string> rules;
  for (const auto& kernel : program.kernels) rules.insert(kernel.rules.begin(), kernel.rules.end());
  return {rules.begin(), rules.end()};
}

}  // namespace

// Inputs lie between guards once for all programs.
struct Verifier::Prepared {
  Trial trial;
  std::map<std::string, BoundedTensor> expected;
  std::map<std::string, GuardedBlock> inputs;
};

Verifier::Verifier(const Graph& graph, VerifyOptions options)
    : graph_(graph), options_(std::move(options)) {}
Verifier::~Verifier() = default;

std::vector<Verifier::Prepared>& Verifier::prepared() {
  if (!prepared_.empty()) return prepared_;
  auto most = options_.most;
  auto values = symbol_values(graph_, most);
  while (most > 1 && interpreted_elements(graph_, values.back()) > options_.most_work) {
    values = symbol_values(graph_, most = most * 3 / 4);
  }
  const auto prepare = [&](const Bindings& symbols, InputStyle style) {
    Prepared made{make_trial(graph_, symbols, style, options_.seed), {}, {}};
    made.expected = interpret_with_bounds(graph_, made.trial.views(), symbols);
    for (const auto& [name, tensor] : made.trial.inputs) {
      made.inputs.try_emplace(name, tensor.bytes().size(), tensor.bytes().data());
    }
    return made;
  };
  // Large ones beside each other: the interpreter has one thread.
  const bool is_long = interpreted_elements(graph_, values.back()) > 1e7;
  for (const auto& symbols : values) {
    std::vector<std::future<Prepared>> all;
    for (const auto style : options_.styles) {
      all.push_back(std::async(is_long ? std::launch::async : std::launch::deferred, prepare,
                               symbols, style));
    }
    for (auto& made : all) prepared_.push_back(made.get());
  }
  return prepared_;
}

Verifier::Coverage Verifier::coverage() {
  Coverage all;
  for (const auto& trial : prepared()) {
    for (const auto& [name, expected] : trial.expected) {
      all.elements += expected.value.element_count();
      all.bounded +=
          std::ranges::count_if(expected.bounds, [](double b) { return !std::isinf(b); });
    }
  }
  return all;
}

std::optional<std::string> Verifier::mistake_of(const Program& program, const Runtime& runtime) {
  Executor executor(program, runtime, {.canaries = true});
  for (auto& trial : prepared()) {
    for (const int call : {1, 2}) {
      std::optional<std::string> mistake;
      try {
        mistake = mistake_in(executor, trial);
      } catch (const InternalError& e) {
        mistake = e.what();
      }
      if (mistake) {
        return fmt::format("{} ({}{})", *mistake, trial.trial.what,
                           call == 1 ? "" : ", called a second time");
      }
    }
    for (auto& [name, block] : trial.inputs) {
      const auto& given = trial.trial.inputs.at(name);
      if (std::memcmp(block.data(), given.bytes().data(), given.bytes().size()) == 0) continue;
      std::memcpy(block.data(), given.bytes().data(), given.bytes().size());
      return fmt::format("input '{}' was overwritten ({})", name, trial.trial.what);
    }
  }
  return std::nullopt;
}

std::optional<std::string> Verifier::mistake_in(Executor& executor, Prepared& trial) const {
  const auto& program = executor.program();
  // What the program may change is its own; all else it only reads.
  std::map<std::string, GuardedBlock> outputs, states;
  std::vector<std::byte*> pointers;
  for (const auto& buffer : program.buffers) {
    const auto* given =
        buffer.kind == Buffer::Kind::kState ? &trial.trial.inputs.at(buffer.name) : nullptr;
    switch (buffer.kind) {
      case Buffer::Kind::kTemporary:
        break;
      case Buffer::Kind::kInput:
        pointers.push_back(trial.inputs.at(buffer.name).data());
        break;
      case Buffer::Kind::kState:
        pointers.push_back(
            states.try_emplace(buffer.name, given->bytes().size(), given->bytes().data())
                .first->second.data());
        break;
      case Buffer::Kind::kOutput: {
        const auto bytes = static_cast<std::size_t>(product(buffer.shape).at(trial.trial.symbols)) *
                           size_of(buffer.dtype);
        pointers.push_back(outputs.try_emplace(buffer.name, bytes, nullptr).first->second.data());
        break;
      }
    }
  }
  executor.run(trial.trial.symbols, pointers);
  for (auto* blocks : {&trial.inputs, &states, &outputs}) {
    for (const auto& [name, block] : *blocks) {
      if (!block.is_whole()) return fmt::format("what lies beside '{}' was overwritten", name);
    }
  }
  for (const auto& output : graph_.outputs()) {
    const auto& expected = trial.expected.at(output.name);
    auto& block = output.replaces.empty() ? outputs.at(output.name) : states.at(output.replaces);
    const TensorView got(expected.value.dtype(), block.data(), expected.value.shape());
    const auto text = difference(expected, got);
    if (!text.empty()) return fmt::format("output '{}': {}", output.name, text);
  }
  return std::nullopt;
}

SmallestMistake minimised(const Graph& graph, const CompileFunction& compile,
                          const Runtime& runtime, const VerifyOptions& options) {
  const auto mistake_in = [&](const Graph& part) -> std::optional<SmallestMistake> {
    auto program = compile(part);
    auto what = Verifier(part, options).mistake_of(program, runtime);
    if (!what) return std::nullopt;
    return SmallestMistake{part, std::move(program), std::move(*what)};
  };
  constexpr int kDeepest = 40;
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (graph.node(id).operands.empty()) continue;
    if (!mistake_in(cut_out(graph, id, kDeepest))) continue;
    for (int depth = 1; depth <= kDeepest; ++depth) {
      if (auto mistake = mistake_in(cut_out(graph, id, depth))) return std::move(*mistake);
    }
  }
  // Only the whole shows it: two outputs, a state.
  auto whole = mistake_in(graph);
  check(whole.has_value(), "a program that is wrong is wrong again");
  return std::move(*whole);
}

WrongProgram::WrongProgram(const SmallestMistake& mistake)
    : std::runtime_error(fmt::format("a program is wrong: {}; rules: {}; the smallest graph: {}",
                                     mistake.what, fmt::join(rules_of(mistake.program), ", "),
                                     text_of(mistake.graph))),
      rules_(rules_of(mistake.program)) {}

}  // namespace assay::compiler
