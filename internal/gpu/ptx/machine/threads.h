// What the threads of a block do together, and launches.
#pragma once
#include "atomics.h"
#include "memory.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
static inline void __asan_poison_memory_region(const volatile void*, size_t) {}
static inline void __asan_unpoison_memory_region(const volatile void*, size_t) {}
#endif

// A Meeting is what the lanes of a warp that have arrived are at.
struct Meeting {
    int line, arrived;
};
static Meeting meetings[mostBlocks][blockWarps];

// alike ends the program unless all lanes of the warp arrive at the same
// instruction: bar.sync is barrier.sync.aligned.
UNSEEN void alike(int line) {
    Meeting& m = meetings[blockNow()][threadOfBlock() / warpSize];
    if (m.arrived == 0) m.line = line;
    if (m.line != line) wrong(line, "another lane of the warp is at another bar.sync or shfl.sync");
    m.arrived = (m.arrived + 1) % warpSize;
    forget();
}

UNSEEN void bar_sync(u32 number, HERE) {
    if (number != 0) wrong(line, "only barrier 0 is translated");
    alike(line);
    atBarrier(true);
    barrier();
    atBarrier(false);
}

UNSEEN void bar_warp_sync(u32 lanes, HERE) {
    if (lanes != ~0u) wrong(line, "only whole warps are translated");
    alike(line);
    meet(warpNow().barrier, warpSize, true);
}

// source is the lane that shfl reads, by its mode: a lane, or one `by` on. The low
// bits of clamp are the last lane of a segment, and from bit 8 on what all lanes of
// a segment have in common.
enum Mode { up, down, bfly, idx };
UNSEEN u32 source(Mode mode, u32 lane, u32 by, u32 clamp, bool* inside) {
    u32 b = by & 31, segment = clamp >> 8 & 31, first = lane & segment, last = first | (clamp & 31 & ~segment);
    u32 from = mode == up ? lane - b : mode == down ? lane + b : mode == bfly ? lane ^ b : first | (b & ~segment);
    *inside = mode == up ? (int)from >= (int)last : from <= last;
    return *inside ? from : lane;
}

UNSEEN b32 shfl_sync(Mode mode, b32 x, u32 by, u32 clamp, u32 lanes, bool* inside, int line) {
    if (lanes != ~0u) wrong(line, "only whole warps are translated");
    alike(line);
    return (b32)exchange(x, (int)source(mode, (u32)laneOfWarp(), by, clamp, inside));
}

// A Kernel is an entry: what it takes of a block, and its code.
struct Kernel {
    u32 paramBytes, maxThreads;
    void (*run)(const Thread&);
};

static struct {
    const Kernel* kernel;
    alignas(256) u8 params[4096];
    u32 blocks;
    u64 filled[mostBlocks]; // shared memory has garbage for this launch and block
    u64 launches;
} launched;

// fill writes garbage into the block's shared memory, before its first thread runs,
// and tells AddressSanitizer of the gaps.
UNSEEN void fill(int block) {
    u64 now = launched.launches << 32 | (u32)block;
    if (launched.filled[blockNow()] == now) return;
    launched.filled[blockNow()] = now;
    volatile u8* shared = sharedOfBlocks[blockNow()];
    __asan_unpoison_memory_region(shared, mostShared);
    for (u64 i = 0; i < firstShared + sharedBytes; i++) shared[i] = 255;
    for (const u64* at = gaps; *at != 0; at++) __asan_poison_memory_region(shared + *at, gapBytes);
}

UNSEEN void runThread(int block) {
    Thread t = {};
    t.tid = (u32)threadOfBlock();
    t.ctaid = (u32)block;
    t.nctaid = launched.blocks;
    t.shared = sharedOfBlocks[blockNow()];
    t.local = (u8*)stacks.of[blockNow() * blockThreads + threadOfBlock()];
    t.params = launched.params;
    t.paramBytes = launched.kernel->paramBytes;
    fill(block);
    forget();
    launched.kernel->run(t);
}

// launch runs a kernel, with parameters as cuLaunchKernel reads them.
UNSEEN void launch(const Kernel& kernel, const void* params, i64 blocks) {
    if (kernel.maxThreads != 0 && blockThreads > kernel.maxThreads) {
        std::fprintf(stderr, "a block of %d threads, and .maxntid allows %u\n", (int)blockThreads, kernel.maxThreads);
        std::abort();
    }
    launched.kernel = &kernel;
    launched.blocks = (u32)blocks;
    launched.launches++;
    std::memcpy(launched.params, params, kernel.paramBytes);
    startClocks();
    runGrid((int)blocks, runThread);
    stopClocks();
}
