// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/pattern_compile.h"

#include "base/error.h"

namespace assay::models {
namespace {

// Far beyond what anybody writes: each set takes 9 kB.
constexpr std::size_t kMostInstructions = 20000, kMostSets = 500;

class PatternCompiler {
 public:
  PatternCompiler(PatternProgram& program, std::string_view what)
      : program_(program), what_(what) {}

  void alternative(const PatternNode& node) {
    program_.alternatives.push_back(here());
    compile(node);
    emit({PatternInstruction::kMatch});
  }

 private:
  using Kind = PatternInstruction::Kind;

  std::uint32_t here() const { return static_cast<std::uint32_t>(program_.instructions.size()); }
  std::uint32_t emit(PatternInstruction instruction) {
    if (here() == kMostInstructions) fail("{}: the pattern is too large", what_);
    program_.instructions.push_back(instruction);
    return here() - 1;
  }
  void point_here(std::uint32_t instruction) { program_.instructions[instruction].target = here(); }

  std::uint32_t set_number(const Characters& set) {
    for (std::uint32_t i = 0; i < known_.size(); ++i) {
      if (known_[i] == set) return i;
    }
    if (known_.size() == kMostSets) fail("{}: the pattern has too many classes", what_);
    known_.push_back(set);
    program_.sets.emplace_back(set);
    return static_cast<std::uint32_t>(known_.size() - 1);
  }

  void compile(const PatternNode& node) {
    switch (node.kind) {
      case PatternNode::kSet:
        emit({PatternInstruction::kSet, set_number(node.set)});
        return;
      case PatternNode::kSequence:
        for (const auto& part : node.parts) compile(part);
        return;
      case PatternNode::kChoice:
        choice(node);
        return;
      case PatternNode::kRepeat:
        repeat(node);
        return;
      case PatternNode::kAhead:
        enclosed(node, PatternInstruction::kAhead);
        return;
      case PatternNode::kNotAhead:
        enclosed(node, PatternInstruction::kNotAhead);
        return;
      case PatternNode::kAtomic:
        enclosed(node, PatternInstruction::kAtomic);
        return;
    }
  }

  void enclosed(const PatternNode& node, Kind kind) {
    const auto begin = emit({kind});
    compile(node.parts[0]);
    emit({PatternInstruction::kMatch});
    point_here(begin);
  }

  void choice(const PatternNode& node) {
    std::vector<std::uint32_t> ends;
    for (std::size_t i = 0; i < node.parts.size(); ++i) {
      if (i + 1 == node.parts.size()) {
        compile(node.parts[i]);
        break;
      }
      // To this part first, behind the fork's next instruction; where that fails, to the others.
      const auto fork = emit({PatternInstruction::kFork});
      const auto others = emit({PatternInstruction::kJump});
      point_here(fork);
      compile(node.parts[i]);
      ends.push_back(emit({PatternInstruction::kJump}));
      point_here(others);
    }
    for (const auto end : ends) point_here(end);
  }

  void repeat(const PatternNode& node) {
    const auto& part = node.parts[0];
    if (node.manner == PatternNode::kPossessive) {
      if (part.kind == PatternNode::kSet) {
        emit({PatternInstruction::kRepeatAll, set_number(part.set), node.least, node.most});
        return;
      }
      PatternNode greedy = node;
      greedy.manner = PatternNode::kGreedy;
      PatternNode atomic{PatternNode::kAtomic};
      atomic.parts.push_back(std::move(greedy));
      compile(atomic);
      return;
    }
    const bool lazy = node.manner == PatternNode::kLazy;
    if (part.kind == PatternNode::kSet && !lazy) {
      emit({PatternInstruction::kRepeat, set_number(part.set), node.least, node.most});
      return;
    }
    for (std::uint32_t i = 0; i < node.least; ++i) compile(part);
    if (node.most == kUnlimited) {
      const auto again = here();
      const auto skip = optional_part(part, lazy);
      program_.instructions[emit({PatternInstruction::kJump})].target = again;
      point_here(skip);
      return;
    }
    std::vector<std::uint32_t> skips;
    for (std::uint32_t i = node.least; i < node.most; ++i)
      skips.push_back(optional_part(part, lazy));
    for (const auto skip : skips) point_here(skip);
  }

  // The part, preceded by the choice to leave it; returns the instruction that leaves.
  std::uint32_t optional_part(const PatternNode& part, bool lazy) {
    const auto fork = emit({PatternInstruction::kFork});
    std::uint32_t skip = fork;
    if (!lazy) {
      skip = emit({PatternInstruction::kJump});
      point_here(fork);
    }
    compile(part);
    return skip;
  }

  PatternProgram& program_;
  std::string_view what_;
  std::vector<Characters> known_;
};

}  // namespace

PatternProgram compile_pattern(std::span<const PatternNode> alternatives, std::string_view what) {
  PatternProgram program;
  PatternCompiler compiler(program, what);
  for (const auto& alternative : alternatives) compiler.alternative(alternative);
  return program;
}

}  // namespace assay::models
