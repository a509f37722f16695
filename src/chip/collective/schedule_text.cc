// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/collective/schedule_text.h"

#include <fmt/format.h>

namespace assay::chip {

std::string schedule_text(const Schedule& schedule) {
  std::string out = fmt::format("schedule {} {}\n", schedule.ranks, schedule.extent);
  const auto ranges = [&](const Transfer& t) {
    out += fmt::format(" {}", t.ranges);
    for (const Range& r : schedule.ranges_of(t)) out += fmt::format(" {} {}", r.begin, r.end);
    out += '\n';
  };
  for (const Program& program : schedule.programs) {
    out += fmt::format("program {} {}\n", program.rank, program.stages.size());
    for (const StagePlan& stage : program.stages) {
      out += fmt::format("stage {} {}\n", stage.sends.size(), stage.receives.size());
      for (const Transfer& t : stage.sends) {
        out += fmt::format("send {} {}", t.peer, t.channel);
        ranges(t);
      }
      for (const Transfer& t : stage.receives) {
        out += fmt::format("receive {} {} {}", t.peer, t.channel, t.adds ? 1 : 0);
        ranges(t);
      }
    }
  }
  return out;
}

}  // namespace assay::chip
