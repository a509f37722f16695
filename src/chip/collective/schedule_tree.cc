// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// All-reduce over two binary trees at once, each with half of the vector, in segments that follow
// one another: up to the root as partial sums, down again as results. The inner nodes of one tree
// are leaves of the other, so that every rank sends and receives about twice the vector.

#include <algorithm>
#include <bit>

#include "chip/collective/disjoint_labels.h"
#include "chip/collective/schedule_builder.h"

namespace assay::chip {
namespace {

using Labels = std::vector<std::int32_t>;

struct TreeNode {
  std::int32_t parent = -1;
  std::vector<std::int32_t> children;  // in increasing order
};

// Node 0 is the root; the others are numbered in order, so that a node's height is the number of
// its trailing zero bits. Its parent has the lowest set bit moved up by one; where that is beyond
// the last node, the nearest ancestor that exists is the one without that bit.
std::vector<TreeNode> in_order_tree(std::int32_t p) {
  std::vector<TreeNode> tree(static_cast<std::size_t>(p));
  for (std::int32_t i = 1; i < p; ++i) {
    const std::int32_t bit = 1 << std::countr_zero(static_cast<std::uint32_t>(i));
    std::int32_t parent = (i ^ bit) | (bit << 1);
    if (parent >= p) parent = i ^ bit;
    tree[static_cast<std::size_t>(i)].parent = parent;
    tree[static_cast<std::size_t>(parent)].children.push_back(i);
  }
  return tree;
}

// The same tree under other names: node i becomes labels[i].
std::vector<TreeNode> relabelled(const std::vector<TreeNode>& tree, const Labels& labels) {
  std::vector<TreeNode> out(tree.size());
  for (std::size_t i = 0; i < tree.size(); ++i) {
    TreeNode& node = out[static_cast<std::size_t>(labels[i])];
    if (tree[i].parent >= 0) node.parent = labels[static_cast<std::size_t>(tree[i].parent)];
    for (const auto child : tree[i].children) {
      node.children.push_back(labels[static_cast<std::size_t>(child)]);
    }
    std::sort(node.children.begin(), node.children.end());
  }
  return out;
}

// With the root at the top rank: mirrored, or shifted where mirroring would leave the same nodes
// inside (odd p). Edges stay as short as they are.
Labels mirror(std::int32_t p) {
  Labels labels;
  for (std::int32_t i = 0; i < p; ++i) labels.push_back(p % 2 == 0 ? p - 1 - i : (i + p - 1) % p);
  return labels;
}

Labels parents_of(const std::vector<TreeNode>& tree) {
  Labels parents;
  for (const TreeNode& node : tree) parents.push_back(node.parent);
  return parents;
}

// Appends the two directions of one tree for one rank. Channel `up` carries sums, `up` + 1 results.
void add_tree(ScheduleBuilder& builder, const std::vector<TreeNode>& tree, Range range,
              std::int64_t segments, std::int32_t up) {
  const std::int32_t down = up + 1;
  const auto segment = [&](std::int64_t s) {
    const Range part = even_part(range.size(), segments, s);
    return Ranges{{range.begin + part.begin, range.begin + part.end}};
  };
  const bool paced = !builder.options().as_astra;
  for (std::int32_t rank = 0; rank < builder.ranks(); ++rank) {
    const TreeNode& node = tree[static_cast<std::size_t>(rank)];
    const bool root = node.parent < 0;
    // Sums: stage s sends segment s - 1 and awaits segment s. At the root it turns around.
    Program rising{rank, paced, {}};
    const std::int64_t lag = node.children.empty() ? 0 : 1;
    for (std::int64_t s = 0; s < segments + lag; ++s) {
      StagePlan& here = rising.stages.emplace_back();
      if (s >= lag) {
        if (root) {
          for (const auto child : node.children) {
            here.sends.push_back(builder.transfer(child, segment(s - lag), false, down));
          }
        } else {
          here.sends.push_back(builder.transfer(node.parent, segment(s - lag), false, up));
        }
      }
      if (s < segments) {
        for (const auto child : node.children) {
          here.receives.push_back(builder.transfer(child, segment(s), true, up));
        }
      }
    }
    builder.add_program(rank, paced) = std::move(rising);
    if (root) continue;
    // Results: stage s awaits segment s and passes on segment s - 1.
    Program falling{rank, paced, {}};
    for (std::int64_t s = 0; s < segments + lag; ++s) {
      StagePlan& here = falling.stages.emplace_back();
      if (s > 0) {
        for (const auto child : node.children) {
          here.sends.push_back(builder.transfer(child, segment(s - 1), false, down));
        }
      }
      if (s < segments) {
        here.receives.push_back(builder.transfer(node.parent, segment(s), false, down));
      }
    }
    builder.add_program(rank, paced) = std::move(falling);
  }
}

}  // namespace

void build_double_binary_tree(ScheduleBuilder& builder) {
  const auto& options = builder.options();
  const Range all{0, options.length};
  const auto lower = in_order_tree(options.ranks);
  const bool apart = options.disjoint_trees && !options.as_astra;
  const auto upper =
      relabelled(lower, apart ? disjoint_labels(parents_of(lower)) : mirror(options.ranks));
  if (options.as_astra) {
    add_tree(builder, options.upper_tree ? upper : lower, all, 1, 0);
    return;
  }
  const std::int64_t half = options.length / 2;
  add_tree(builder, upper, {0, half}, options.segments, 0);
  add_tree(builder, lower, {half, options.length}, options.segments, 2);
}

}  // namespace assay::chip
