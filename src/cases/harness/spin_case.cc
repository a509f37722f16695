// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/error.h"
#include "cases/harness/cases.h"

namespace assay::cases::harness {
namespace {

using lab::Expectation;
using lab::Provider;

// y = 2x on eight numbers, after spinning on the clock for a drawn time. The answer is there so
// that the judge has one; the time is the point.
class SpinCase : public lab::Case {
 public:
  std::string_view suite() const override { return kSuite; }
  std::string_view name() const override { return "harness_spin"; }
  std::string_view description() const override {
    return "takes a time drawn from a known distribution: checks the laboratory, not a program";
  }
  const lab::PointSchema& schema() const override {
    static const lab::PointSchema kSchema(
        {{"mean_us", "mean time of a call, microseconds", 1, 1'000'000, {}, ""},
         {"process_bp", "spread between processes, 0.01 %", 0, 2000, {}, ""},
         {"call_bp", "spread between calls of one process, 0.01 %", 0, 2000, {}, ""},
         {"spikes_bp", "calls that take three times as long, 0.01 %", 0, 10'000, {}, ""},
         {"slower_bp", "how much slower spin-slower is, 0.01 %", 0, 100'000, {}, ""},
         {"dtype", "element type", 0, 0, {"f64"}, ""},
         {"seed", "of the times and the inputs", 0, 1 << 30, {}, ""}});
    return kSchema;
  }
  static Json point(int slower_bp) {
    return {{"mean_us", 2000},        {"process_bp", 100}, {"call_bp", 100}, {"spikes_bp", 200},
            {"slower_bp", slower_bp}, {"dtype", "f64"},    {"seed", 0}};
  }
  std::vector<Json> representative_points() const override { return {point(0)}; }
  std::vector<Json> standard_points() const override {
    return {point(0), point(250), point(500), point(1000)};
  }
  std::vector<Provider> providers() const override {
    return {{.id = "spin", .description = "spins for the drawn time"},
            {.id = "spin-slower", .description = "spins longer by slower_bp of it"}};
  }
  std::string_view baseline() const override { return "spin"; }
  std::optional<lab::Skip> why_not(const Json&, std::string_view, std::string_view) const override {
    return std::nullopt;
  }
  std::uint64_t memory_estimate(const Json&, std::string_view) const override { return 64 << 20; }
  std::map<std::string, double> work(const Json&) const override { return {}; }
  std::vector<Expectation> expect(const Json& point, int set,
                                  std::int64_t /*draw*/) const override {
    Expectation e;
    e.output = "y";
    e.dtype = "f64";
    e.shape = {8};
    e.atol = 1e-300;  // doubling is exact
    e.oracle = "2 x, exact";
    const auto stream = lab::input_stream(lab::point_int(point, "seed"), "x", set);
    for (int i = 0; i < 8; ++i) {
      e.rows.push_back(i);
      e.values.push_back(2 * unit_interval(stream[static_cast<std::uint64_t>(i)]));
    }
    return {e};
  }
};

}  // namespace

void add_cases(lab::CaseRegistry& cases) { cases.add(std::make_unique<SpinCase>()); }

}  // namespace assay::cases::harness
