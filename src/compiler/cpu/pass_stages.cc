// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/pass_stages.h"

#include <cmath>

#include "compiler/graph/dtypes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compiler/cpu/pass_stages.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include "compiler/cpu/block-inl.h"
#include "compiler/cpu/lane_ops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::compiler {
namespace HWY_NAMESPACE {
namespace {

// Vectors by themselves, not an array of them: those travel in registers from call to call.
using Stage = void (*)(const PassStage*, std::byte* const*, std::int64_t, Lanes, Lanes, Lanes,
                       Lanes, Lanes, Lanes, Lanes, Lanes);

// The last thing that a stage does: the compiler makes a jump of it.
#define ASSAY_NEXT_STAGE(s, pointers, at, h)                                                      \
  return reinterpret_cast<Stage>((s)[1].run)((s) + 1, pointers, at, h.x0, h.x1, h.x2, h.x3, h.x4, \
                                             h.x5, h.x6, h.x7)

// F changes what is in hand.
template <class F>
void stage(const PassStage* s, std::byte* const* pointers, std::int64_t at, Lanes x0, Lanes x1,
           Lanes x2, Lanes x3, Lanes x4, Lanes x5, Lanes x6, Lanes x7) {
  Block h{x0, x1, x2, x3, x4, x5, x6, x7};
  F::change(*s, pointers, at, h);
  ASSAY_NEXT_STAGE(s, pointers, at, h);
}
template <class F>
StageFunction stage_of() {
  return reinterpret_cast<StageFunction>(&stage<F>);
}

void end_stage(const PassStage*, std::byte* const*, std::int64_t, Lanes, Lanes, Lanes, Lanes, Lanes,
               Lanes, Lanes, Lanes) {}

HWY_INLINE std::byte* address(const PassStage& s, std::byte* const* pointers, std::int64_t at,
                              int operand = 0) {
  return pointers[s.pointer[operand]] + at * s.step[operand];
}

template <BlockFormat kFormat>
struct LoadStage {
  static HWY_INLINE void change(const PassStage& s, std::byte* const* pointers, std::int64_t at,
                                Block& h) {
    h = load_block<kFormat>(address(s, pointers, at));
  }
};
template <BlockFormat kFormat, bool kStreamed>
struct StoreStage {
  static HWY_INLINE void change(const PassStage& s, std::byte* const* pointers, std::int64_t at,
                                Block& h) {
    store_block<kFormat, kStreamed>(h, address(s, pointers, at));
  }
};

// Farther than the memory's latency, and within what the nearest cache holds of all operands.
constexpr std::int64_t kAheadBytes = 2048;
template <int kOperands>
struct PrefetchStage {
  static HWY_INLINE void change(const PassStage& s, std::byte* const* pointers, std::int64_t at,
                                Block&) {
    constexpr std::int64_t kLine = 64;
    for (int o = 0; o < kOperands; ++o) {
      const std::byte* from = address(s, pointers, at, o) + kAheadBytes;
      const std::byte* end = from + kBlockLanes * s.step[o];
      do {
        hwy::Prefetch(from);
        from += kLine;
      } while (from < end);
    }
  }
};

template <class F, class Rounding, BlockFormat kFormat>
struct BinaryStage {
  static HWY_INLINE void change(const PassStage& s, std::byte* const* pointers, std::int64_t at,
                                Block& h) {
    const Block other = load_block<kFormat>(address(s, pointers, at));
    for_each_of(h, other, [](Lanes x, Lanes y) HWY_ATTR { return Rounding::of(F::of(x, y)); });
  }
};
template <class F, class Rounding = NotRounded>
struct UnaryStage {
  static HWY_INLINE void change(const PassStage&, std::byte* const*, std::int64_t, Block& h) {
    for_each_of(h, [](Lanes x) HWY_ATTR { return Rounding::of(F::of(x)); });
  }
};
struct SelectStage {
  static HWY_INLINE void change(const PassStage& s, std::byte* const* pointers, std::int64_t at,
                                Block& h) {
    const Block yes = load_block<BlockFormat::kLanes>(address(s, pointers, at, 0));
    const Block no = load_block<BlockFormat::kLanes>(address(s, pointers, at, 1));
    const auto of = [](Lanes c, Lanes y, Lanes n)
                        HWY_ATTR { return hn::IfThenElse(is_true(c), y, n); };
    h = {of(h.x0, yes.x0, no.x0), of(h.x1, yes.x1, no.x1), of(h.x2, yes.x2, no.x2),
         of(h.x3, yes.x3, no.x3), of(h.x4, yes.x4, no.x4), of(h.x5, yes.x5, no.x5),
         of(h.x6, yes.x6, no.x6), of(h.x7, yes.x7, no.x7)};
  }
};

// Far arguments are rare, and their function is called: a stage of its own, so that the common one
// saves no registers for it.
template <class Rounding>
HWY_NOINLINE void far_sine_stage(const PassStage* s, std::byte* const* pointers, std::int64_t at,
                                 Lanes x0, Lanes x1, Lanes x2, Lanes x3, Lanes x4, Lanes x5,
                                 Lanes x6, Lanes x7) {
  Block h{x0, x1, x2, x3, x4, x5, x6, x7};
  for_each_of(h, [](Lanes x) HWY_ATTR { return Rounding::of(km::sin(LaneTag(), x)); });
  ASSAY_NEXT_STAGE(s, pointers, at, h);
}
// Farther: what to do where an argument is too far for F; void: the function is called.
template <class F, class Rounding, class Farther>
void sine_stage(const PassStage* s, std::byte* const* pointers, std::int64_t at, Lanes x0, Lanes x1,
                Lanes x2, Lanes x3, Lanes x4, Lanes x5, Lanes x6, Lanes x7) {
  const Lanes far = greater_size(greater_size(greater_size(x0, x1), greater_size(x2, x3)),
                                 greater_size(greater_size(x4, x5), greater_size(x6, x7)));
  if (HWY_UNLIKELY(!F::is_near(far))) {
    if constexpr (std::is_void_v<Farther>)
      return far_sine_stage<Rounding>(s, pointers, at, x0, x1, x2, x3, x4, x5, x6, x7);
    else
      return sine_stage<Farther, Rounding, void>(s, pointers, at, x0, x1, x2, x3, x4, x5, x6, x7);
  }
  Block h{x0, x1, x2, x3, x4, x5, x6, x7};
  for_each_of(h, [](Lanes x) HWY_ATTR { return Rounding::of(F::of(x)); });
  ASSAY_NEXT_STAGE(s, pointers, at, h);
}

#undef ASSAY_NEXT_STAGE

template <class F, class Rounding>
StageFunction binary_stage(BlockFormat memory) {
  // What is rounded to one type of 16 bits has no operand of the other.
  constexpr bool kOfBFloat = !std::is_same_v<Rounding, RoundedToHalf>;
  constexpr bool kOfHalf = !std::is_same_v<Rounding, RoundedToBFloat>;
  if (memory == BlockFormat::kLanes)
    return stage_of<BinaryStage<F, Rounding, BlockFormat::kLanes>>();
  if constexpr (kOfBFloat) {
    if (memory == BlockFormat::kBFloat)
      return stage_of<BinaryStage<F, Rounding, BlockFormat::kBFloat>>();
    if (memory == BlockFormat::kBFloatPairs)
      return stage_of<BinaryStage<F, Rounding, BlockFormat::kBFloatPairs>>();
  }
  if constexpr (kOfHalf) {
    if (memory == BlockFormat::kHalf)
      return stage_of<BinaryStage<F, Rounding, BlockFormat::kHalf>>();
  }
  return nullptr;
}
template <class F>
StageFunction rounded_stage(DType dtype, BlockFormat memory) {
  if (dtype == DType::kBF16) return binary_stage<F, RoundedToBFloat>(memory);
  if (dtype == DType::kF16) return binary_stage<F, RoundedToHalf>(memory);
  return binary_stage<F, NotRounded>(memory);
}
template <class F>
StageFunction unary_stage(DType dtype) {
  if (dtype == DType::kBF16) return stage_of<UnaryStage<F, RoundedToBFloat>>();
  if (dtype == DType::kF16) return stage_of<UnaryStage<F, RoundedToHalf>>();
  return stage_of<UnaryStage<F>>();
}
template <class F, class Rounding, class Farther = void>
StageFunction sine_stage_of() {
  return reinterpret_cast<StageFunction>(&sine_stage<F, Rounding, Farther>);
}
template <class F>
StageFunction integer_stage(BlockFormat memory) {
  if (memory == BlockFormat::kBool)
    return stage_of<BinaryStage<OfIntegers<F>, NotRounded, BlockFormat::kBool>>();
  if (memory != BlockFormat::kLanes) return nullptr;
  return stage_of<BinaryStage<OfIntegers<F>, NotRounded, BlockFormat::kLanes>>();
}

StageFunction find_float_op(Op op, DType dtype, BlockFormat memory, bool turned) {
  switch (op) {
    case Op::kAdd:
      return rounded_stage<SumOf>(dtype, memory);
    case Op::kMul:
      return rounded_stage<ProductOf>(dtype, memory);
    case Op::kDiv:
      return turned ? rounded_stage<TurnedQuotientOf>(dtype, memory)
                    : rounded_stage<QuotientOf>(dtype, memory);
    case Op::kMax:
      return turned ? binary_stage<TurnedGreatestOf, NotRounded>(memory)
                    : binary_stage<GreatestOf, NotRounded>(memory);
    case Op::kLess:
      return turned ? binary_stage<IsGreater, NotRounded>(memory)
                    : binary_stage<IsLess, NotRounded>(memory);
    case Op::kExp2:
      return unary_stage<Exp2Lanes>(dtype);
    case Op::kLog2:
      return unary_stage<Log2Lanes>(dtype);
    case Op::kSin:
      if (dtype == DType::kBF16)
        return sine_stage_of<ShorterSineLanes, RoundedSine, ShortSineLanes>();
      if (dtype == DType::kF16) return sine_stage_of<SineLanes, RoundedToHalf>();
      return sine_stage_of<SineLanes, NotRounded>();
    case Op::kSqrt:
      if (dtype == DType::kBF16) return stage_of<UnaryStage<RoundedRootLanes>>();
      return unary_stage<RootLanes>(dtype);
    case Op::kRecip:
      return unary_stage<RecipLanes>(dtype);
    default:
      return nullptr;
  }
}

StageFunction find_integer_op(Op op, bool is_bool, BlockFormat memory, bool turned) {
  switch (op) {
    case Op::kAdd:  // Of bools: either.
      return is_bool ? integer_stage<IntGreatest>(memory) : integer_stage<IntSum>(memory);
    case Op::kMul:
      return integer_stage<IntProduct>(memory);
    case Op::kMax:
      return integer_stage<IntGreatest>(memory);
    case Op::kLess:
      return turned ? integer_stage<IntGreater>(memory) : integer_stage<IntLess>(memory);
    default:
      return nullptr;
  }
}

bool is_in_float_lanes(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kBF16 || dtype == DType::kF16;
}

StageFunction find_op(Op op, DType dtype, BlockFormat memory, bool turned) {
  if (op == Op::kSelect) return memory == BlockFormat::kLanes ? stage_of<SelectStage>() : nullptr;
  if (is_in_float_lanes(dtype)) return find_float_op(op, dtype, memory, turned);
  if (dtype == DType::kI32 || dtype == DType::kBool)
    return find_integer_op(op, dtype == DType::kBool, memory, turned);
  return nullptr;
}

StageFunction find_cast(DType from, DType to) {
  if (is_in_float_lanes(from)) {
    if (to == DType::kBF16) return stage_of<UnaryStage<CastToBFloat>>();
    if (to == DType::kF16) return stage_of<UnaryStage<RoundedToHalf>>();
    return to == DType::kBool ? stage_of<UnaryStage<CastToBool>>() : nullptr;
  }
  if (from == DType::kI32 && to == DType::kBool) return stage_of<UnaryStage<CastIntToBool>>();
  const bool is_exact = from == DType::kBool && is_in_float_lanes(to);
  if (is_exact || (from == DType::kI32 && to == DType::kF32))
    return stage_of<UnaryStage<CastIntToFloat>>();
  return nullptr;
}

StageFunction find_load(BlockFormat from) {
  switch (from) {
    case BlockFormat::kLanes:
      return stage_of<LoadStage<BlockFormat::kLanes>>();
    case BlockFormat::kBFloat:
      return stage_of<LoadStage<BlockFormat::kBFloat>>();
    case BlockFormat::kBFloatPairs:
      return stage_of<LoadStage<BlockFormat::kBFloatPairs>>();
    case BlockFormat::kHalf:
      return stage_of<LoadStage<BlockFormat::kHalf>>();
    case BlockFormat::kBool:
      return stage_of<LoadStage<BlockFormat::kBool>>();
  }
  return nullptr;
}
template <bool kStreamed>
StageFunction store_form(BlockFormat to) {
  switch (to) {
    case BlockFormat::kLanes:
      return stage_of<StoreStage<BlockFormat::kLanes, kStreamed>>();
    case BlockFormat::kBFloat:
      return stage_of<StoreStage<BlockFormat::kBFloat, kStreamed>>();
    case BlockFormat::kBFloatPairs:
      return stage_of<StoreStage<BlockFormat::kBFloatPairs, kStreamed>>();
    case BlockFormat::kHalf:
      return stage_of<StoreStage<BlockFormat::kHalf, false>>();
    case BlockFormat::kBool:
      return stage_of<StoreStage<BlockFormat::kBool, false>>();
  }
  return nullptr;
}
StageFunction find_store(BlockFormat to, bool streamed) {
  return streamed ? store_form<true>(to) : store_form<false>(to);
}

void run_stages(const PassStage* first, std::byte* const* pointers, std::int64_t blocks) {
  const auto run = reinterpret_cast<Stage>(first->run);
  const Lanes none = hn::Zero(LaneTag());
  for (std::int64_t b = 0; b < blocks; ++b)
    run(first, pointers, b * kBlockLanes, none, none, none, none, none, none, none, none);
}
void flush_streams() { hwy::FlushStream(); }

const PassStages* pass_stages_table() {
  static const PassStages kStages{
      .block = kBlockLanes,
      .has_pairs = kHasPairs,
      .load = find_load,
      .store = find_store,
      .prefetch = {stage_of<PrefetchStage<1>>(), stage_of<PrefetchStage<2>>()},
      .op = find_op,
      .cast = find_cast,
      .end = reinterpret_cast<StageFunction>(&end_stage),
      .run = run_stages,
      .flush = flush_streams};
  return &kStages;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::compiler
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::compiler {

HWY_EXPORT(pass_stages_table);
const PassStages& pass_stages() { return *HWY_DYNAMIC_DISPATCH(pass_stages_table)(); }

}  // namespace assay::compiler
#endif
