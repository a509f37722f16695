// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "compiler/cuda/source/attention_code.h"
#include "compiler/cuda/source/attention_text.h"
#include "compiler/cuda/source/device_text.h"

namespace assay::compiler::cuda {
namespace {

// Queries of one head of keys that a block of few takes; those are more parts for more blocks.
constexpr std::int64_t kMostFewRows = 8;
constexpr std::int64_t kLeastKeysOfPart = 64;

// What both forms here ask for: 16-bit heads by rows, whose loads of sixteen bytes fit, and heads
// of queries that share one of keys side by side (leading axes with stride 0 in k and v).
struct Heads {
  std::int64_t width = 0, columns = 0, group = 1;
  std::size_t shared_axes = 0;  // last of the leading ones
  bool is_bf16 = true;
};

std::optional<Heads> heads_of(const Kernel& kernel) {
  const auto& work = std::get<Attention>(kernel.work);
  const auto dtype = kernel.operands[work.q.operand].dtype;
  const auto rank = work.q.view.rank();
  if (size_of(dtype) != 2 || !is_floating(dtype) || work.mask) return std::nullopt;
  // What is greatest stays so when it is scaled.
  if (!(work.scale > 0)) return std::nullopt;
  for (const auto* access : {&work.k, &work.v}) {
    if (kernel.operands[access->operand].dtype != dtype) return std::nullopt;
  }
  for (const auto* access : {&work.q, &work.k, &work.v}) {
    const auto& view = access->view;
    if (!view.strides[rank - 1].is(1)) return std::nullopt;
  }
  Heads heads;
  heads.is_bf16 = dtype == DType::kBF16;
  const auto width = work.q.view.shape.back().constant(),
             columns = work.v.view.shape.back().constant();
  if (!width || !columns || *width != *columns) return std::nullopt;
  if (*width % 16 != 0 || *width > 256 || 256 % *width != 0) return std::nullopt;
  heads.width = *width;
  heads.columns = *columns;
  for (std::size_t axis = rank - 2; axis-- > 0;) {
    const auto extent = work.q.view.shape[axis].constant();
    const bool is_shared = work.k.view.strides[axis].is(0) && work.v.view.strides[axis].is(0);
    if (!extent || !is_shared || heads.group * *extent > kMostFewRows) break;
    heads.group *= *extent;
    ++heads.shared_axes;
  }
  return heads;
}

class AttentionForm {
 public:
  AttentionForm(const Kernel& kernel, const SourceOptions& options, const Heads& heads)
      : maker_(kernel, options),
        work_(std::get<Attention>(kernel.work)),
        code_(maker_, work_),
        heads_(heads) {
    const auto& shape = work_.q.view.shape;
    const auto outer = shape.size() - 2 - heads.shared_axes;
    outer_.assign(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(outer));
    shared_.assign(shape.begin() + static_cast<std::ptrdiff_t>(outer), shape.end() - 2);
    queries_ = shape[shape.size() - 2];
    keys_ = work_.k.view.shape[work_.k.view.rank() - 2];
  }

  KernelSource make() && {
    for (const auto text : {attention_text(), tile_loads_text(), attention_tiles_text()})
      maker_.text(text);
    const auto few = few_entry(), many = many_entry();
    const auto all_heads = product(outer_);
    return std::move(maker_).finish(
        [=, heads = heads_, queries = queries_, keys = keys_,
         options = maker_.options()](const Bindings& symbols) {
          LaunchPlan plan;
          const auto rows = queries.at(symbols) * heads.group, outer = all_heads.at(symbols);
          if (rows == 0 || outer == 0) return plan;
          if (rows > kMostFewRows) {
            const auto warps = many_warps(heads.width);
            const auto tiles = (queries.at(symbols) + warps * 16 - 1) / (warps * 16);
            plan.launches = {{many,
                              {static_cast<std::uint32_t>(tiles * outer * heads.group), 1, 1},
                              static_cast<std::uint32_t>(warps * 32)}};
            return plan;
          }
          // Parts for a device that is busy twice over, but none of too few keys; a power of two
          // of keys, so that a graph serves until they are twice as many.
          const auto most = power_above(keys.at(symbols)) / kLeastKeysOfPart;
          const auto wanted =
              power_above(2 * options.multiprocessors / std::max<std::int64_t>(outer, 1));
          const auto parts = outer > kCounters
                                 ? 1
                                 : std::clamp<std::int64_t>(
                                       wanted, 1, std::clamp<std::int64_t>(most, 1, kMostParts));
          if (parts > 1) plan.scratch_bytes = outer * parts * rows * (heads.columns + 2) * 4;
          plan.launches = {
              {few,
               {static_cast<std::uint32_t>(parts), static_cast<std::uint32_t>(outer), 1},
               kFewThreads}};
          return plan;
        },
        {queries_, keys_, all_heads});
  }

 private:
  // Indices of the leading axes by the numbers `outer` and `shared`.
  std::string leading() const {
    auto text = unflattened(maker_.names(), outer_, "outer", "x") +
                unflattened(maker_.names(), shared_, "shared", "z");
    for (std::size_t i = 0; i < outer_.size(); ++i)
      text += fmt::format("const i64 b{0} = x{0}; (void)b{0};\n", i);
    for (std::size_t i = 0; i < shared_.size(); ++i)
      text += fmt::format("const i64 b{0} = z{1}; (void)b{0};\n", i + outer_.size(), i);
    return text;
  }
  std::string step(const Access& access) const {
    return maker_.names().code(access.view.strides[access.view.rank() - 2]);
  }

  std::uint32_t few_entry();
  std::uint32_t many_entry();
  std::string many_stored() const;

  SourceMaker maker_;
  const Attention& work_;
  AttentionCode code_;
  Heads heads_;
  std::vector<Dim> outer_, shared_;
  Dim queries_, keys_;
};

// A block takes a part of the keys of one head, and all queries that see them; the last of a head's
// blocks makes their parts one.
std::uint32_t AttentionForm::few_entry() {
  const auto entry = maker_.begin_entry("few", kFewThreads);
  maker_.text("wait_for_others();\n" + code_.extents());
  // The least of these that has room for all rows.
  std::string sums;
  for (const int most : {1, 4, 8}) {
    if (most < heads_.group) continue;
    for (const bool is_aligned : {true, false}) {
      sums += fmt::format(
          "{}if (rows <= {} && is_aligned == {}) some_queries<{}, {}, {}>(memory, rows, query_of, "
          "seen_by, (float){}, from_k, {}, from_v, {}, first, last);\n",
          sums.empty() ? "" : "else ", most, is_aligned, heads_.width, most, is_aligned,
          code_.scale(), step(work_.k), step(work_.v));
    }
  }
  maker_.text(fmt::format(
      R"cuda(
  const i64 outer = blockIdx.y;
  const int parts = gridDim.x, part = blockIdx.x, count = (int)queries, rows = count * {group};
  const auto seen_by = [&](int row, int& from, int& to) {{
    const i64 i = (u32)row % (u32)count;
    i64 begin, end;
    {seen}
    from = (int)begin; to = (int)end;
  }};
  const auto query_of = [&](int row) {{
    const i64 shared = (u32)row / (u32)count, i = (u32)row % (u32)count;
    {leading}
    return o{q} + ({q_at});
  }};
  const auto keep = [&](int row, int column, const float total) {{
    const i64 shared = (u32)row / (u32)count, i = (u32)row % (u32)count, j = column;
    {leading}
    {stored}
  }};
  // Its share of all keys that any of the queries sees.
  int low = (int)keys, high = 0;
  for (int row = 0; row < count; ++row) {{
    int from, to;
    seen_by(row, from, to);
    low = from < low ? from : low; high = to > high ? to : high;
  }}
  const int each = high > low ? (int)((u32)(high - low + parts - 1) / (u32)parts) : 0;
  const int first = low + part * each, last = first + each < high ? first + each : high;
  __shared__ FewShared<{width}> memory;
  {{
    const i64 shared = 0;
    {leading}
    const auto *from_k = o{k} + ({k_at}), *from_v = o{v} + ({v_at});
    const bool is_aligned = (((u64)from_k | (u64)from_v | (u64)({k_step} * 2) | (u64)({v_step} * 2)) & 15) == 0;
    {sums}
  }}
  __syncthreads();
  float* to = (float*)scratch + outer * parts * rows * {wide_row};
  for (int at = threadIdx.x; at < rows * {width}; at += {threads}) {{
    const int row = at / {width}, column = at % {width};
    const FewSum all = few_sum<{width}>(memory, row, column);
    if (parts == 1) {{
      keep(row, column, all.sum / all.whole);
      continue;
    }}
    float* mine = to + (part * rows + row) * {wide_row};
    mine[column] = all.sum;
    if (column == 0) {{ mine[{width}] = all.best; mine[{width} + 1] = all.whole; }}
  }}
  if (parts == 1 || !is_last((int*)scratch - {counters} + outer, parts)) return;
  __shared__ float shares[{most_parts}][8];
  share_parts<{width}>(shares, to, parts, rows);
  __syncthreads();
  for (int at = threadIdx.x; at < rows * {width}; at += {threads}) {{
    const int row = at / {width}, column = at % {width};
    float sum = 0;
    _Pragma("unroll 8") for (int p = 0; p < parts; ++p)
      sum += fresh(to + (p * rows + row) * {wide_row} + column) * shares[p][row];
    keep(row, column, sum);
  }}
)cuda",
      fmt::arg("group", heads_.group), fmt::arg("seen", code_.seen("i")),
      fmt::arg("leading", leading()), fmt::arg("width", heads_.width),
      fmt::arg("threads", kFewThreads), fmt::arg("q", work_.q.operand),
      fmt::arg("q_at", code_.at(work_.q, "i", "0")), fmt::arg("k", work_.k.operand),
      fmt::arg("k_at", code_.at(work_.k, "0", "0")), fmt::arg("k_step", step(work_.k)),
      fmt::arg("v", work_.v.operand), fmt::arg("v_at", code_.at(work_.v, "0", "0")),
      fmt::arg("v_step", step(work_.v)), fmt::arg("sums", sums),
      fmt::arg("wide_row", heads_.columns + 2), fmt::arg("counters", kCounters),
      fmt::arg("most_parts", kMostParts), fmt::arg("stored", code_.stored("i", "j"))));
  maker_.end_entry();
  return entry;
}

// A block takes queries of one head, the last ones first: where later queries see more keys, the
// longest blocks do not end alone.
std::uint32_t AttentionForm::many_entry() {
  const auto warps = many_warps(heads_.width);
  const auto entry = maker_.begin_entry("many", warps * 32, 2);
  maker_.text("wait_for_others();\n" + code_.extents());
  maker_.text(fmt::format(
      R"cuda(
  const u32 heads = (u32)({outer_heads} * {group}), number = blockIdx.x % heads;
  const i64 outer = number / {group}, shared = number % {group};
  {leading}
  const i64 query0 = (i64)(gridDim.x / heads - 1 - blockIdx.x / heads) * {queries};
  const auto seen_by = [&](i64 i, int& from, int& to) {{
    i64 begin, end;
    {seen}
    from = (int)begin; to = (int)end;
  }};
  ManyResult<{width}> result;
  many_queries<{width}, {warps}, {bf16}>(result, o{q} + ({q_at}), {q_step}, query0, queries, {scale},
                                o{k} + ({k_at}), {k_step}, o{v} + ({v_at}), {v_step}, seen_by);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  {stored}
)cuda",
      fmt::arg("outer_heads", maker_.names().code(product(outer_))),
      fmt::arg("group", heads_.group), fmt::arg("leading", leading()),
      fmt::arg("queries", warps * 16), fmt::arg("warps", warps), fmt::arg("seen", code_.seen("i")),
      fmt::arg("width", heads_.width), fmt::arg("bf16", heads_.is_bf16),
      fmt::arg("q", work_.q.operand), fmt::arg("q_at", code_.at(work_.q, "0", "0")),
      fmt::arg("q_step", step(work_.q)), fmt::arg("scale", code_.scale_of_two()),
      fmt::arg("k", work_.k.operand), fmt::arg("k_at", code_.at(work_.k, "0", "0")),
      fmt::arg("k_step", step(work_.k)), fmt::arg("v", work_.v.operand),
      fmt::arg("v_at", code_.at(work_.v, "0", "0")), fmt::arg("v_step", step(work_.v)),
      fmt::arg("stored", many_stored())));
  maker_.end_entry();
  return entry;
}

// Results of many queries: by eight columns that lie side by side, or one by one.
std::string AttentionForm::many_stored() const {
  const auto& out = work_.out;
  const auto dtype = maker_.kernel().operands[out.operand].dtype;
  const bool is_plain = dtype == DType::kF32 || (is_floating(dtype) && size_of(dtype) == 2);
  if (heads_.width % 32 == 0 && is_plain && out.view.strides.back().is(1)) {
    return fmt::format(
        R"cuda(
  _Pragma("unroll") for (int h = 0; h < 2; ++h) {{
    const i64 i = query0 + warp * 16 + lane / 4 + 8 * h;
    const float inverse = 1.0f / result.whole[h];
    _Pragma("unroll") for (int c = 0; c < {width} / 8; c += 4) {{
      float some[4][2], eight[8];
      _Pragma("unroll") for (int e = 0; e < 8; ++e) some[e / 2][e % 2] = result.sums[c + e / 2][2 * h + e % 2] * inverse;
      gather_tile(eight, some);
      __align__(16) {type} narrow[8];
      _Pragma("unroll") for (int e = 0; e < 8; ++e) put(narrow[e], eight[e]);
      const i64 j = (c + lane % 4) * 8;
      if (i < queries) store<8>(o{out} + ({at}), narrow);
    }}
  }}
)cuda",
        fmt::arg("width", heads_.width), fmt::arg("type", storage_type(dtype)),
        fmt::arg("out", out.operand), fmt::arg("at", code_.at(out, "i", "j")));
  }
  return fmt::format(
      R"cuda(
  _Pragma("unroll") for (int c = 0; c < {width} / 8; ++c) {{
    _Pragma("unroll") for (int e = 0; e < 4; ++e) {{
      const i64 i = query0 + warp * 16 + lane / 4 + e / 2 * 8, j = c * 8 + lane % 4 * 2 + e % 2;
      if (i >= queries) continue;
      const float total = result.sums[c][e] / result.whole[e / 2];
      {stored}
    }}
  }}
)cuda",
      fmt::arg("width", heads_.width), fmt::arg("stored", code_.stored("i", "j")));
}

}  // namespace

std::optional<KernelSource> attention_source(const Kernel& kernel, const SourceOptions& options) {
  const auto heads = heads_of(kernel);
  if (!heads) return std::nullopt;
  return AttentionForm(kernel, options, *heads).make();
}

}  // namespace assay::compiler::cuda
