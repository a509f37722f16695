// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/wrong_program.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.h"

namespace assay::compiler {
namespace {

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

SmallestMistake minimised(const Graph& graph, const CompileFunction& compile,
                          const Runtime& runtime, const VerifyOptions& options) {
  const auto mistake_in = [&](const Graph& part) -> std::optional<SmallestMistake> {
    auto program = compile(part);
    ProgramVerifier verifier(part, options);
    auto what = verifier.mistake_of(program, runtime);
    if (!what) what = verifier.mistake_far_out(program, runtime);
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
