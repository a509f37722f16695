// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/kernel/op_log.h"

#include <fmt/format.h>

#include <iterator>

#include "base/error.h"
#include "base/names.h"

namespace assay::chip {

constexpr auto kStageNames = make_names<Stage>({{Stage::kDmaIn, "dma_in"},
                                                {Stage::kFetch, "fetch"},
                                                {Stage::kGemm, "gemm"},
                                                {Stage::kDmaOut, "dma_out"}});

std::string_view name_of(Stage stage) { return kStageNames[stage]; }

constexpr auto kEngineNames = make_names<Stage>({{Stage::kDmaIn, "dma_read"},
                                                 {Stage::kFetch, "fetch"},
                                                 {Stage::kGemm, "mac"},
                                                 {Stage::kDmaOut, "dma_write"}});

std::string_view engine_of(Stage stage) { return kEngineNames[stage]; }

OpId OpLog::add(OpRecord op) {
  check(op.t_request <= op.t_ready && op.t_ready <= op.t_grant && op.t_grant <= op.t_end,
        "an operation is requested, has its buffer, is granted and ends in this order");
  op.id = static_cast<OpId>(ops.size());
  ops.push_back(op);
  return op.id;
}

std::string to_csv(const OpLog& log) {
  std::string out =
      "id,pe,engine,slot,stage,tile,t_request_ps,t_ready_ps,t_grant_ps,t_end_ps,bytes,macs,useful_"
      "macs,"
      "dependencies\n";
  for (const auto& op : log.ops) {
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{},{},{},{},{},", op.id, op.pe,
                   engine_of(op.stage), op.slot, name_of(op.stage), op.tile, op.t_request,
                   op.t_ready, op.t_grant, op.t_end, op.bytes, op.macs, op.useful_macs);
    bool first = true;
    for (const OpId id : op.dependencies) {
      if (id == kNoOp) continue;
      fmt::format_to(std::back_inserter(out), "{}{}", first ? "" : " ", id);
      first = false;
    }
    out += '\n';
  }
  return out;
}

}  // namespace assay::chip
