// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where an attempt was made, and in which order.

#include <compare>
#include <string>

#include "base/json.h"
#include "lab/record/row.h"

namespace assay::lab {

// What two attempts must share for one to be a measure of the other: everything but the provider.
// Isolated attempts are never compared with others, nor those of one machine with another's.
struct Place {
  std::string suite, case_name;
  Json point;
  std::string platform;
  std::string fingerprint;  // of the machine
  int cores = 0;
  std::string isolation;  // "process", "in-process", or empty: not known
  // Of a case in a file, what it defines (provenance.identity): the file may say something else
  // under the same name tomorrow. Also that a device's cache was swept between calls. Empty for
  // cases that are built in.
  std::string problem = {};

  // By value, so that n = 64 comes before n = 512.
  std::weak_ordering operator<=>(const Place& other) const;
  bool operator==(const Place& other) const { return (*this <=> other) == 0; }
};

Place place_of(const Row& row);

// The physical GPU of a row of platform `cuda`, by its UUID; empty where the row does not know it,
// and on other platforms. Machines of one kind share a fingerprint, their GPUs no UUID.
std::string device_of(const Row& row);

// A provider at a place: the attempts that share both are repetitions of each other.
struct SeriesId : Place {
  std::string provider;  // empty where providers are what is compared

  std::weak_ordering operator<=>(const SeriesId& other) const;
  bool operator==(const SeriesId& other) const { return (*this <=> other) == 0; }
  Json to_json() const;
};

SeriesId series_of(const Row& row);

// Lexical order of runs is time order; within a run, `order` is.
bool made_before(const Row& a, const Row& b);

}  // namespace assay::lab
