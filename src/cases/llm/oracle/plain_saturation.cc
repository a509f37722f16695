// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/llm/oracle/plain_saturation.h"

#include <cstddef>
#include <functional>
#include <map>

#include "base/error.h"

namespace assay::cases::llm {
namespace {

struct Tree {
  std::string head;  // "?x": a variable
  std::vector<Tree> children;
};

Tree read_tree(const std::string& text, std::size_t& at) {
  while (at < text.size() && text[at] == ' ') ++at;
  const bool is_list = at < text.size() && text[at] == '(';
  if (is_list) ++at;
  Tree tree;
  while (at < text.size() && text[at] != ' ' && text[at] != '(' && text[at] != ')') {
    tree.head += text[at++];
  }
  check(!tree.head.empty(), "a term has a head");
  while (is_list) {
    while (at < text.size() && text[at] == ' ') ++at;
    check(at < text.size(), "a list ends");
    if (text[at] == ')') {
      ++at;
      break;
    }
    tree.children.push_back(read_tree(text, at));
  }
  return tree;
}
Tree read_tree(const std::string& text) {
  std::size_t at = 0;
  return read_tree(text, at);
}

using Node = std::pair<std::string, std::vector<int>>;
using Names = std::map<std::string, int>;

class Plain {
 public:
  int add(const Tree& tree, const Names& names) {
    if (tree.head[0] == '?') return find(names.at(tree.head));
    Node node{tree.head, {}};
    for (const auto& child : tree.children) node.second.push_back(find(add(child, names)));
    const auto [at, is_new] = class_of_.try_emplace(node, static_cast<int>(leader_.size()));
    if (is_new) leader_.push_back(at->second);
    return find(at->second);
  }
  void join(int a, int b) { leader_[static_cast<std::size_t>(find(a))] = find(b); }
  int find(int id) {
    while (leader_[static_cast<std::size_t>(id)] != id) {
      id = leader_[static_cast<std::size_t>(id)] =
          leader_[static_cast<std::size_t>(leader_[static_cast<std::size_t>(id)])];
    }
    return id;
  }
  // Until no two nodes are the same.
  void close() {
    for (bool again = true; again;) {
      again = false;
      std::map<Node, int> now;
      for (const auto& [node, of] : class_of_) {
        auto canonical = node;
        for (int& child : canonical.second) child = find(child);
        const auto [at, is_new] = now.try_emplace(std::move(canonical), find(of));
        if (is_new || find(at->second) == find(of)) continue;
        join(at->second, of);
        again = true;
      }
      class_of_ = std::move(now);
    }
    members_.clear();
    for (const auto& [node, of] : class_of_) members_[find(of)].push_back(&node);
  }
  std::size_t size() const { return class_of_.size(); }

  // Every way in which the pattern is the class, told as values of its variables.
  template <typename Do>
  void match(const Tree& pattern, int of, Names names, const Do& act) {
    if (pattern.head[0] == '?') {
      const auto [at, is_new] = names.try_emplace(pattern.head, of);
      if (is_new || at->second == of) act(names);
      return;
    }
    const auto found = members_.find(of);
    if (found == members_.end()) return;
    for (const Node* node : found->second) {
      if (node->first != pattern.head || node->second.size() != pattern.children.size()) continue;
      match_children(pattern, *node, 0, names, act);
    }
  }
  template <typename Do>
  void match_children(const Tree& pattern, const Node& node, std::size_t i, const Names& names,
                      const Do& act) {
    if (i == pattern.children.size()) return act(names);
    match<std::function<void(const Names&)>>(
        pattern.children[i], find(node.second[i]), names,
        [&](const Names& more) { match_children(pattern, node, i + 1, more, act); });
  }
  std::vector<int> classes() const {
    std::vector<int> ids;
    for (const auto& [id, nodes] : members_) ids.push_back(id);
    return ids;
  }

 private:
  std::map<Node, int> class_of_;
  std::vector<int> leader_;
  std::map<int, std::vector<const Node*>> members_;
};

}  // namespace

std::vector<std::int64_t> plain_saturation(const std::vector<PlainRule>& rules,
                                           const std::vector<std::string>& terms, int iterations) {
  Plain graph;
  for (const auto& term : terms) graph.add(read_tree(term), {});
  graph.close();
  std::vector<std::pair<Tree, Tree>> read;
  for (const auto& rule : rules) read.emplace_back(read_tree(rule.left), read_tree(rule.right));
  std::vector<std::int64_t> counts;
  for (int i = 0; i < iterations; ++i) {
    struct Found {
      const Tree* right;
      int of;
      Names names;
    };
    std::vector<Found> found;
    const auto classes = graph.classes();
    for (const auto& [left, right] : read) {
      for (const int of : classes) {
        graph.match<std::function<void(const Names&)>>(left, of, {},
                                                       [&, &to = right](const Names& names) {
                                                         found.push_back({&to, of, names});
                                                       });
      }
    }
    for (const auto& f : found) graph.join(f.of, graph.add(*f.right, f.names));
    graph.close();
    counts.push_back(static_cast<std::int64_t>(graph.size()));
  }
  return counts;
}

}  // namespace assay::cases::llm
