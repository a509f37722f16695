// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/chip/log_tensors.h"

#include <algorithm>

#include "cases/chip/oracle/message_laws.h"
#include "cases/chip/oracle/op_laws.h"

namespace assay::cases::chip {
namespace {

namespace ch = assay::chip;

Tensor table(const std::vector<std::int64_t>& values, std::int64_t columns) {
  Tensor tensor(DType::kI64, Shape({std::ssize(values) / columns, columns}));
  std::ranges::copy(values, tensor.as<std::int64_t>().begin());
  return tensor;
}

}  // namespace

Tensor numbers(const std::vector<double>& values) {
  Tensor tensor(DType::kF64, Shape({std::ssize(values)}));
  std::ranges::copy(values, tensor.as<double>().begin());
  return tensor;
}

Tensor scalar(double value) { return numbers({value}); }

void add_op_log(const ch::OpLog& log, Tensors& out) {
  std::vector<std::int64_t> lines;
  for (const auto& op : log.ops) {
    lines.insert(lines.end(),
                 {op.pe, op.slot, static_cast<std::int64_t>(op.stage), op.tile, op.t_request,
                  op.t_grant, op.t_end, op.bytes, op.macs, op.useful_macs});
  }
  out.emplace("ops", table(lines, kOpColumns));
}

void add_message_log(const ch::CollectiveResult& result, Tensors& out) {
  std::vector<std::int64_t> messages, starts, ranges;
  for (std::int64_t id = 0; const auto& m : result.messages) {
    messages.insert(messages.end(),
                    {m.from, m.to, m.bytes, m.adds ? 1 : 0, m.t_sent, m.t_arrived, m.t_taken});
    for (const auto start : m.starts) starts.insert(starts.end(), {id, start});
    for (const auto range : m.ranges) ranges.insert(ranges.end(), {id, range.begin, range.end});
    ++id;
  }
  out.emplace("messages", table(messages, kMessageColumns));
  out.emplace("starts", table(starts, 2));
  out.emplace("ranges", table(ranges, 3));
  out.emplace("cells", table(result.cells, 1));
  std::vector<double> sums;
  for (const auto& of_rank : result.results)
    sums.insert(sums.end(), of_rank.begin(), of_rank.end());
  out.emplace("results", numbers(sums));
}

}  // namespace assay::cases::chip
