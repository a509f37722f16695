// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// For tests: units that this processor does not have.
//
// An instruction that x86 does not know is a signal, SIGILL. While a TrappedUnits lives, those of
// AMX and of AVX-512 BF16 are decoded by its handler and done as the manual says (Intel's
// "Architecture Instruction Set Extensions Programming Reference"), elements and results below
// normal being 0, some thousand times slower. So the code that was compiled is what is tested,
// wherever the tests run.

#include <string>
#include <variant>

#include "kernels/bf16/pair_units.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <signal.h>
#include <sys/ucontext.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#endif

namespace assay::kernels {

#if defined(__x86_64__)
namespace trapped {

// Sums, products and elements as the units have them.
inline float flushed(float x) { return std::abs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }
inline float element(std::uint16_t bits) {
  return flushed(std::bit_cast<float>(std::uint32_t{bits} << 16));
}
inline float fused(float sum, std::uint16_t x, std::uint16_t y) {
  return flushed(std::fma(element(x), element(y), sum));
}

struct Tiles {
  std::uint8_t palette = 0;
  std::array<std::uint16_t, 8> bytes{};
  std::array<std::uint8_t, 8> rows{};
  alignas(64) std::uint8_t data[8][16][64] = {};
};
inline thread_local Tiles tiles;

// What the signal found: registers, and the instruction after its prefix.
class Machine {
 public:
  explicit Machine(void* context)
      : context_(static_cast<ucontext_t*>(context)),
        registers_(context_->uc_mcontext.gregs),
        at_(reinterpret_cast<const std::uint8_t*>(registers_[REG_RIP])) {}

  const std::uint8_t* code() const { return at_; }
  void resume_at(const std::uint8_t* next) { registers_[REG_RIP] = reinterpret_cast<greg_t>(next); }
  std::uint64_t general(unsigned number) const {
    constexpr int kOrder[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                              REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                              REG_R12, REG_R13, REG_R14, REG_R15};
    return static_cast<std::uint64_t>(registers_[kOrder[number]]);
  }

  // A vector register lies in up to three parts of the saved state.
  using Vector = std::array<std::uint32_t, 16>;
  Vector vector(unsigned number) {
    Vector value{};
    each_part(number, [&](std::size_t first, std::uint8_t* part, std::size_t bytes, unsigned bit) {
      if ((state_bits() >> bit & 1) != 0) std::memcpy(value.data() + first, part, bytes);
    });
    return value;
  }
  void set_vector(unsigned number, const Vector& value) {
    each_part(number, [&](std::size_t first, std::uint8_t* part, std::size_t bytes, unsigned bit) {
      if ((state_bits() >> bit & 1) == 0) clear_state(bit);
      std::memcpy(part, value.data() + first, bytes);
    });
  }

  struct Memory {
    std::uint64_t base = 0, index = 0;  // index: scaled
    const std::uint8_t* next = nullptr;
    std::uint8_t* data(std::uint64_t offset = 0) const {
      return reinterpret_cast<std::uint8_t*>(base + index + offset);
    }
  };
  // ModRM and what follows; x and b extend the registers' numbers, disp8 counts in units of `unit`.
  Memory memory(const std::uint8_t* modrm, unsigned x, unsigned b, std::int64_t unit) const {
    const unsigned mod = *modrm >> 6, rm = *modrm & 7;
    Memory found;
    found.next = modrm + 1;
    if (rm == 4) {
      const unsigned sib = *found.next++;
      const unsigned index = (sib >> 3 & 7) | x << 3;
      if (index != 4) found.index = general(index) << (sib >> 6);
      found.base = general((sib & 7) | b << 3);
    } else if (mod == 0 && rm == 5) {  // from the next instruction on
      found.base = reinterpret_cast<std::uint64_t>(modrm + 5) + far_offset(found.next);
      found.next += 4;
    } else {
      found.base = general(rm | b << 3);
    }
    if (mod == 1) found.base += static_cast<std::uint64_t>(unit * std::int8_t(*found.next++));
    if (mod == 2) {
      found.base += far_offset(found.next);
      found.next += 4;
    }
    return found;
  }

 private:
  static std::uint64_t far_offset(const std::uint8_t* at) {
    std::int32_t offset = 0;
    std::memcpy(&offset, at, 4);
    return static_cast<std::uint64_t>(std::int64_t{offset});
  }
  std::uint8_t* state() { return reinterpret_cast<std::uint8_t*>(context_->uc_mcontext.fpregs); }
  std::uint64_t& state_bits() { return *reinterpret_cast<std::uint64_t*>(state() + 512); }
  // Where a part of the state lies, and how long it is; asked once, since a virtual machine takes
  // its time to answer.
  struct Part {
    unsigned offset = 0, size = 0;
  };
  static Part part_of_state(unsigned bit) {
    static const std::array<Part, 8> kParts = [] {
      std::array<Part, 8> parts;
      for (unsigned i = 2; i < 8; ++i) {
        unsigned c = 0, d = 0;
        __cpuid_count(0xd, i, parts[i].size, parts[i].offset, c, d);
      }
      return parts;
    }();
    return kParts[bit];
  }
  void clear_state(unsigned bit) {
    if (bit > 1) {
      const auto [offset, size] = part_of_state(bit);
      std::memset(state() + offset, 0, size);
    }
    state_bits() |= std::uint64_t{1} << bit;
  }
  template <typename F>
  void each_part(unsigned number, const F& f) {
    if (number >= 16)
      return f(0, state() + part_of_state(7).offset + std::size_t{64} * (number - 16), 64, 7);
    f(0, state() + 160 + std::size_t{16} * number, 16, 1);
    f(4, state() + part_of_state(2).offset + std::size_t{16} * number, 16, 2);
    f(8, state() + part_of_state(6).offset + std::size_t{32} * number, 32, 6);
  }

  ucontext_t* context_;
  greg_t* registers_;
  const std::uint8_t* at_;
};

// c += a b of tile registers: even and odd terms apart, together at the end.
inline void multiply_tiles(unsigned c, unsigned a, unsigned b) {
  const auto pair = [](unsigned tile, std::size_t row, std::size_t column) {
    Bf16Pair value;
    std::memcpy(&value, tiles.data[tile][row] + 4 * column, 4);
    return value;
  };
  for (std::size_t i = 0; i < tiles.rows[c]; ++i) {
    for (std::size_t j = 0; j < std::size_t{tiles.bytes[c]} / 4; ++j) {
      float even = 0, odd = 0, sum = 0;
      for (std::size_t l = 0; l < std::size_t{tiles.bytes[a]} / 4; ++l) {
        const Bf16Pair x = pair(a, i, l), y = pair(b, l, j);
        even = fused(even, x.first, y.first);
        odd = fused(odd, x.second, y.second);
      }
      std::memcpy(&sum, tiles.data[c][i] + 4 * j, 4);
      sum = flushed(sum + flushed(even + odd));
      std::memcpy(tiles.data[c][i] + 4 * j, &sum, 4);
    }
  }
}

// VEX.128.0F38: AMX. False where it is something else.
inline bool run_amx(Machine& machine) {
  const std::uint8_t* code = machine.code();
  if (code[0] != 0xc4 || (code[1] & 0x1f) != 2) return false;
  const unsigned x = ~code[1] >> 6 & 1, b = ~code[1] >> 5 & 1;
  const unsigned prefix = code[2] & 3, third = ~code[2] >> 3 & 15;
  const unsigned reg = code[4] >> 3 & 7;
  const bool is_memory = code[4] < 0xc0;
  const std::uint8_t* next = code + 5;
  if (code[3] == 0x49 && prefix == 0 && is_memory) {  // ldtilecfg
    const auto memory = machine.memory(code + 4, x, b, 1);
    tiles.palette = memory.data()[0];
    std::memcpy(tiles.bytes.data(), memory.data(16), 16);
    std::memcpy(tiles.rows.data(), memory.data(48), 8);
    next = memory.next;
  } else if (code[3] == 0x49 && prefix == 0) {  // tilerelease
    tiles = {};
  } else if (tiles.palette != 1) {
    return false;
  } else if (code[3] == 0x49 && prefix == 3) {  // tilezero
    std::memset(tiles.data[reg], 0, sizeof(tiles.data[reg]));
  } else if (code[3] == 0x4b && is_memory) {  // tileloadd, tilestored
    const auto memory = machine.memory(code + 4, x, b, 1);
    for (std::size_t r = 0; r < tiles.rows[reg]; ++r) {
      auto* row = reinterpret_cast<std::uint8_t*>(memory.base + r * memory.index);
      if (prefix == 2)
        std::memcpy(row, tiles.data[reg][r], tiles.bytes[reg]);
      else
        std::memcpy(tiles.data[reg][r], row, tiles.bytes[reg]);
    }
    next = memory.next;
  } else if (code[3] == 0x5c && prefix == 2) {  // tdpbf16ps
    multiply_tiles(reg, code[4] & 7, third);
  } else {
    return false;
  }
  machine.resume_at(next);
  return true;
}

// EVEX.512.F3.0F38.W0 52, without a mask: vdpbf16ps.
inline bool run_dot(Machine& machine) {
  const std::uint8_t* code = machine.code();
  const bool is_dot = code[0] == 0x62 && (code[1] & 7) == 2 && (code[2] & 0x83) == 2 &&
                      (code[3] & 0x67) == 0x40 && code[4] == 0x52;
  if (!is_dot) return false;
  const unsigned r = ~code[1] >> 7 & 1, x = ~code[1] >> 6 & 1, b = ~code[1] >> 5 & 1;
  const unsigned to = (code[5] >> 3 & 7) | r << 3 | (~code[1] >> 4 & 1) << 4;
  const unsigned first = (~code[2] >> 3 & 15) | (~code[3] >> 3 & 1) << 4;
  const bool is_broadcast = (code[3] & 0x10) != 0;
  const std::uint8_t* next = code + 6;
  Machine::Vector right{};
  if (code[5] >= 0xc0) {
    right = machine.vector((code[5] & 7) | b << 3 | x << 4);
  } else {
    const auto memory = machine.memory(code + 5, x, b, is_broadcast ? 4 : 64);
    for (std::size_t i = 0; i < 16; ++i)
      std::memcpy(&right[i], memory.data(is_broadcast ? 0 : 4 * i), 4);
    next = memory.next;
  }
  const auto left = machine.vector(first);
  auto sums = machine.vector(to);
  for (std::size_t i = 0; i < 16; ++i) {
    const auto p = std::bit_cast<Bf16Pair>(left[i]), q = std::bit_cast<Bf16Pair>(right[i]);
    const float odd = fused(std::bit_cast<float>(sums[i]), p.second, q.second);
    sums[i] = std::bit_cast<std::uint32_t>(fused(odd, p.first, q.first));
  }
  machine.set_vector(to, sums);
  machine.resume_at(next);
  return true;
}

inline void on_signal(int, siginfo_t*, void* context) {
  Machine machine(context);
  if (!run_amx(machine) && !run_dot(machine)) signal(SIGILL, SIG_DFL);  // comes again, and ends it
}

}  // namespace trapped

class TrappedUnits {
 public:
  TrappedUnits() {
    struct sigaction action = {};
    action.sa_sigaction = trapped::on_signal;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGILL, &action, &before_);
  }
  ~TrappedUnits() { sigaction(SIGILL, &before_, nullptr); }
  TrappedUnits(const TrappedUnits&) = delete;
  TrappedUnits& operator=(const TrappedUnits&) = delete;

 private:
  struct sigaction before_ = {};
};

#else
using TrappedUnits = std::monostate;  // nothing to trap
#endif

// Why a unit cannot be tested while a TrappedUnits lives; empty: it can. The code for AVX-512 BF16
// has other instructions of AVX-512 in it.
inline std::string why_not_even_trapped(const PairUnit& unit) {
#if defined(__x86_64__)
  if (unit.name == "amx") return {};
  if (unit.name == "avx512-bf16" && __builtin_cpu_supports("avx512f")) return {};
#endif
  return why_not(unit);
}

}  // namespace assay::kernels
