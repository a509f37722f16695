// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/rounds_note.h"

#include <fmt/format.h>

#include "base/machine.h"
#include "base/text.h"
#include "lab/record/calibration.h"
#include "lab/stats/detectable.h"
#include "lab/stats/sign_interval.h"

namespace assay::cli {

std::string what_rounds_can_show(int rounds) {
  const int least = lab::minimum_rounds(0.95);
  if (rounds < least) {
    return fmt::format(
        "note: {} can show no difference, however large: at least {} are needed (--rounds {})",
        plural(rounds, "round"), least, least);
  }
  const auto kept = lab::load_calibration(read_machine().fingerprint());
  if (kept && kept->sigma_d > 0) {
    return fmt::format(
        "note: {} show differences of about {:.2g} % and more here (calibrated: rounds scatter by "
        "{:.2g} %)",
        plural(rounds, "round"), 100 * lab::minimum_detectable_effect(kept->sigma_d, rounds),
        100 * kept->sigma_d);
  }
  // In units of the scatter, which is not known: for a small one the effect is proportional to it.
  const double times = lab::minimum_detectable_effect(1e-3, rounds) / 1e-3;
  return fmt::format(
      "note: {} show differences of about {:.1f} times their scatter; how large that is here is "
      "not known (assay calibrate)",
      plural(rounds, "round"), times);
}

}  // namespace assay::cli
