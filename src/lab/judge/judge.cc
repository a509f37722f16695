// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/judge/judge.h"

#include <algorithm>
#include <cmath>
#include <optional>

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

Json optional_number(const std::optional<double>& value) {
  return value ? number_to_json(*value) : Json();
}

// The worst of several outputs stands for all; counts add up.
Json fidelity_block(const std::vector<Expectation>& expected, const std::vector<Fidelity>& results,
                    bool passed) {
  const auto worst = std::ranges::max_element(results, {}, &Fidelity::error);
  const auto& tolerance = expected[static_cast<std::size_t>(worst - results.begin())];
  std::int64_t elements = 0, rows = 0, nan_count = 0;
  bool sampled = false;
  Json seed;
  for (std::size_t i = 0; i < results.size(); ++i) {
    elements += results[i].elements;
    nan_count += results[i].nan_count;
    rows += static_cast<std::int64_t>(expected[i].rows.size());
    if (expected[i].sample_seed) {
      sampled = true;
      seed = *expected[i].sample_seed;
    }
  }
  return {
      {"status", passed ? "pass" : "fail"},
      {"error", number_to_json(worst->error)},
      {"max_abs", number_to_json(worst->max_abs)},
      {"max_rel", number_to_json(worst->max_rel)},
      {"ulp_p50", optional_number(worst->ulp_p50)},
      {"ulp_max", optional_number(worst->ulp_max)},
      {"nan_count", nan_count},
      {"checked", {{"elements", elements}, {"rows", rows}, {"sampled", sampled}, {"seed", seed}}},
      {"rtol", tolerance.rtol},
      {"atol", tolerance.atol},
      {"oracle", tolerance.oracle}};
}

Json fidelity_without_numbers(const char* status, const std::vector<Expectation>& expected) {
  Json block = {{"status", status}};
  for (const char* key : {"error", "max_abs", "max_rel", "ulp_p50", "ulp_max", "nan_count",
                          "checked", "rtol", "atol", "oracle"}) {
    block[key] = nullptr;
  }
  if (!expected.empty()) block["oracle"] = expected.front().oracle;
  return block;
}

std::vector<Fidelity> compare_all(const std::vector<Expectation>& expected,
                                  const SafetensorsFile& file) {
  std::vector<Fidelity> results;
  for (const auto& e : expected) results.push_back(compare(e, file.view(e.output)));
  return results;
}

bool all_passed(const std::vector<Fidelity>& results) {
  return std::ranges::all_of(results, &Fidelity::passed);
}

Judgement judge_certificate(const Certificate& certificate) {
  Json fidelity = fidelity_without_numbers(certificate.wrong.empty() ? "pass" : "fail", {});
  fidelity["error"] = number_to_json(certificate.wrong.empty() ? 0 : INFINITY);
  fidelity["checked"] = {
      {"elements", certificate.checked}, {"rows", 0}, {"sampled", false}, {"seed", nullptr}};
  fidelity["oracle"] = certificate.oracle;
  if (certificate.wrong.empty()) return {Status::kOk, "", "", std::move(fidelity), {}};
  return {Status::kWrongResult, "value", certificate.wrong, std::move(fidelity), {}};
}

Judgement judge_values(const std::vector<Expectation>& expected, const std::string& output_file,
                       const std::function<const std::vector<Expectation>&(int set)>& other_sets) {
  std::optional<SafetensorsFile> file;
  try {
    file.emplace(output_file);
  } catch (const UserError& e) {
    return {Status::kFailed, "no_output", e.what(), fidelity_without_numbers("fail", expected)};
  }
  for (const auto& e : expected) {
    if (const auto wrong = wrong_form(*file, e)) {
      return {Status::kWrongResult, "shape", *wrong, fidelity_without_numbers("fail", expected)};
    }
  }

  const auto results = compare_all(expected, *file);
  Judgement verdict;
  verdict.fidelity = fidelity_block(expected, results, all_passed(results));
  for (const auto& e : expected) {
    if (e.baseline.empty() || e.rows.empty()) continue;
    const double difference = difference_from_baseline(e, file->view(e.output));
    verdict.from_baseline = std::max(difference, verdict.from_baseline.value_or(0));
  }
  if (all_passed(results)) return verdict;

  verdict.status = Status::kWrongResult;
  const auto& worst = *std::ranges::max_element(results, {}, &Fidelity::error);
  const bool unwritten =
      std::ranges::any_of(results, [](const Fidelity& f) { return f.poison_count > 0; });
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
  } else if (std::ranges::any_of(results, [](const Fidelity& f) { return f.nan_count > 0; })) {
    verdict.code = "nan";
    verdict.message = fmt::format("NaN where none belongs, first at element {}", worst.worst_index);
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
    return {Status::kOk, "", "", fidelity_without_numbers("no_oracle", {}), {}};
  }
  if (expected.empty()) return judge_certificate(*certificate);
  Judgement verdict = judge_values(expected, output_file, other_sets);
  if (verdict.status == Status::kOk && certificate && !certificate->wrong.empty()) {
    return judge_certificate(*certificate);
  }
  return verdict;
}

}  // namespace assay::lab
