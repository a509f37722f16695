// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/source/device_text.h"

namespace assay::compiler::cuda {

std::string_view tile_loads_text() {
  return R"cuda(
// Sixteen bytes into shared memory that come while the thread goes on; zeros where there is none.
DEVICE void copy_behind(void* to, const void* from, bool is_there) {
#ifdef ASSAY_ON_HOST
  *(quad*)to = is_there ? *(const quad*)from : quad{0, 0, 0, 0};
#else
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :: "r"((u32)__cvta_generic_to_shared(to)), "l"(from), "r"(is_there ? 16 : 0)
               : "memory");
#endif
}
// All of this thread's copies until here are a group.
DEVICE void end_copies() {
#ifndef ASSAY_ON_HOST
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Of this thread's groups all are there but the last `kLeft`.
template <int kLeft>
DEVICE void wait_for_copies() {
#ifndef ASSAY_ON_HOST
  asm volatile("cp.async.wait_group %0;" :: "n"(kLeft) : "memory");
#endif
}
// Four 8 × 8 tiles of rows in shared memory: lane 8 i + r says where row r of tile i begins, and
// lane 4 g + t gets (g, 2 t) and (g, 2 t + 1) of each; turned: (2 t, g) and (2 t + 1, g).
template <bool kIsTurned, typename T>
DEVICE void load_tiles(u32 (&to)[4], const T* row) {
#ifdef ASSAY_ON_HOST
  host_load_tiles(kIsTurned, to, row);
#else
  const u32 at = (u32)__cvta_generic_to_shared(row);
  if constexpr (kIsTurned)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
#endif
}
)cuda";
}

}  // namespace assay::compiler::cuda
