// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/testing/example_networks.h"

#include <map>

#include "base/philox.h"
#include "einsum/labels/notation.h"

namespace assay::einsum {
namespace {

std::string integer_label(int i) { return "{" + std::to_string(i) + "}"; }

// A closed lattice of rows × columns terms, one label for each pair of neighbours.
PlannerRow lattice(int rows, int columns, std::int64_t bond, double mac, double flop) {
  std::vector<std::string> terms(static_cast<std::size_t>(rows * columns));
  int labels = 0;
  const auto connect = [&](int a, int b) {
    const auto label = integer_label(labels++);
    terms[static_cast<std::size_t>(a)] += label;
    terms[static_cast<std::size_t>(b)] += label;
  };
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      if (c + 1 < columns) connect(r * columns + c, r * columns + c + 1);
      if (r + 1 < rows) connect(r * columns + c, (r + 1) * columns + c);
    }
  }
  std::string text;
  for (const auto& term : terms) text += (text.empty() ? "" : ",") + term;
  return {text + "->", std::vector<std::int64_t>(static_cast<std::size_t>(labels), bond), mac,
          flop};
}

// ⟨ψ|ψ⟩ of an open matrix-product state.
PlannerRow mps_norm(int sites, std::int64_t bond, std::int64_t physical, double mac, double flop) {
  std::string text;
  std::vector<std::int64_t> extents;
  std::map<std::string, std::int64_t> known;
  const auto use = [&](const std::string& label, std::int64_t extent) {
    text += label;
    if (known.emplace(label, extent).second) extents.push_back(extent);
  };
  for (int layer = 0; layer < 2; ++layer) {
    for (int i = 0; i < sites; ++i) {
      if (!text.empty()) text += ",";
      const int base = 100 * (layer + 1);
      if (i > 0) use(integer_label(base + i - 1), bond);
      use(integer_label(i), physical);
      if (i + 1 < sites) use(integer_label(base + i), bond);
    }
  }
  return {text + "->", extents, mac, flop};
}

}  // namespace

std::vector<PlannerRow> planner_table() {
  return {
      {"ij,jk,kl->il", {100, 200, 5, 50}, 125000, 250000},
      {"ij,jk,kl,lm->im", {100, 200, 5, 50, 3}, 63750, 127500},
      {"ab,bc,cd,de,ef,fg->ag", {30, 35, 15, 5, 10, 20, 25}, 15125, 30250},
      {"xyf,xtf,ytpf,fr->tpr", {35, 37, 59, 51, 51, 27}, 13718031, 27436062},
      {"ea,fb,abcd,gc,hd->efgh", {50, 50, 50, 50, 50, 50, 50, 50}, 1.25e9, 2.5e9},
      {"mi,na,mnP->iaP", {256, 16, 256, 128, 512}, 805306368, 1610612736},
      {"abc,bdef,fghj,cem,mhk,ljk->adgl", std::vector<std::int64_t>(12, 5), 53125, 106250},
      {"abc,cfd,dbe,efa->", std::vector<std::int64_t>(6, 20), 6408000, 12816000},
      {"iP,sP,PQ,jQ,tQ,ti,sj->", {300, 2000, 50, 2000, 300, 50}, 464015000, 924030000},
      {"mn,nr,fcr,nh,octh->oftm", {8, 10, 3, 100, 300, 10, 100, 75}, 2535900000, 5071800000},
      lattice(4, 4, 4, 29712, 59424),
      mps_norm(8, 32, 2, 131136, 262272),
  };
}

std::vector<Shape> shapes_of(const std::string& expression,
                             const std::vector<std::int64_t>& extents) {
  std::map<Symbol, std::int64_t> known;
  std::vector<Shape> shapes;
  for (const auto& term : parse_notation(expression).inputs) {
    std::vector<std::int64_t> shape;
    for (const Symbol s : term) {
      const auto next = known.size();
      const auto [at, is_new] = known.try_emplace(s, 0);
      if (is_new) at->second = extents.at(next);
      shape.push_back(at->second);
    }
    shapes.emplace_back(std::move(shape));
  }
  return shapes;
}

Network network_of(const std::string& expression, const std::vector<std::int64_t>& extents) {
  const auto problem = bind_labels(parse_notation(expression), shapes_of(expression, extents));
  Network network;
  for (const auto extent : problem.extents) network.extents.push_back(static_cast<double>(extent));
  for (const auto& term : problem.terms) {
    network.terms.emplace_back();
    for (const Label l : term) network.terms.back().insert(l);
  }
  for (const Label l : problem.output) network.output.insert(l);
  return network;
}

Network random_network(int terms, int regularity, int max_extent, std::uint64_t seed) {
  const Philox random(seed, stream_key("network"));
  std::uint64_t draws = 0;
  const auto below = [&](int bound) {
    return static_cast<int>(uniform_below(random[draws++], static_cast<std::uint64_t>(bound)));
  };
  Network network;
  network.terms.resize(static_cast<std::size_t>(terms));
  const auto new_label = [&] {
    network.extents.push_back(2 + below(max_extent - 1));
    return static_cast<Label>(network.extents.size()) - 1;
  };
  const auto connect = [&](int a, int b) {
    const Label l = new_label();
    network.terms[static_cast<std::size_t>(a)].insert(l);
    network.terms[static_cast<std::size_t>(b)].insert(l);
  };
  for (int t = 1; t < terms; ++t) connect(t, below(t));
  for (int edges = terms - 1; edges < terms * regularity / 2; ++edges) {
    const int a = below(terms);
    const int b = (a + 1 + below(terms - 1)) % terms;
    connect(a, b);
  }
  for (int open = 0; open < 2; ++open) {
    const Label l = new_label();
    network.terms[static_cast<std::size_t>(below(terms))].insert(l);
    network.output.insert(l);
  }
  return network;
}

}  // namespace assay::einsum
