// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/own_case.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "cases/own/command_workload.h"
#include "cases/own/tolerance.h"
#include "lab/record/sample_rows.h"
#include "tensor/safetensors.h"

namespace assay::cases::own {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 53;
constexpr std::uint64_t kOwnWorkerBytes = 128 << 20;  // a worker with NumPy before it has inputs
constexpr double kComparedElements = 1 << 24;         // of an output, where the file does not say
constexpr std::int64_t kFewestRows = 2;               // the first and the last

// The values that a parameter has in the file, at most a few of them.
std::string values_in_words(const CaseFile& file, const std::string& name) {
  constexpr std::size_t kShown = 6;
  std::vector<std::string> values;
  for (const auto& point : file.points) {
    const auto& value = point.at(name);
    auto text = value.is_string() ? value.get<std::string>() : canonical_json(value);
    if (std::ranges::find(values, text) == values.end()) values.push_back(std::move(text));
  }
  const bool more = values.size() > kShown;
  if (more) values.resize(kShown);
  return fmt::format("{}{}", fmt::join(values, ", "), more ? ", …" : "");
}

lab::PointSchema schema_of(const CaseFile& file) {
  std::vector<lab::Parameter> parameters;
  for (const auto& p : file.parameters) {
    const bool is_seed = p.name == "seed";
    lab::Parameter parameter;
    parameter.name = p.name;
    parameter.description =
        is_seed ? "of the inputs" : "in the file: " + values_in_words(file, p.name);
    parameter.min = is_seed ? 0 : -kLargest;
    parameter.max = is_seed ? (std::int64_t{1} << 31) - 1 : kLargest;
    parameter.choices = p.words;
    parameters.push_back(std::move(parameter));
  }
  return lab::PointSchema(std::move(parameters));
}

lab::Provider provider_of(const ProviderSpec& spec) {
  lab::Provider provider;
  provider.id = spec.id;
  provider.description = spec.description;
  provider.platforms = spec.platforms;
  provider.unequal_work = spec.unequal_work;
  switch (spec.kind) {
    case ProviderSpec::Kind::kPython:
      provider.runtime = lab::Runtime::kPython;
      provider.modules = spec.modules;
      if (spec.description.empty()) provider.description = "function " + spec.python.name;
      break;
    case ProviderSpec::Kind::kLibrary:
      provider.library = spec.library;
      if (spec.description.empty()) provider.description = "library " + spec.library;
      break;
    case ProviderSpec::Kind::kCommand:
      provider.program = program_of(spec);
      if (spec.description.empty()) {
        provider.description = (spec.run.shell.empty() ? "program " : "command ") +
                               spec.command[0].substr(0, 160) + ", whole processes";
      }
      break;
    case ProviderSpec::Kind::kBenchmark:
      provider.program = spec.command[0];
      provider.judged = false;
      if (spec.description.empty()) {
        provider.description = "Google Benchmark program " + spec.command[0] + ", by its own clock";
      }
      break;
  }
  return provider;
}

class CaseOfFile : public lab::Case {
 public:
  CaseOfFile(CaseFile file, const std::string& sha256, OraclePrograms programs)
      : file_(std::move(file)),
        schema_(schema_of(file_)),
        definition_(definition_json(file_, sha256)),
        identity_(Json{{"problem", problem_hash(file_)}}),
        programs_(std::move(programs)) {}

  std::string_view suite() const override { return file_.suite; }
  std::string_view name() const override { return file_.name; }
  std::string_view description() const override { return file_.description; }
  const lab::PointSchema& schema() const override { return schema_; }
  Json complete_point(const Json& given, const Json& defaults) const override {
    auto point = schema_.complete(given, defaults);
    check_point(file_, point);
    return point;
  }
  std::vector<Json> representative_points() const override { return file_.quick_points; }
  std::vector<Json> standard_points() const override { return file_.points; }

  std::vector<lab::Provider> providers() const override {
    std::vector<lab::Provider> providers;
    for (const auto& spec : file_.providers) providers.push_back(provider_of(spec));
    return providers;
  }
  std::string_view baseline() const override { return file_.baseline; }
  std::optional<lab::Skip> why_not(const Json&, std::string_view, std::string_view) const override {
    return std::nullopt;
  }
  // Two sets of inputs, the outputs, and what making, computing and writing them takes beside.
  std::uint64_t memory_estimate(const Json& point, std::string_view) const override {
    double bytes = 0;
    for (const auto& input : file_.problem.inputs) bytes += 3 * input.bytes_at(point);
    for (const auto& output : file_.problem.outputs) bytes += 2 * output.bytes_at(point);
    return kOwnWorkerBytes + static_cast<std::uint64_t>(std::min(bytes, 0x1p62));
  }
  std::map<std::string, double> work(const Json& point) const override {
    std::map<std::string, double> work;
    for (const auto& [name, amount] : file_.work) work[name] = amount.real(point);
    return work;
  }
  // A goal, not a bound: nobody has proved what the file says.
  std::optional<lab::Limit> limit(const Json& point, int cores,
                                  const lab::Ceilings& ceilings) const override {
    std::optional<lab::Limit> limit;
    for (const auto& [ceiling, amount] : file_.limits) {
      const auto rate = ceilings.rate(ceiling, cores);
      if (!rate) return std::nullopt;
      const double seconds = amount.real(point) / *rate;
      if (!limit || seconds > limit->seconds) limit = lab::Limit{seconds, ceiling, false};
    }
    return limit;
  }
  Json identity() const override { return identity_; }
  Json definition() const override { return definition_; }

  // What a command's check said of its last run.
  std::optional<lab::Certificate> certify(const Json&, int, std::string_view id,
                                          const std::string& output_file) const override {
    const auto& check = file_.provider(id).run.check;
    if (check.empty()) return std::nullopt;
    lab::Certificate certificate;
    certificate.oracle = "check " + check.substr(0, 200);
    certificate.checked = 1;
    const SafetensorsFile output(output_file);
    const auto& metadata = output.metadata();
    const auto said = metadata.find(kCheckSaid);
    if (said == metadata.end() || !output.contains(kCheckOutput)) {
      certificate.wrong = "the run was not checked";
    } else if (value_as_double(output.view(kCheckOutput), 0) != 0) {
      certificate.wrong = fmt::format("check '{}': {}", check.substr(0, 200), said->second);
    }
    return certificate;
  }

  std::vector<lab::Expectation> expect(const Json& point, int set,
                                       std::int64_t draw) const override {
    if (file_.oracle.kind == OracleSpec::Kind::kNone) return {};
    std::vector<lab::Expectation> all;
    std::map<std::string, std::vector<std::int64_t>> rows;
    for (const auto& output : file_.problem.outputs) {
      all.push_back(form_of(output, point, draw));
      rows[output.name] = all.back().rows;
    }
    auto values = oracle_values(file_, definition_, point, set, rows, programs_);
    for (auto& e : all) {
      e.values = std::move(values[e.output].values);
      e.integers = std::move(values[e.output].integers);
      const auto height = static_cast<std::int64_t>(e.rows.size());
      const std::int64_t width =
          Shape(e.shape).element_count() / (e.shape.empty() ? 1 : e.shape[0]);
      check(static_cast<std::int64_t>(e.values.size()) == height * width,
            "an oracle gives every value of the rows asked for");
      set_tolerance(point, e);
    }
    return all;
  }

 private:
  lab::Expectation form_of(const TensorSpec& output, const Json& point, std::int64_t draw) const {
    lab::Expectation e;
    e.output = output.name;
    e.dtype = assay::name_of(output.dtype_at(point));
    const auto shape = output.shape_at(point);
    e.shape.assign(shape.extents().begin(), shape.extents().end());
    const std::int64_t height = shape.rank() == 0 ? 1 : shape[0];
    const double width = static_cast<double>(shape.element_count() / height);
    const auto asked = file_.oracle.sample_rows;
    const auto sample =
        asked > 0 ? lab::sample_rows(height, 1, static_cast<double>(asked), kFewestRows, draw)
                  : lab::sample_rows(height, width, kComparedElements, kFewestRows, draw);
    e.rows = sample.rows;
    e.sample_seed = sample.seed;
    e.oracle = oracle_in_words();
    return e;
  }

  std::string oracle_in_words() const {
    const auto& oracle = file_.oracle;
    const auto base = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
    switch (oracle.kind) {
      case OracleSpec::Kind::kPython:
        return fmt::format("{}:{} in f64 and i64", base(oracle.python.file), oracle.python.name);
      case OracleSpec::Kind::kFile:
        return "file " + base(oracle.files.begin()->second);
      case OracleSpec::Kind::kProvider:
        return "provider " + oracle.provider;
      case OracleSpec::Kind::kNone:
        break;
    }
    return "none";
  }

  void set_tolerance(const Json& point, lab::Expectation& e) const {
    const auto& oracle = file_.oracle;
    if (oracle.rtol || oracle.atol) {
      e.rtol = oracle.rtol.value_or(0);
      e.atol = oracle.atol.value_or(0);
      return;
    }
    const std::int64_t length = oracle.reduction ? oracle.reduction->integer(point) : 1;
    const auto tolerance = derived_tolerance(dtype_from_name(e.dtype, e.output), length, e.values);
    e.rtol = tolerance.rtol;
    e.atol = tolerance.atol;
  }

  const CaseFile file_;
  const lab::PointSchema schema_;
  const Json definition_, identity_;
  const OraclePrograms programs_;
};

}  // namespace

OwnCase read_own_case(const std::string& path, OraclePrograms programs) {
  auto file = read_case_file(path);
  OwnCase own;
  own.path = file.path;
  own.files = named_files(file);
  const auto itself = std::ranges::find(own.files, file.path, &NamedFile::path);
  const auto sha256 = itself->sha256;
  own.problem = problem_json(file);
  own.judged_by_code = file.oracle.kind == OracleSpec::Kind::kPython;
  own.definition = std::make_unique<CaseOfFile>(std::move(file), sha256, std::move(programs));
  return own;
}

bool is_case_file(std::string_view word) {
  return word.find('/') != std::string_view::npos || word.ends_with(".toml");
}

}  // namespace assay::cases::own
