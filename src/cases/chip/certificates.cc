// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/chip/certificates.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "cases/chip/oracle/collective_times.h"
#include "cases/chip/oracle/op_laws.h"
#include "cases/chip/point.h"
#include "lab/record/point.h"
#include "tensor/safetensors.h"

namespace assay::cases::chip {
namespace {

using lab::Certificate;

// All elements of a tensor that an attempt left. Throws UserError if it is not there or another.
template <typename T>
std::vector<T> elements(const SafetensorsFile& file, const char* name) {
  const auto& view = file.view(name);
  if (view.dtype() != kDTypeOf<T>) fail("'{}' has another type than its judge expects", name);
  const Tensor copy = Tensor::copy(view);
  const auto all = copy.as<T>();
  return {all.begin(), all.end()};
}

double number(const SafetensorsFile& file, const char* name) {
  const auto all = elements<double>(file, name);
  if (all.size() != 1) fail("'{}' has {} values instead of one", name, all.size());
  return all.front();
}

// A time that the oracle knows: equal to within `rtol`, which is the rounding of seconds as doubles
// where the oracle counts picoseconds.
std::string not_equal(const char* what, double is, double must, double rtol = 1e-12) {
  if (std::abs(is - must) <= rtol * must) return {};
  return fmt::format("{} is {} s instead of {} s", what, is, must);
}
double seconds_of(Ps time) { return 1e-12 * static_cast<double>(time); }

// Of an all-reduce that takes `time`.
std::map<std::string, double> all_reduce_metrics(double bytes, double ranks, double time) {
  const double algbw = bytes / time;
  return {{"simulated_time", time}, {"algbw", algbw}, {"busbw", algbw * 2 * (ranks - 1) / ranks}};
}

// Of a product whose books follow from its log.
std::map<std::string, double> product_metrics(const ProductBooks& books) {
  std::map<std::string, double> metrics = {
      {"simulated_time", books.simulated_s},
      {"composite_time", books.composite_s},
      {"mac_utilisation", books.mac_utilisation},
      {"useful_efficiency", books.useful_efficiency},
      {"padded_utilisation", books.mac_utilisation - books.useful_efficiency}};
  for (std::size_t stage = 0; stage < std::size(kStageNames); ++stage) {
    const auto* const share = books.shares.data() + 3 * stage;
    if (share[0] + share[1] + share[2] == 0) continue;  // nothing is streamed
    const std::string name = kStageNames[stage];
    metrics[name + "_busy"] = share[0];
    metrics[name + "_blocked"] = share[1];
    metrics[name + "_starved"] = share[2];
  }
  constexpr const char* kUses[] = {"hbm_read_use", "hbm_write_use", "channel_use", "link_use",
                                   "sram_use"};
  for (std::size_t i = 0; i < std::size(kUses); ++i) metrics[kUses[i]] = books.use[i];
  return metrics;
}

ChipNumbers chip_at(const Json& point) {
  auto chip = read_chip_numbers(assay::chip::default_topology_text());
  if (point.contains("pes")) {
    chip.rows = chip.columns =
        std::llround(std::sqrt(static_cast<double>(lab::point_int(point, "pes"))));
  }
  if (point.contains("depth")) chip.buffers = lab::point_int(point, "depth");
  return chip;
}

Certificate simulated_product(const ChipNumbers& chip, const TiledProduct& product,
                              const SafetensorsFile& file) {
  const auto ops = ops_of(elements<std::int64_t>(file, "ops"));
  const auto books = elements<double>(file, "books");
  if (books.size() != 21) fail("'books' has {} values instead of 21", books.size());
  Certificate certificate;
  certificate.checked = std::ssize(ops);
  const ProductBooks said{books[0],
                          books[1],
                          books[2],
                          books[3],
                          {books.begin() + 4, books.begin() + 16},
                          {books.begin() + 16, books.end()}};
  certificate.wrong = broken_law(chip, product, ops, said);
  certificate.metrics = product_metrics(said);
  certificate.oracle = "laws of the log: plan, engines, reads, writes, books";
  if (chip.elements() > 1) return certificate;
  const auto time = product_time(chip, product);
  certificate.oracle = "max-plus recurrence, to the picosecond; " + certificate.oracle;
  if (certificate.wrong.empty()) {
    certificate.wrong = not_equal("simulated_time", books[0], seconds_of(time.load + time.window));
  }
  if (certificate.wrong.empty()) {
    certificate.wrong = not_equal("composite_time", books[1], seconds_of(time.window));
  }
  return certificate;
}

}  // namespace

std::optional<Certificate> certify_product(const Json& point, std::string_view provider,
                                           const std::string& path) {
  const auto chip = chip_at(point);
  if (!chip.ideal) return std::nullopt;
  const TiledProduct product(lab::point_int(point, "m"), lab::point_int(point, "k"),
                             lab::point_int(point, "n"), lab::point_word(point, "variant"));
  const SafetensorsFile file(path);
  if (provider == "simulated") return simulated_product(chip, product, file);
  const double time = number(file, "simulated_time");
  if (provider == "roofline") {
    return Certificate{"the larger of operations and bytes over their rates, counted by tiles",
                       1,
                       not_equal("simulated_time", time, roofline_seconds(chip, product), 1e-9),
                       {{"simulated_time", time}}};
  }
  if (provider == "systolic") {
    return Certificate{"cycles of the array, fold by fold",
                       1,
                       not_equal("simulated_time", time, seconds_of(systolic_time(chip, product))),
                       {{"simulated_time", time}}};
  }
  const auto must = product_time(chip, product);
  return Certificate{chip.elements() == 1
                         ? "max-plus recurrence, to the picosecond"
                         : "max-plus recurrence of the element with most steps; memory's own time",
                     1,
                     not_equal("simulated_time", time, seconds_of(must.load + must.window)),
                     {{"simulated_time", time}, {"composite_time", seconds_of(must.window)}}};
}

std::optional<Certificate> certify_all_reduce(const Json& point, int set, std::string_view provider,
                                              const std::string& path) {
  const auto chip = read_chip_numbers(assay::chip::default_topology_text());
  const ChipNetwork network(lab::point_word(point, "network"), lab::point_int(point, "ranks"));
  const auto algorithm = lab::point_word(point, "algorithm");
  const AllReduceProblem problem{.algorithm = algorithm,
                                 .bytes = lab::point_int(point, "bytes"),
                                 .seed = data_seed(point, set)};
  if (chip.adding_takes_time || problem.bytes % problem.element_bytes != 0) return std::nullopt;
  const SafetensorsFile file(path);
  const auto exact = exact_time(chip, network, problem);
  const double time = number(file, "simulated_time");
  const auto metrics =
      all_reduce_metrics(static_cast<double>(problem.bytes),
                         static_cast<double>(lab::point_int(point, "ranks")), time);
  if (provider == "bound") {
    return Certificate{
        "what a rank must send over what it can, and the farthest two ranks", 1,
        not_equal("simulated_time", time, least_seconds(chip, network, problem), 1e-6), metrics};
  }
  if (provider == "alpha_beta") {
    if (!exact) return std::nullopt;
    // The cost leaves out the endpoint before the first message.
    return Certificate{"exact time without contention", 1,
                       not_equal("simulated_time", time, seconds_of(*exact - chip.endpoint), 1e-6),
                       metrics};
  }
  if (provider != "simulated") return std::nullopt;
  auto log = log_of(elements<std::int64_t>(file, "messages"),
                    elements<std::int64_t>(file, "starts"), elements<std::int64_t>(file, "ranges"));
  log.cells = elements<std::int64_t>(file, "cells");
  log.results = elements<double>(file, "results");
  log.simulated_s = time;
  log.link_use = number(file, "link_use");
  Certificate certificate{"laws of the log: links, ranks, data, values, volume",
                          std::ssize(log.messages), broken_law(chip, network, problem, log),
                          metrics};
  certificate.metrics["link_use"] = log.link_use;
  if (exact) {
    certificate.oracle = "exact time without contention; " + certificate.oracle;
    if (certificate.wrong.empty()) {
      certificate.wrong = not_equal("simulated_time", time, seconds_of(*exact));
    }
  }
  return certificate;
}

}  // namespace assay::cases::chip
