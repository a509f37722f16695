// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/own_cases.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "cases/own/own_case.h"
#include "cli/installation.h"
#include "lab/run/environment.h"

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

}  // namespace

const lab::RequestedFile& OwnCases::add(const std::string& path) {
  const auto absolute = std::filesystem::absolute(path).lexically_normal().string();
  const auto known = std::ranges::find(files_, absolute, &lab::RequestedFile::path);
  if (known != files_.end()) return *known;
  auto own = cases::own::read_own_case(path, oracle_programs());
  const std::string name(own.definition->name());
  for (const auto& other : cases_.all()) {
    if (other->name() == name)
      fail("{}: case: there is another case of that name: '{}'", path, name);
  }
  lab::RequestedFile file{name, own.path, {}};
  for (const auto& [of, sha256] : own.files) file.sha256[of] = sha256;
  cases_.add(std::move(own.definition));
  return files_.emplace_back(std::move(file));
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
  for (const auto& file : files_) {
    if (std::ranges::find(names, file.case_name) != names.end()) files.push_back(file);
  }
  return files;
}

void OwnCases::add_again(const lab::RunRequest& request) {
  for (const auto& before : request.case_files) {
    const auto& now = add(before.path);
    for (const auto& [path, sha256] : before.sha256) {
      const auto same = now.sha256.find(path);
      if (same == now.sha256.end() || same->second != sha256) {
        fail("the run was begun with another content of this file (begin a new run): '{}'", path);
      }
    }
    if (now.case_name != before.case_name || now.sha256.size() != before.sha256.size()) {
      fail("the run was begun with another content of this file (begin a new run): '{}'",
           before.path);
    }
  }
}

}  // namespace assay::cli
