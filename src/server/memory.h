// How the engine's memory comes from the kernel: a slab's block at once, since a page fault for
// each of its pages costs more than filling it. The engine itself may call nobody, so it is handed
// this.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace xylem {

// For the engine's slabs: one call instead of a page fault for each page. If the kernel cannot, the
// faults come as usual.
inline void fault_in(void* start, std::size_t bytes) { madvise(start, bytes, MADV_POPULATE_WRITE); }

}  // namespace xylem
