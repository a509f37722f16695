// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A computation with a defined answer, as the runner and the judge see it. Everything here happens
// in the parent; what happens inside an attempt is lab/measure/workload.h.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/philox.h"
#include "lab/record/ceilings.h"
#include "lab/record/figure_recipe.h"
#include "lab/record/metrics.h"
#include "lab/record/point.h"
#include "lab/record/provider.h"

namespace assay::lab {

// What one output of a call must be.
struct Expectation {
  std::string output;               // name of the tensor in the worker's output file
  std::string dtype;                // "f32", …
  std::vector<std::int64_t> shape;  // of the whole output
  // Indices along the first axis whose values are given, ascending; all of them when the whole
  // output is checked. `sample_seed` tells how they were drawn when not.
  std::vector<std::int64_t> rows;
  std::optional<std::int64_t> sample_seed;
  // Positions within a row, row-major over the other axes, whose values are given, ascending;
  // empty: all of them.
  std::vector<std::int64_t> columns = {};
  std::vector<double> values;  // row-major over (rows × columns), computed in fp64
  // The same of an integer output, where all its digits count: 64 bits have more than fp64. Values
  // of u64 by their bits. Empty: `values` are exact.
  std::vector<std::int64_t> integers = {};
  double rtol = 0, atol = 0;  // |out − ref| ≤ atol + rtol·|ref|
  // Above 0: so large may the root mean square of out − ref be, over all values that are given.
  // Many small errors, all of one sign or size, are no rounding.
  double rms = 0;
  // What the case's baseline computes there, in the form of `values`; empty: not compared.
  std::vector<double> baseline = {};
  std::string oracle;  // how the values were computed, one line
};

// What a case's own look at an output found.
struct Certificate {
  std::string oracle;        // what it was held against, one line
  std::int64_t checked = 0;  // values that were looked at
  std::string wrong;         // the first thing that is wrong, in words; empty: nothing is
  // Metrics that follow from what was looked at. A report that says otherwise is wrong: for results
  // that are numbers of a model, the metric is the answer.
  std::map<std::string, double> metrics;
};

// Why an attempt is not made, as a row's failure.
struct Skip {
  std::string code;  // "provider_not_applicable", "no_device", "over_memory_estimate", …
  std::string message;
};

class Case {
 public:
  virtual ~Case() = default;

  virtual std::string_view suite() const = 0;
  virtual std::string_view name() const = 0;
  virtual std::string_view description() const = 0;
  virtual const PointSchema& schema() const = 0;
  // The canonical point of an object with some of the parameters, the others from `defaults`; cases
  // whose parameters depend on each other check that here. Throws UserError.
  virtual Json complete_point(const Json& given, const Json& defaults) const {
    return schema().complete(given, defaults);
  }

  // The points of --quick, of a plain run, and of --points all; each complete and canonical.
  virtual std::vector<Json> representative_points() const = 0;
  virtual std::vector<Json> standard_points() const = 0;
  virtual std::vector<Json> all_points() const { return standard_points(); }

  virtual std::vector<Provider> providers() const = 0;
  virtual std::string_view baseline() const = 0;  // the provider that ratios refer to
  virtual const Metric& primary_metric() const { return metric("steady_time"); }

  // Why this provider cannot serve this point; nothing when it can.
  virtual std::optional<Skip> why_not(const Json& point, std::string_view provider,
                                      std::string_view platform) const = 0;
  // Upper estimate of a worker's memory in bytes; 0: unknown, never refused.
  virtual std::uint64_t memory_estimate(const Json& point, std::string_view provider) const = 0;
  // The cost model: "flops", "bytes", "pairs", …; an empty map where the case has none.
  virtual std::map<std::string, double> work(const Json& point) const = 0;

  // The least time on that many cores of a machine with these ceilings; nothing where the case has
  // no such limit, or the ceiling that it needs was not measured.
  virtual std::optional<Limit> limit(const Json& /*point*/, int /*cores*/,
                                     const Ceilings& /*ceilings*/) const {
    return std::nullopt;
  }

  // What the answers depend on beside the point (a machine description, a data file), in a form
  // that tells two such things apart; null: nothing. Rows keep it as provenance.identity, and rows
  // that differ in it are never drawn together.
  virtual Json identity() const { return nullptr; }
  // What a worker must be told of a case that is not built into it; null: it knows the case.
  virtual Json definition() const { return nullptr; }
  // What is worth drawing of this case's rows; empty: time, ratio and fraction of limit over size.
  virtual std::vector<FigureRecipe> figures() const { return {}; }

  // The right answer for input set `set` of this point, the same for every provider. An empty list:
  // there is none. Several may look at different parts of one output. Where all of it would take
  // too long, `draw` chooses the rows (sample_rows()): each run has its own, so that no part of an
  // answer goes unseen for good. May take seconds; the runner calls it outside all measurements and
  // remembers the result.
  virtual std::vector<Expectation> expect(const Json& point, int set, std::int64_t draw) const = 0;
  // Holds an attempt's output file against laws that every right output keeps, where its values
  // depend on the provider or cannot be written down beforehand. Beside expect(); nothing: there is
  // no such law for this provider. Throws UserError when the file cannot be read.
  virtual std::optional<Certificate> certify(const Json& /*point*/, int /*set*/,
                                             std::string_view /*provider*/,
                                             const std::string& /*output_file*/) const {
    return std::nullopt;
  }
};

// The cases a program knows, in the order they are listed.
class CaseRegistry {
 public:
  void add(std::unique_ptr<Case> c);
  // Throws UserError that lists the names.
  const Case& find(std::string_view name) const;
  const std::vector<std::unique_ptr<Case>>& all() const { return cases_; }

  // One of these cases as another side of a comparison has it (RunSide::case_file): its providers,
  // and what their workers are told. Points and right answers stay those of the case itself.
  void add_side(std::string label, std::unique_ptr<Case> c);
  // Null: that side has nothing of its own.
  const Case* of_side(std::string_view label, std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::unique_ptr<Case>>> sides_;
  std::vector<std::unique_ptr<Case>> cases_;
};

// Input sets: two rotate through the timed calls, a third, never seen before, is written into the
// same buffers for the call that is judged. A cached answer is therefore a wrong one.
inline constexpr int kRotatingSets = 2;
inline constexpr int kJudgedSet = 2;

// The random stream of one named input (at most seven characters) of one set.
Philox input_stream(std::int64_t seed, std::string_view input, int set);

}  // namespace assay::lab
