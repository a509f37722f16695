// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/own_cases.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/error.h"
#include "cases/own/own_case.h"
#include "cli/installation.h"
#include "lab/run/environment.h"
#include "lab/run/plan.h"

namespace assay::cli {
namespace {

cases::own::OraclePrograms oracle_programs() {
  const auto programs = find_programs();
  cases::own::OraclePrograms found;
  found.worker = programs.worker;
  found.python_package = programs.python_package;
  const auto probe = std::make_shared<lab::EnvironmentProbe>(programs);
  found.python = [probe](const std::string& id, const std::vector<std::string>& modules) {
    lab::Provider provider;
    provider.id = id;
    provider.runtime = lab::Runtime::kPython;
    provider.modules = modules;
    const auto& environment = (*probe)(provider, "cpu");
    if (environment.missing) throw EnvironmentError(environment.missing->message);
    return environment.interpreter;
  };
  return found;
}

lab::RequestedFile requested(const cases::own::OwnCase& own) {
  lab::RequestedFile file{std::string(own.definition->name()), own.path, {}};
  for (const auto& [of, sha256] : own.files) file.sha256[of] = sha256;
  return file;
}

void check_unchanged(const lab::RequestedFile& now, const lab::RequestedFile& before) {
  const auto refuse = [](const std::string& path) {
    fail("the run was begun with another content of this file (begin a new run): '{}'", path);
  };
  for (const auto& [path, sha256] : before.sha256) {
    const auto same = now.sha256.find(path);
    if (same == now.sha256.end() || same->second != sha256) refuse(path);
  }
  if (now.case_name != before.case_name || now.sha256.size() != before.sha256.size()) {
    refuse(before.path);
  }
}

// "inputs/0/low is -1.0 and -2.0"
std::string first_difference(const Json& a, const Json& b) {
  const auto patch = Json::diff(a, b);
  const auto path = patch.at(0).at("path").get<std::string>();
  const Json::json_pointer at(path);
  const auto value = [&](const Json& of) {
    return of.contains(at) ? canonical_json(of.at(at)).substr(0, 80) : std::string("missing");
  };
  return fmt::format("{} is {} and {}", path.substr(1), value(a), value(b));
}

// The first value in which two answers to the same inputs differ by more than the tolerance.
std::optional<std::string> disagreement(const std::vector<lab::Expectation>& one,
                                        const std::vector<lab::Expectation>& other) {
  check(one.size() == other.size(), "the same problem has the same outputs");
  for (std::size_t i = 0; i < one.size(); ++i) {
    const auto &a = one[i], &b = other[i];
    check(a.values.size() == b.values.size(), "the same problem has outputs of the same form");
    for (std::size_t j = 0; j < a.values.size(); ++j) {
      const double allowed = a.atol + a.rtol * std::abs(a.values[j]);
      const bool both_nan = std::isnan(a.values[j]) && std::isnan(b.values[j]);
      if (both_nan || a.values[j] == b.values[j]) continue;
      if (!(std::abs(a.values[j] - b.values[j]) <= allowed)) {
        return fmt::format("a value of output '{}' is {} and {}", a.output, a.values[j],
                           b.values[j]);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

const OwnCases::Known& OwnCases::known(const std::string& case_name) const {
  const auto found = std::ranges::find_if(
      known_, [&](const Known& one) { return one.file.case_name == case_name; });
  check(found != known_.end(), "a side is one of a case that was added");
  return *found;
}

const lab::RequestedFile& OwnCases::add(const std::string& path) {
  const auto absolute = std::filesystem::absolute(path).lexically_normal().string();
  for (const auto& one : known_) {
    if (one.file.path == absolute) return one.file;
  }
  auto own = cases::own::read_own_case(path, oracle_programs());
  const std::string name(own.definition->name());
  for (const auto& other : cases_.all()) {
    if (other->name() == name)
      fail("{}: case: there is another case of that name: '{}'", path, name);
  }
  auto file = requested(own);
  cases_.add(std::move(own.definition));
  return known_.emplace_back(Known{std::move(file), std::move(own.problem), own.judged_by_code})
      .file;
}

lab::RequestedFile OwnCases::add_side(const std::string& label, const std::string& case_name,
                                      const std::string& path) {
  auto own = cases::own::read_own_case(path, oracle_programs());
  const auto& itself = known(case_name);
  if (own.definition->name() != case_name) {
    fail("{}: case: another case than that of '{}': '{}'", path, itself.file.path,
         own.definition->name());
  }
  if (own.problem != itself.problem) {
    fail("not the same problem, so nothing can be compared: {} ('{}' and '{}')",
         first_difference(itself.problem, own.problem), itself.file.path, own.path);
  }
  auto file = requested(own);
  cases_.add_side(label, std::move(own.definition));
  return file;
}

void OwnCases::check_oracle_of_side(const std::string& label, const std::string& case_name,
                                    const lab::RunRequest& request) const {
  if (!known(case_name).judged_by_code) return;
  const auto& itself = cases_.find(case_name);
  const auto& on_side = *cases_.of_side(label, case_name);
  for (const auto& point : lab::selected_points(itself, request)) {
    const auto differs = disagreement(itself.expect(point, lab::kJudgedSet, 0),
                                      on_side.expect(point, lab::kJudgedSet, 0));
    if (differs) {
      fail("the oracles of the two sides disagree at {}: {}: say which is right",
           lab::point_label(point), *differs);
    }
  }
}

std::vector<std::string> OwnCases::names(const std::vector<std::string>& typed) {
  std::vector<std::string> names;
  for (const auto& word : typed) {
    names.push_back(cases::own::is_case_file(word) ? add(word).case_name : word);
  }
  return names;
}

std::vector<lab::RequestedFile> OwnCases::files_of(const std::vector<std::string>& names) const {
  std::vector<lab::RequestedFile> files;
  for (const auto& one : known_) {
    if (std::ranges::find(names, one.file.case_name) != names.end()) files.push_back(one.file);
  }
  return files;
}

void OwnCases::add_again(const lab::RunRequest& request) {
  for (const auto& before : request.case_files) check_unchanged(add(before.path), before);
  for (const auto& side : request.sides) {
    if (!side.case_file) continue;
    const auto& file = *side.case_file;
    const bool is_case = known(file.case_name).file.path == file.path;
    check_unchanged(is_case ? add(file.path) : add_side(side.label, file.case_name, file.path),
                    file);
  }
}

}  // namespace assay::cli
