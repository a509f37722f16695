// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/source/device_text.h"

namespace assay::compiler::cuda {

// Where a step of f64 or of 64 bits is rounded to sixteen, f32 on the way is rounded to odd: the
// last bit says that something was left out, so that the second rounding goes where one would.
std::string_view scalar_text() {
  return R"cuda(
typedef long long i64;
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char b8;
struct bf16 { u16 bits; };
struct f16 { u16 bits; };
struct alignas(16) quad { u32 x, y, z, w; };
struct alignas(8) pair { u32 x, y; };
#define DEVICE static __device__ __forceinline__

DEVICE float f32_of(u32 bits) { return __uint_as_float(bits); }
DEVICE double f64_of(u64 bits) { return __longlong_as_double((i64)bits); }
#ifdef ASSAY_ON_HOST
DEVICE u16 bf16_bits(float x) {
  const u32 b = __float_as_uint(x);
  if (x != x) return (u16)((b >> 16) | 0x40);
  return (u16)((b + 0x7fffu + ((b >> 16) & 1)) >> 16);
}
DEVICE u16 f16_bits(float x) { return host_f16_bits(x); }
DEVICE float f16_value(u16 bits) { return host_f16_value(bits); }
#else
DEVICE u16 bf16_bits(float x) {
  u16 r;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(x));
  return r;
}
DEVICE u16 f16_bits(float x) {
  u16 r;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x));
  return r;
}
DEVICE float f16_value(u16 bits) {
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(bits));
  return r;
}
#endif
// Storage to what is computed with.
DEVICE float wide(float x) { return x; }
DEVICE double wide(double x) { return x; }
DEVICE float wide(bf16 x) { return f32_of((u32)x.bits << 16); }
DEVICE float wide(f16 x) { return f16_value(x.bits); }
DEVICE int wide(int x) { return x; }
DEVICE i64 wide(i64 x) { return x; }
DEVICE bool wide(b8 x) { return x != 0; }
// And back.
DEVICE void put(float& to, float x) { to = x; }
DEVICE void put(double& to, double x) { to = x; }
DEVICE void put(bf16& to, float x) { to.bits = bf16_bits(x); }
DEVICE void put(f16& to, float x) { to.bits = f16_bits(x); }
DEVICE void put(int& to, int x) { to = x; }
DEVICE void put(i64& to, i64 x) { to = x; }
DEVICE void put(b8& to, bool x) { to = x; }

DEVICE float f32_odd(double x) {
  const float near = (float)x;
  if ((double)near == x || x != x) return near;
  u32 bits = __float_as_uint(near);
  if ((bits & 0x7fffffffu) == 0x7f800000u || (bits & 1)) {
    // Beyond the greatest: infinity in any narrower type as well.
    return near;
  }
  const bool larger = ((double)near < 0 ? -(double)near : (double)near) < (x < 0 ? -x : x);
  if ((bits & 0x7fffffffu) == 0) return f32_of((x < 0 ? 0x80000000u : 0) | 1);
  return f32_of(larger ? bits + 1 : bits - 1);
}
DEVICE double f64_odd(i64 x) {
  const double near = (double)x;
  if (near > -9007199254740992.0 && near < 9007199254740992.0) return near;
  if (near >= 9223372036854775808.0) return f64_of(0x43dfffffffffffffull);
  const i64 back = (i64)near;
  u64 bits = (u64)__double_as_longlong(near);
  if (back == x || (bits & 1)) return near;
  return f64_of((back < x) == (x > 0) ? bits + 1 : bits - 1);
}
// Rounded to a dtype, and kept as wide.
DEVICE float to_bf16(float x) { return f32_of((u32)bf16_bits(x) << 16); }
DEVICE float to_f16(float x) { return f16_value(f16_bits(x)); }
DEVICE float to_bf16(double x) { return to_bf16(f32_odd(x)); }
DEVICE float to_f16(double x) { return to_f16(f32_odd(x)); }
DEVICE float to_bf16(int x) { return to_bf16((double)x); }
DEVICE float to_f16(int x) { return to_f16((double)x); }
DEVICE float to_bf16(i64 x) { return to_bf16(f64_odd(x)); }
DEVICE float to_f16(i64 x) { return to_f16(f64_odd(x)); }
DEVICE float to_bf16(bool x) { return x ? 1.0f : 0.0f; }
DEVICE float to_f16(bool x) { return x ? 1.0f : 0.0f; }
DEVICE i64 to_i64(double x) {
  if (x != x) return 0;
  if (x <= -9223372036854775808.0) return (i64)0x8000000000000000ull;
  if (x >= 9223372036854775808.0) return 0x7fffffffffffffffll;
  return (i64)x;
}
DEVICE int to_i32(double x) {
  if (x != x) return 0;
  if (x <= -2147483648.0) return (int)0x80000000u;
  if (x >= 2147483648.0) return 0x7fffffff;
  return (int)x;
}
DEVICE i64 add_wrapped(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
DEVICE i64 mul_wrapped(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }
DEVICE int add_wrapped(int a, int b) { return (int)((u32)a + (u32)b); }
DEVICE int mul_wrapped(int a, int b) { return (int)((u32)a * (u32)b); }
template <typename T>
DEVICE T greatest_float(T a, T b) { return a != a ? a : b != b ? b : a < b ? b : a; }
DEVICE float greatest(float a, float b) { return greatest_float(a, b); }
DEVICE double greatest(double a, double b) { return greatest_float(a, b); }
DEVICE int greatest(int a, int b) { return a < b ? b : a; }
DEVICE i64 greatest(i64 a, i64 b) { return a < b ? b : a; }
DEVICE bool greatest(bool a, bool b) { return a || b; }
DEVICE float remainder_of(float a, float b) {
  const float r = fmodf(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
DEVICE double remainder_of(double a, double b) {
  const double r = fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
DEVICE i64 remainder_of(i64 a, i64 b) {
  if (b == 0 || b == -1) return 0;
  const i64 r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
DEVICE int remainder_of(int a, int b) { return (int)remainder_of((i64)a, (i64)b); }
DEVICE bool remainder_of(bool a, bool b) { return (remainder_of((i64)a, (i64)b)) != 0; }
// Dimensions.
DEVICE i64 floor_of(i64 a, i64 b) { const i64 q = a / b; return a % b < 0 ? q - 1 : q; }
DEVICE i64 mod_of(i64 a, i64 b) { const i64 r = a % b; return r < 0 ? r + b : r; }
DEVICE i64 min_of(i64 a, i64 b) { return a < b ? a : b; }
DEVICE i64 max_of(i64 a, i64 b) { return a < b ? b : a; }
)cuda";
}

}  // namespace assay::compiler::cuda
