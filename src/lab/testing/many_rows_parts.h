// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the rows of many_rows() are made of.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/philox.h"
#include "lab/record/row.h"

namespace assay::lab::testing_rows {

struct ExampleCase {
  const char* suite;
  const char* name;
  const char* baseline;
  std::vector<const char*> providers;  // the baseline among them
  std::vector<Json> points;
  double power;  // how work grows with n
};

// Random numbers in the order they are asked for.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : stream_(seed) {}
  double unit() { return unit_interval(stream_[next_++]); }
  // Roughly normal: the sum of six uniform ones, of variance 1/2 together, scaled to 1.
  double normal() {
    double sum = -3;
    for (int i = 0; i < 6; ++i) sum += unit();
    return sum * std::sqrt(2.0);
  }

 private:
  Philox stream_;
  std::uint64_t next_ = 0;
};

// What a run has in common.
struct ExampleRun {
  int index = 0;
  int machine = 0;
  std::string commit, id;
  double factor = 1;  // how much slower everything was that day
};

// An attempt of the p-th provider of a case.
struct ExampleAttempt {
  const ExampleCase& of;
  std::size_t p;
  const Json& point;
  int round, order;
  double seconds;
};

// The machine by its number: facts that go into a row.
Json machine_of(int which);
// Metrics, samples, fidelity and work of a measured attempt whose status is set.
void add_measurements(Row& row, const ExampleAttempt& a, Draws& draws);
Json provenance_of(const ExampleRun& run, const ExampleAttempt& a, const std::string& provider,
                   Draws& draws);

}  // namespace assay::lab::testing_rows
