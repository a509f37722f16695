// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/plan/multi_plan.h"

#include <algorithm>
#include <map>

#include "base/error.h"

namespace assay::einsum {
namespace {

// Every candidate costs a search for each expression that has it. Of expressions with more terms
// than this only the pairs that their own plan contracts are tried.
constexpr std::size_t kFewTerms = 8;
constexpr std::size_t kMostCandidates = 64;  // a round

using Labels = std::vector<Label>;

bool is_wide(DType dtype) { return dtype == DType::kF64 || dtype == DType::kC128; }

// An expression as far as it has been rewritten.
struct Expression {
  std::vector<Labels> terms;
  std::vector<std::size_t> operands;  // of the terms
  Labels output;
  DType dtype;
  bool wide;  // computed in f64 or c128
  std::shared_ptr<const Plan> plan;
  double seconds() const { return plan->predicted_s; }
};

// One or two terms of an expression. `labels` are theirs in order of appearance: the labels that
// stay are numbered by that, the same for all places where the same contraction occurs.
struct Place {
  std::size_t expression;
  std::vector<std::size_t> terms;
  Labels labels;
};

struct Candidate {
  std::vector<std::size_t> kept;  // numbers of the labels that stay
  std::vector<Place> places;
};

class Together {
 public:
  Together(std::span<const OperandSpec> operands, const PlanMaker& make)
      : specs_(operands.begin(), operands.end()), make_(make) {
    plan_.operand_count = operands.size();
  }

  MultiPlan run(std::span<const SharedExpression> expressions) {
    for (const auto& e : expressions) add(e);
    while (share_one_more()) {
    }
    plan_.shared = plan_.calls.size();
    for (auto& e : expressions_) {
      plan_.predicted_s += e.seconds();
      plan_.calls.push_back({std::move(e.operands), std::move(e.plan)});
    }
    return std::move(plan_);
  }

 private:
  void add(const SharedExpression& e) {
    std::vector<OperandSpec> specs;
    for (const std::size_t i : e.operands) {
      if (i >= plan_.operand_count) {
        fail("einsum: '{}' names common operand {}, but there are {}", e.expression, i,
             plan_.operand_count);
      }
      specs.push_back(specs_[i]);
    }
    auto plan = make_(e.expression, specs, std::nullopt, Precision::kDefault);
    plan_.separate_s += plan->predicted_s;
    expressions_.push_back({plan->problem.terms, e.operands, plan->problem.output, plan->result,
                            is_wide(plan->compute), plan});
  }

  // All candidates by what they compute from which operands.
  std::map<std::string, Candidate> candidates() const {
    std::map<std::string, Candidate> found;
    for (std::size_t e = 0; e < expressions_.size(); ++e) {
      const auto& x = expressions_[e];
      if (x.plan->steps.empty()) continue;  // loops, or nothing to compute
      const std::size_t n = x.terms.size();
      for (std::size_t t = 0; t < n; ++t) add_candidate(found, e, {t});
      if (n <= kFewTerms) {
        for (std::size_t a = 0; a < n; ++a) {
          for (std::size_t b = a + 1; b < n; ++b) add_candidate(found, e, {a, b});
        }
      } else {
        for (const auto& [a, b] : x.plan->path.tree.merges) {
          const auto first = static_cast<std::size_t>(a), second = static_cast<std::size_t>(b);
          if (first < n && second < n) add_candidate(found, e, {first, second});
        }
      }
    }
    return found;
  }

  void add_candidate(std::map<std::string, Candidate>& found, std::size_t e,
                     std::vector<std::size_t> terms) const {
    const auto& x = expressions_[e];
    // The same pair in another order is the same.
    std::ranges::stable_sort(terms, {}, [&](std::size_t t) { return x.operands[t]; });
    Place place{e, terms, {}};
    std::string text = x.wide ? "wide" : "";
    for (const std::size_t t : terms) {
      text += fmt::format("|{}:", x.operands[t]);
      for (const Label l : x.terms[t]) {
        auto at = std::ranges::find(place.labels, l);
        if (at == place.labels.end()) at = place.labels.insert(at, l);
        text += fmt::format("{},", at - place.labels.begin());
      }
    }
    std::vector<std::size_t> kept;
    for (std::size_t k = 0; k < place.labels.size(); ++k) {
      const Label l = place.labels[k];
      bool needed = std::ranges::count(x.output, l) != 0;
      for (std::size_t t = 0; t < x.terms.size(); ++t) {
        needed |= std::ranges::count(terms, t) == 0 && std::ranges::count(x.terms[t], l) != 0;
      }
      if (needed) kept.push_back(k);
    }
    // One term alone is something to share if labels of it are summed.
    if (terms.size() == 1 && kept.size() == place.labels.size()) return;
    text += fmt::format("->{}", fmt::join(kept, ","));
    auto& candidate = found[text];
    candidate.kept = std::move(kept);
    candidate.places.push_back(std::move(place));
  }

  std::shared_ptr<const Plan> planned(const std::vector<Labels>& terms,
                                      const std::vector<std::size_t>& operands,
                                      const Labels& output, DType dtype, Precision precision,
                                      const OperandSpec* newest) const {
    std::vector<OperandSpec> specs;
    for (const std::size_t i : operands) specs.push_back(i < specs_.size() ? specs_[i] : *newest);
    return make_(to_string(integer_notation(terms, output)), specs, dtype, precision);
  }

  // What taking a candidate would change.
  struct Trial {
    double saved_s = 0;
    int uses = 0;
    MultiPlan::Call call;
    OperandSpec made;
    std::map<std::size_t, Expression> changed;
  };

  // With the labels of the intermediate in the order of `kept`.
  Trial tried(const Candidate& candidate, const std::vector<std::size_t>& kept) const {
    Trial trial;
    const Place& first = candidate.places.front();
    const auto& x = expressions_[first.expression];
    const auto labels_of = [&](const Place& place) {
      Labels labels;
      for (const std::size_t k : kept) labels.push_back(place.labels[k]);
      return labels;
    };
    std::vector<Labels> terms;
    bool complex = false;
    for (const std::size_t t : first.terms) {
      terms.push_back(x.terms[t]);
      trial.call.operands.push_back(x.operands[t]);
      complex |= is_complex(specs_[x.operands[t]].dtype);
    }
    const DType dtype =
        x.wide ? (complex ? DType::kC128 : DType::kF64) : (complex ? DType::kC64 : DType::kF32);
    trial.call.plan = planned(terms, trial.call.operands, labels_of(first), dtype,
                              x.wide ? Precision::kDouble : Precision::kDefault, nullptr);
    trial.made = OperandSpec::dense(dtype, trial.call.plan->output_shape());
    for (const auto& place : candidate.places) {
      const std::size_t e = place.expression;
      if (trial.changed.contains(e)) continue;
      Expression changed = expressions_[e];
      int uses = 0;
      std::vector<bool> gone(changed.terms.size(), false);
      for (const auto& other : candidate.places) {  // all places in this expression, if disjoint
        if (other.expression != e) continue;
        if (std::ranges::any_of(other.terms, [&](std::size_t t) { return gone[t]; })) continue;
        for (const std::size_t t : other.terms) gone[t] = true;
        changed.terms.push_back(labels_of(other));
        changed.operands.push_back(specs_.size());
        ++uses;
      }
      for (std::size_t t = gone.size(); t-- > 0;) {
        if (!gone[t]) continue;
        changed.terms.erase(changed.terms.begin() + static_cast<std::ptrdiff_t>(t));
        changed.operands.erase(changed.operands.begin() + static_cast<std::ptrdiff_t>(t));
      }
      changed.plan = planned(changed.terms, changed.operands, changed.output, changed.dtype,
                             Precision::kDefault, &trial.made);
      const double saved = expressions_[e].seconds() - changed.seconds();
      if (saved <= 0) continue;
      trial.saved_s += saved;
      trial.uses += uses;
      trial.changed.emplace(e, std::move(changed));
    }
    trial.saved_s -= trial.call.plan->predicted_s;
    return trial;
  }

  bool share_one_more() {
    Trial best;
    std::size_t count = 0;
    for (const auto& [text, candidate] : candidates()) {
      if (candidate.places.size() < 2) continue;
      if (++count > kMostCandidates) break;
      auto kept = candidate.kept;
      // As the labels appear, and those of the second term first.
      for (int order = 0; order < 2; ++order) {
        auto trial = tried(candidate, kept);
        if (trial.uses > 1 && trial.saved_s > best.saved_s) best = std::move(trial);
        const auto& place = candidate.places.front();
        const auto& last = expressions_[place.expression].terms[place.terms.back()];
        std::ranges::stable_partition(
            kept, [&](std::size_t k) { return std::ranges::count(last, place.labels[k]) != 0; });
      }
    }
    if (best.uses == 0) return false;
    plan_.saved += best.uses - 1;
    plan_.predicted_s += best.call.plan->predicted_s;
    plan_.calls.push_back(std::move(best.call));
    specs_.push_back(std::move(best.made));
    for (auto& [e, changed] : best.changed) expressions_[e] = std::move(changed);
    return true;
  }

  std::vector<OperandSpec> specs_;  // of the common operands, then of the intermediates
  const PlanMaker& make_;
  std::vector<Expression> expressions_;
  MultiPlan plan_;
};

}  // namespace

MultiPlan plan_together(std::span<const SharedExpression> expressions,
                        std::span<const OperandSpec> operands, const PlanMaker& make) {
  return Together(operands, make).run(expressions);
}

}  // namespace assay::einsum
