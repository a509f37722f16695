// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/judge/judge.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "lab/judge/fidelity.h"
#include "tensor/safetensors.h"

namespace assay::lab {
namespace {

// The wrong name, dtype or shape of an output, in words; nothing when all are right.
std::optional<std::string> wrong_form(const SafetensorsFile& file, const Expectation& expected) {
  if (!file.contains(expected.output)) {
    return fmt::format("the output has no tensor '{}'", expected.output);
  }
  const auto& view = file.view(expected.output);
  const Shape shape(expected.shape);
  if (name_of(view.dtype()) != expected.dtype || view.shape() != shape) {
    return fmt::format("output '{}' is {} {}, expected {} {}", expected.output,
                       name_of(view.dtype()), view.shape().to_string(), expected.dtype,
                       shape.to_string());
  }
  return std::nullopt;
}

// The worst of several outputs stands for all; counts add up.
Fidelity fidelity_of(const std::vector<Expectation>& expected,
                     const std::vector<Deviation>& results, bool passed) {
  const auto worst = std::ranges::max_element(results, {}, &Deviation::error);
  const auto& tolerance = expected[static_cast<std::size_t>(worst - results.begin())];
  Fidelity f;
  f.status = passed ? Fidelity::kPass : Fidelity::kFail;
  f.error = worst->error;
  f.max_abs = worst->max_abs;
  f.max_rel = worst->max_rel;
  f.ulp_p50 = worst->ulp_p50;
  f.ulp_max = worst->ulp_max;
  f.nan_count = 0;
  f.rtol = tolerance.rtol;
  f.atol = tolerance.atol;
  f.oracle = tolerance.oracle;
  auto& checked = f.checked.emplace();
  std::map<std::string, std::set<std::int64_t>> rows_of;  // by output: several may look at one
  for (std::size_t i = 0; i < results.size(); ++i) {
    *f.nan_count += results[i].nan_count;
    checked.elements += results[i].elements;
    rows_of[expected[i].output].insert(expected[i].rows.begin(), expected[i].rows.end());
    if (expected[i].sample_seed) {
      checked.sampled = true;
      checked.seed = expected[i].sample_seed;
    }
  }
  for (const auto& [output, seen] : rows_of) {
    checked.rows += static_cast<std::int64_t>(seen.size());
  }
  return f;
}

Fidelity fidelity_without_numbers(const char* status, const std::vector<Expectation>& expected) {
  Fidelity f;
  f.status = status;
  if (!expected.empty()) f.oracle = expected.front().oracle;
  return f;
}

std::vector<Deviation> compare_all(const std::vector<Expectation>& expected,
                                   const SafetensorsFile& file) {
  std::vector<Deviation> results;
  for (const auto& e : expected) results.push_back(compare(e, file.view(e.output)));
  return results;
}

bool all_passed(const std::vector<Deviation>& results) {
  return std::ranges::all_of(results, &Deviation::passed);
}

Judgement judge_certificate(const Certificate& certificate) {
  const bool right = certificate.wrong.empty();
  Fidelity fidelity;
  fidelity.status = right ? Fidelity::kPass : Fidelity::kFail;
  fidelity.error = right ? 0 : INFINITY;
  fidelity.checked.emplace().elements = certificate.checked;
  fidelity.oracle = certificate.oracle;
  if (right) return {Status::kOk, "", "", std::move(fidelity), {}};
  return {Status::kWrongResult, "value", certificate.wrong, std::move(fidelity), {}};
}

Judgement judge_values(const std::vector<Expectation>& expected, const std::string& output_file,
                       const std::function<const std::vector<Expectation>&(int set)>& other_sets) {
  std::optional<SafetensorsFile> file;
  try {
    file.emplace(output_file);
  } catch (const UserError& e) {
    return {Status::kFailed, "no_output", e.what(),
            fidelity_without_numbers(Fidelity::kFail, expected)};
  }
  for (const auto& e : expected) {
    if (const auto wrong = wrong_form(*file, e)) {
      return {Status::kWrongResult, "shape", *wrong,
              fidelity_without_numbers(Fidelity::kFail, expected)};
    }
  }

  const auto results = compare_all(expected, *file);
  Judgement verdict;
  verdict.fidelity = fidelity_of(expected, results, all_passed(results));
  for (const auto& e : expected) {
    if (e.baseline.empty() || e.rows.empty()) continue;
    const double difference = difference_from_baseline(e, file->view(e.output));
    verdict.from_baseline = std::max(difference, verdict.from_baseline.value_or(0));
  }
  if (all_passed(results)) return verdict;

  verdict.status = Status::kWrongResult;
  const auto& worst = *std::ranges::max_element(results, {}, &Deviation::error);
  const bool unwritten =
      std::ranges::any_of(results, [](const Deviation& f) { return f.poison_count > 0; });
  const auto remembered = [&] {
    for (int set = 0; set < kRotatingSets; ++set) {
      if (all_passed(compare_all(other_sets(set), *file))) return true;
    }
    return false;
  };
  if (unwritten) {
    verdict.code = "stale";
    verdict.message = "the last call did not write its whole output";
  } else if (remembered()) {
    verdict.code = "stale";
    verdict.message = "the output is the answer to an earlier call's inputs";
  } else if (std::ranges::any_of(results, [](const Deviation& f) { return f.nan_count > 0; })) {
    verdict.code = "nan";
    verdict.message = fmt::format("NaN where none belongs, first at element {}", worst.worst_index);
  } else if (worst.is_mean_wrong) {
    verdict.code = "value";
    verdict.message =
        fmt::format("the root mean square of the errors is {:.3g}: {:.3g} times the tolerance",
                    worst.rms, worst.error);
  } else {
    verdict.code = "value";
    verdict.message = fmt::format("element {} is {} instead of {}: {:.3g} times the tolerance",
                                  worst.worst_index, worst.worst_out, worst.worst_ref, worst.error);
  }
  return verdict;
}

}  // namespace

Judgement judge(const std::vector<Expectation>& expected, const std::string& output_file,
                const std::function<const std::vector<Expectation>&(int set)>& other_sets,
                const std::optional<Certificate>& certificate) {
  if (expected.empty() && !certificate) {
    return {Status::kOk, "", "", fidelity_without_numbers(Fidelity::kNoOracle, {}), {}};
  }
  if (expected.empty()) return judge_certificate(*certificate);
  Judgement verdict = judge_values(expected, output_file, other_sets);
  if (verdict.status == Status::kOk && certificate && !certificate->wrong.empty()) {
    return judge_certificate(*certificate);
  }
  return verdict;
}

}  // namespace assay::lab
